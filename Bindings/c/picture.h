/*
 * The one-line picture of a feed that conformance.json compares with (Bindings/README.md):
 *
 *     [a b c] ~n2^u2~ [x y z] |T
 */
#ifndef PICTURE_H
#define PICTURE_H

#include <quire.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(quire_status status)
{
    if (status == QUIRE_OK) return;
    quire_error error = QUIRE_ERROR_INIT;
    quire_last_error(&error);
    fprintf(stderr, "%s: %s\n", quire_status_name(status), error.message);
    exit(1);
}

static quire_bytes bytes_of(const char *string)
{
    quire_bytes bytes = {string, strlen(string)};
    return bytes;
}

/* Text that grows up to a limit, which no case comes near. */
struct text {
    char bytes[4096];
    size_t size;
};

static void append(struct text *text, const void *bytes, size_t size)
{
    if (size >= sizeof text->bytes - text->size) abort();
    if (size > 0) memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
}

static void append_string(struct text *text, const char *string)
{
    append(text, string, strlen(string));
}

static void append_link(struct text *text, const quire_link *link)
{
    static const char *const words[] = {"?", "end", "confirm-end", "head", "more", "", "<", ">"};
    if (link->is_overlapping) append_string(text, "@");
    append_string(text, words[link->kind]);
    append(text, link->text.data, link->text.size);
}

static void append_id(struct text *text, const quire_row *row)
{
    char digits[QUIRE_DIGITS];
    quire_bytes id = quire_row_id(row, digits);
    append(text, id.data, id.size);
}

static void append_row(struct text *picture, const quire_row *row, int is_first)
{
    if (row->kind == QUIRE_ROW_GAP) {
        append_string(picture, "] ~");
        append_link(picture, &row->down);
        if (row->up.kind != QUIRE_LINK_UNKNOWN) {
            append_string(picture, "^");
            append_link(picture, &row->up);
        }
        append_string(picture, "~ [");
        return;
    }
    if (!is_first) append_string(picture, " ");
    if (row->flags & QUIRE_ROW_DETACHED) append_string(picture, "+");
    if (row->flags & QUIRE_ROW_PLACEHOLDER) append_string(picture, "?");
    append_id(picture, row);
}

static void draw(quire_snapshot *snapshot, quire_feed *feed, struct text *picture)
{
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    quire_row rows[3]; /* few, so that reading goes on somewhere in the middle */
    size_t count;
    int is_first = 1;

    picture->size = 0;
    must(quire_feed_get_info(snapshot, feed, &info));
    if (info.head.kind != QUIRE_LINK_END) {
        append_link(picture, &info.head);
        append_string(picture, "| ");
    }
    append_string(picture, "[");
    must(quire_read_after(snapshot, feed, NULL, rows, 3, &count));
    while (count > 0) {
        for (size_t i = 0; i < count; i++) {
            append_row(picture, &rows[i], is_first);
            is_first = rows[i].kind == QUIRE_ROW_GAP;
        }
        quire_position position = rows[count - 1].position;
        must(quire_read_after(snapshot, feed, &position, rows, 3, &count));
    }
    append_string(picture, "] |");
    append_link(picture, &info.tail);
}

#endif
