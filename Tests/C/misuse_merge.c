/* Several feeds as one list: what is read, and misuse of it. */
#include "misuse.h"

/* A feed with posts of these keys, whose tail goes on unless it has ended. */
static quire_feed *keyed_feed(const char *name, const int64_t *keys, size_t count, int has_ended)
{
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_post posts[4];
    char ids[4][40];
    quire_feed *keyed;
    options.order = QUIRE_ORDER_STABLE;
    EXPECT(QUIRE_OK, quire_feed_open(cache, text(name), &options, &keyed));
    EXPECT(QUIRE_OK, quire_plan(keyed, NULL, &place, &request));
    memset(posts, 0, sizeof posts);
    for (size_t i = 0; i < count; i++) {
        snprintf(ids[i], sizeof ids[i], "%s%d", name, (int)keys[i]);
        posts[i].id = text(ids[i]);
        posts[i].key = keys[i];
        posts[i].flags = QUIRE_POST_HAS_KEY;
    }
    answer.posts = posts;
    answer.count = count;
    answer.next.kind = has_ended ? QUIRE_LINK_END : QUIRE_LINK_TOKEN;
    if (!has_ended) answer.next.text = text("next");
    EXPECT(QUIRE_OK, quire_ingest(keyed, NULL, request.ticket, &answer, &outcome));
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    return keyed;
}

/* Reads a list of a: 9 7 5, the end, and b: 8 6, the tail. */
static void reads(quire_snapshot *view, quire_feed *const *feeds)
{
    quire_merge *merge;
    quire_row rows[8];
    uint32_t sources[8];
    size_t count;
    int64_t key = 7;
    char digits[QUIRE_DIGITS];

    EXPECT(QUIRE_OK, quire_merge_begin(view, feeds, 2, NULL, &merge));
    EXPECT(QUIRE_OK, quire_merge_read(merge, rows, sources, 3, &count));
    REQUIRE(count == 3 && rows[0].key == 9 && rows[1].key == 8 && rows[2].key == 7);
    REQUIRE(sources[0] == 0 && sources[1] == 1 && sources[2] == 0);
    EXPECT(QUIRE_OK, quire_merge_read(merge, rows, sources, 8, &count)); /* to the frontier */
    REQUIRE(count == 2 && rows[0].key == 6 && rows[1].kind == QUIRE_ROW_TAIL && sources[1] == 1);
    REQUIRE(rows[1].down.kind == QUIRE_LINK_TOKEN && rows[1].down.text.size == 4);
    EXPECT(QUIRE_OK, quire_merge_read(merge, rows, NULL, 8, &count)); /* below it */
    REQUIRE(count == 1 && rows[0].key == 5 && quire_row_id(rows, digits).size == 2);
    EXPECT(QUIRE_OK, quire_merge_read(merge, rows, sources, 8, &count));
    REQUIRE(count == 0);
    quire_merge_end(merge);
    EXPECT(QUIRE_BAD_HANDLE, quire_merge_read(merge, rows, sources, 8, &count));
    quire_merge_end(merge);

    EXPECT(QUIRE_OK, quire_merge_begin(view, feeds, 2, &key, &merge));
    EXPECT(QUIRE_OK, quire_merge_read(merge, rows, sources, 1, &count));
    REQUIRE(count == 1 && rows[0].key == 7 && sources[0] == 0);
    quire_merge_end(merge);
}

void misuse_merges(void)
{
    const int64_t of_a[] = {9, 7, 5}, of_b[] = {8, 6};
    quire_feed *a = keyed_feed("a", of_a, 3, 1), *b = keyed_feed("b", of_b, 2, 0);
    quire_feed *both[] = {a, b}, *twice[] = {a, a}, *keyless[] = {a, feed}, *gone[] = {a, NULL};
    quire_feed *foreign[] = {other_feed};
    quire_snapshot *view;
    quire_merge *merge;
    quire_row rows[4];
    uint32_t sources[4];
    size_t count = 7;

    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    reads(view, both);
    const struct {
        const char *what;
        quire_status status;
        quire_feed *const *feeds;
        size_t count;
    } cases[] = {
        {"no feed", QUIRE_OK, NULL, 0},
        {"2 feeds at NULL", BAD, NULL, 2},
        {"more feeds than memory", BAD, both, SIZE_MAX},
        {"a feed twice", BAD, twice, 2},
        {"a feed without keys", BAD, keyless, 2},
        {"a feed of another cache", BAD, foreign, 1},
        {"a feed that is NULL", QUIRE_BAD_HANDLE, gone, 2},
        {"feeds that are not aligned", BAD, (quire_feed *const *)(const void *)((const char *)both + 1), 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect(cases[i].status, quire_merge_begin(view, cases[i].feeds, cases[i].count, NULL, &merge),
               cases[i].what);
        if (cases[i].status == QUIRE_OK) {
            EXPECT(QUIRE_OK, quire_merge_read(merge, rows, sources, 4, &count));
            REQUIRE(count == 0);
            quire_merge_end(merge);
        } else {
            REQUIRE(merge == NULL);
        }
    }
    EXPECT(BAD, quire_merge_begin(view, both, 2, NULL, NULL));
    EXPECT(BAD, quire_merge_begin(view, both, 2, (const int64_t *)(const void *)((const char *)of_a + 1), &merge));
    EXPECT(QUIRE_BAD_HANDLE, quire_merge_begin(NULL, both, 2, NULL, &merge));
    EXPECT(QUIRE_BAD_HANDLE, quire_merge_begin(ended_snapshot, both, 2, NULL, &merge));

    EXPECT(QUIRE_OK, quire_merge_begin(view, both, 2, NULL, &merge));
    EXPECT(QUIRE_OK, quire_merge_read(merge, NULL, NULL, 0, &count));
    REQUIRE(count == 0);
    EXPECT(BAD, quire_merge_read(merge, NULL, sources, 4, &count));
    EXPECT(BAD, quire_merge_read(merge, rows, sources, SIZE_MAX, &count));
    EXPECT(BAD, quire_merge_read(merge, rows, (uint32_t *)(void *)((char *)sources + 1), 2, &count));
    EXPECT(BAD, quire_merge_read(merge, rows, sources, 4, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_merge_read((quire_merge *)view, rows, sources, 4, &count));
    EXPECT(QUIRE_OK, quire_merge_read(merge, rows, sources, 1, &count)); /* nothing was skipped */
    REQUIRE(count == 1 && rows[0].key == 9);
    quire_feed_close(a);
    quire_feed_close(b);
    quire_snapshot_end(view);
    EXPECT(QUIRE_BAD_HANDLE, quire_merge_read(merge, rows, sources, 1, &count));
    quire_merge_end(merge);
}
