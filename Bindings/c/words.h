/* Words of conformance.json as arguments of the C API; after lines.h and picture.h. */
#ifndef WORDS_H
#define WORDS_H

static int index_of(const char *word, const char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0) return i;
    }
    malformed(word);
    return 0;
}

static quire_link link_of(const char *word)
{
    static const char *const words[] = {"?", "end", "confirm-end", "head", "more"};
    quire_link link = {QUIRE_LINK_UNKNOWN, 0, {NULL, 0}};
    if (word[0] == 0) return link;
    for (int i = 0; i < 5; i++) {
        if (strcmp(word, words[i]) == 0) {
            link.kind = i;
            return link;
        }
    }
    link.kind = QUIRE_LINK_TOKEN;
    link.text = bytes_of(word);
    return link;
}

static quire_ids ids_of(const struct line *line, const char *name, quire_bytes *room)
{
    const struct member *member = find(line, name);
    quire_ids ids = {room, member ? member->count : 0};
    for (size_t i = 0; i < ids.count; i++) room[i] = bytes_of(member->items[i]);
    return ids;
}

#endif
