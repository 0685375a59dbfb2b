/*
 * One of two processes: one changes a feed at random, the other follows it by nothing but differences.
 *
 *     follow write FILE COMMITS SEED     changes the feed "followed"
 *     follow observe FILE                applies its changes until a post "end" stands on top, then compares
 *
 * The observer notes in a feed of its own how far it is, and the writer waits where it is too far behind: the
 * log would forget what it has not seen. FollowTests.swift has the same two in Swift.
 */
#include "must.h"

#include <string.h>

enum { ROWS = 100000, NAME = 24, PAGE = 5, LEAD = 400 };

static quire_cache *cache;
static quire_feed *feed, *observer;
static uint32_t number;
static unsigned long long state;
static int top = 5;

static quire_bytes text(const char *value)
{
    quire_bytes bytes = {value, strlen(value)};
    return bytes;
}

/* ---- The writer ---- */

static int below(int limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned)limit);
}

static quire_bytes name_of(int id, char *buffer)
{
    snprintf(buffer, NAME, "%d", id);
    return text(buffer);
}

/* The server's list is top, top - 1, ..., 1. A link names the post below which it leads. Returns 0 if there
 * was nothing to ask, which is no commit. */
static int fetch(int kind)
{
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_post posts[PAGE];
    char names[PAGE][NAME], link[NAME];
    int first = top;
    place.kind = kind;
    place.gap = (uint64_t)below(200) + 1;
    must(quire_plan(feed, NULL, &place, &request));
    if (request.refusal == 0) {
        if (request.link.kind == QUIRE_LINK_TOKEN) {
            snprintf(link, sizeof link, "%.*s", (int)request.link.text.size,
                (const char *)request.link.text.data);
            first = atoi(link) - 1;
        }
        memset(posts, 0, sizeof posts);
        for (; answer.count < PAGE && first - (int)answer.count > 0; answer.count++) {
            posts[answer.count].id = name_of(first - (int)answer.count, names[answer.count]);
            posts[answer.count].body = posts[answer.count].id;
        }
        answer.posts = posts;
        answer.next.kind = QUIRE_LINK_END;
        if (first - (int)answer.count > 0) {
            answer.next.kind = QUIRE_LINK_TOKEN;
            answer.next.text = name_of(first - (int)answer.count + 1, link);
        }
        must(quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    }
    int is_asked = request.refusal == 0;
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    return is_asked;
}

/* Returns 0 if it was no commit. */
static int change(void)
{
    char buffer[NAME];
    uint64_t count;
    int32_t done;
    quire_bytes id = name_of(below(top) + 1, buffer);
    quire_ids ids = {&id, 1};
    switch (below(12)) {
    case 0: top += below(3) == 0 ? 1 + below(8) : 0; /* fall through */
    case 1: return fetch(QUIRE_PLACE_HEAD);
    case 2: case 3: return fetch(QUIRE_PLACE_TAIL);
    case 4: case 5: case 6: return fetch(QUIRE_PLACE_GAP);
    case 7: must(quire_evict(feed, NULL, ids, &count)); return count > 0;
    case 8: must(quire_delete(feed, NULL, id)); return 1;
    case 9: snprintf(buffer, sizeof buffer, "local %d", below(9));
        must(quire_insert_local(feed, NULL, text(buffer), text("body"), &done)); return done;
    case 10: snprintf(buffer, sizeof buffer, "local %d", below(9));
        must(quire_remove_local(feed, NULL, text(buffer), &done)); return done;
    default: return fetch(QUIRE_PLACE_ABOVE_GAP);
    }
}

static void wait_for_observer(uint64_t now)
{
    unsigned long long seen = 0;
    uint64_t generation = now;
    while (seen + LEAD < now) {
        quire_snapshot *snapshot;
        quire_bytes value = {NULL, 0};
        char buffer[NAME];
        must(quire_snapshot_begin(cache, &snapshot));
        if (quire_get_attribute(snapshot, observer, text("seen"), &value) == QUIRE_OK) {
            snprintf(buffer, sizeof buffer, "%.*s", (int)value.size, (const char *)value.data);
            seen = strtoull(buffer, NULL, 10);
        }
        quire_snapshot_end(snapshot);
        if (seen + LEAD >= now) break;
        /* the observer may share two cores with all other tests */
        if (quire_wait(cache, generation, 600000, &generation) == QUIRE_TIMEOUT) {
            fprintf(stderr, "the observer is gone\n");
            exit(1);
        }
    }
}

static void write_all(int commits)
{
    int32_t done;
    uint64_t now;
    for (int made = 0; made < commits;) {
        made += change();
        must(quire_generation(cache, &now));
        wait_for_observer(now);
    }
    must(quire_insert_local(feed, NULL, text("end"), text("end"), &done));
}

/* ---- The observer ---- */

static char (*rows)[NAME];
static size_t row_count;

static void name_row(char *name, int32_t kind, quire_bytes id, uint64_t gap)
{
    memset(name, 0, NAME); /* rows are compared as bytes */
    if (kind == QUIRE_ROW_GAP) snprintf(name, NAME, "~%llu", (unsigned long long)gap);
    else snprintf(name, NAME, "%.*s", (int)id.size, (const char *)id.data);
}

static size_t place_of(const char *name)
{
    size_t at = 0;
    while (at < row_count && strcmp(rows[at], name) != 0) at++;
    if (at == row_count) {
        fprintf(stderr, "no row %s\n", name);
        exit(1);
    }
    return at;
}

static void apply(const quire_change *change)
{
    char name[NAME], above[NAME];
    size_t at = 0;
    name_row(name, change->row_kind, change->id, change->gap);
    if (change->kind == QUIRE_CHANGE_REMOVED) {
        at = place_of(name);
        row_count--;
        memmove(rows[at], rows[at + 1], (row_count - at) * NAME);
    } else if (change->kind == QUIRE_CHANGE_INSERTED) {
        if (change->below_kind != 0) {
            name_row(above, change->below_kind, change->below_id, change->below_gap);
            at = place_of(above) + 1;
        }
        memmove(rows[at + 1], rows[at], (row_count - at) * NAME);
        memcpy(rows[at], name, NAME);
        row_count++;
    }
}

/* The rows as the snapshot has them. */
static size_t read_rows(quire_snapshot *snapshot, char (*names)[NAME])
{
    static quire_row page[ROWS];
    size_t count;
    must(quire_read_after(snapshot, feed, NULL, page, ROWS, &count));
    for (size_t i = 0; i < count; i++) {
        char digits[QUIRE_DIGITS];
        name_row(names[i], page[i].kind, quire_row_id(&page[i], digits), page[i].gap);
    }
    return count;
}

static int observe(void)
{
    uint64_t generation = 0, noted = 0, now;
    unsigned looks = 0, resyncs = 0, changed = 0;
    char (*truth)[NAME] = calloc(ROWS, NAME);
    rows = calloc(ROWS, NAME);
    while (row_count == 0 || strcmp(rows[0], "end") != 0) {
        const quire_change *changes;
        quire_snapshot *snapshot;
        size_t count;
        char buffer[NAME];
        must(quire_wait(cache, generation, 60000, &now));
        must(quire_snapshot_begin(cache, &snapshot));
        must(quire_snapshot_generation(snapshot, &now));
        quire_status status = quire_changes_since(snapshot, generation, &changes, &count);
        if (status == QUIRE_RESYNC) {
            row_count = read_rows(snapshot, rows);
            resyncs++;
        } else {
            must(status);
            for (size_t i = 0; i < count; i++) {
                if (changes[i].feed != number) continue;
                apply(&changes[i]);
                changed++;
            }
        }
        size_t true_count = read_rows(snapshot, truth);
        if (true_count != row_count || memcmp(rows, truth, row_count * NAME) != 0) {
            fprintf(stderr, "the rows differ at commit %llu\n", (unsigned long long)now);
            return 1;
        }
        quire_snapshot_end(snapshot);
        generation = now;
        looks++;
        if (now < noted + LEAD / 8) continue; /* a note is a commit, too */
        noted = now;
        snprintf(buffer, sizeof buffer, "%llu", (unsigned long long)now);
        quire_bytes seen = text(buffer);
        must(quire_set_attribute(observer, NULL, text("seen"), &seen));
    }
    printf("%zu rows, %u changes, %u looks, %u resyncs\n", row_count, changed, looks, resyncs);
    return resyncs == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    quire_snapshot *snapshot;
    int result = 0;
    if (argc < 3) return 2;
    options.durability = QUIRE_DURABILITY_RELAXED;
    must(quire_open(argv[2], &options, &cache));
    must(quire_feed_open(cache, text("followed"), NULL, &feed));
    must(quire_feed_open(cache, text("observer"), NULL, &observer));
    must(quire_snapshot_begin(cache, &snapshot));
    must(quire_feed_get_info(snapshot, feed, &info));
    number = info.number;
    quire_snapshot_end(snapshot);
    if (argc == 5 && strcmp(argv[1], "write") == 0) {
        state = strtoull(argv[4], NULL, 10);
        write_all(atoi(argv[3]));
    } else {
        result = observe();
    }
    quire_feed_close(observer);
    quire_feed_close(feed);
    quire_close(cache);
    return result;
}
