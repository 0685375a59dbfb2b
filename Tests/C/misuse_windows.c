/* Misuse of windows. */
#include "misuse.h"

/* A window of a feed of its own, of rows a, b, c. */
static quire_window *window;
static quire_feed *shown;

static void openings(quire_snapshot *view)
{
    const quire_bytes ids[] = {BYTES("absent"), BYTES("b"), BYTES("")};
    const struct {
        const char *what;
        quire_status status;
        quire_window_start start;
    } cases[] = {
#define START(...) {.struct_size = sizeof(quire_window_start), __VA_ARGS__}
        {"the head", QUIRE_OK, START(.below = 1)},
        {"a rank beyond the last row", QUIRE_OK, START(.kind = QUIRE_START_RANK, .rank = UINT64_MAX)},
        {"the first post that is there", QUIRE_OK, START(.kind = QUIRE_START_NEAREST, .ids = {ids, 2})},
        {"no post at all", QUIRE_OK, START(.kind = QUIRE_START_NEAREST)},
        {"a post", QUIRE_OK, START(.kind = QUIRE_START_POST, .ids = {ids + 1, 1})},
        {"a post that is not there", QUIRE_NOT_FOUND, START(.kind = QUIRE_START_POST, .ids = {ids, 1})},
        {"two posts", BAD, START(.kind = QUIRE_START_POST, .ids = {ids, 2})},
        {"no post", BAD, START(.kind = QUIRE_START_POST)},
        {"a post at NULL", BAD, START(.kind = QUIRE_START_POST, .ids = {NULL, 1})},
        {"an empty id", BAD, START(.kind = QUIRE_START_NEAREST, .ids = {ids, 3})},
        {"more ids than memory", BAD, START(.kind = QUIRE_START_NEAREST, .ids = {ids, SIZE_MAX})},
        {"a key without an order", BAD, START(.kind = QUIRE_START_KEY, .key = INT64_MIN)},
        {"an unknown start", BAD, START(.kind = 5)},
        {"a negative start", BAD, START(.kind = -1)},
        {"the most rows", QUIRE_OK, START(.above = QUIRE_WINDOW_LIMIT, .below = QUIRE_WINDOW_LIMIT)},
        {"too many rows above", BAD, START(.above = QUIRE_WINDOW_LIMIT + 1)},
        {"too many rows below", BAD, START(.below = UINT32_MAX)},
        {"no size", BAD, {.struct_size = 0}},
#undef START
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        quire_window *opened = window;
        expect(cases[i].status, quire_window_open(view, shown, &cases[i].start, &opened), cases[i].what);
        require((opened != NULL) == (cases[i].status == QUIRE_OK), cases[i].what);
        quire_window_close(opened);
    }
    quire_window *opened = NULL;
    EXPECT(BAD, quire_window_open(view, shown, NULL, NULL));
    EXPECT(BAD, quire_window_open(view, other_feed, NULL, &opened));
    EXPECT(QUIRE_BAD_HANDLE, quire_window_open(view, closed_feed, NULL, &opened));
    EXPECT(QUIRE_BAD_HANDLE, quire_window_open(ended_snapshot, shown, NULL, &opened));
}

static void looks(quire_snapshot *view)
{
    quire_difference difference = QUIRE_DIFFERENCE_INIT;
    quire_window_info info = QUIRE_WINDOW_INFO_INIT;
    EXPECT(BAD, quire_window_look(window, 3, 1, 1));
    EXPECT(BAD, quire_window_look(window, UINT64_MAX - 1, 1, 1));
    EXPECT(BAD, quire_window_look(window, 0, UINT32_MAX, 1));
    EXPECT(QUIRE_OK, quire_window_look(window, 1, 0, 1));
    EXPECT(QUIRE_OK, quire_window_update(window, view, &difference));
    REQUIRE(difference.removed_count == 1 && difference.removed[0] == 0 && difference.inserted_count == 0);
    EXPECT(QUIRE_OK, quire_window_get_info(window, &info));
    REQUIRE(info.rank == 1 && info.count == 2 && info.row_count == 3 && info.anchor == 0);
    REQUIRE(!info.is_following_head);
    EXPECT(QUIRE_OK, quire_window_look(window, UINT64_MAX, 0, 9));
    EXPECT(QUIRE_OK, quire_window_update(window, view, &difference));
    REQUIRE(difference.inserted_count == 1 && difference.inserted[0] == 0);
    EXPECT(QUIRE_OK, quire_window_get_info(window, &info));
    REQUIRE(info.rank == 0 && info.count == 3 && info.is_following_head);
    info.struct_size = 4;
    EXPECT(BAD, quire_window_get_info(window, &info));
    EXPECT(BAD, quire_window_get_info(window, NULL));
}

static void reads(quire_snapshot *view)
{
    quire_row rows[4];
    size_t count = 7;
    EXPECT(QUIRE_OK, quire_window_read(window, view, 1, rows, 4, &count));
    REQUIRE(count == 2 && rows[0].body.size == 1 && *(const char *)rows[0].body.data == 'b');
    EXPECT(QUIRE_OK, quire_window_read(window, view, UINT64_MAX, rows, 4, &count));
    REQUIRE(count == 0);
    EXPECT(QUIRE_OK, quire_window_read(window, view, 0, NULL, 0, &count));
    EXPECT(BAD, quire_window_read(window, view, 0, NULL, 4, &count));
    EXPECT(BAD, quire_window_read(window, view, 0, rows, SIZE_MAX, &count));
    EXPECT(BAD, quire_window_read(window, view, 0, rows, 4, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_window_read(window, ended_snapshot, 0, rows, 4, &count));
    EXPECT(QUIRE_BAD_HANDLE, quire_window_read((quire_window *)(void *)view, view, 0, rows, 4, &count));
    EXPECT(QUIRE_RESYNC, quire_window_read(window, snapshot, 0, rows, 4, &count)); /* of an older commit */
    REQUIRE(count == 0);
}

/* Another cache, an older snapshot, and what is closed. */
static void strangers(quire_snapshot *view)
{
    quire_difference difference = QUIRE_DIFFERENCE_INIT;
    quire_list ids = QUIRE_LIST_INIT;
    quire_snapshot *other;
    EXPECT(QUIRE_OK, quire_snapshot_begin(other_cache, &other));
    EXPECT(BAD, quire_window_update(window, other, &difference));
    quire_snapshot_end(other);
    EXPECT(BAD, quire_window_update(window, view, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_window_update(window, ended_snapshot, &difference));
    EXPECT(QUIRE_OK, quire_window_update(window, snapshot, &difference)); /* goes back to an older commit */
    REQUIRE(difference.removed_count == 3);
    EXPECT(QUIRE_OK, quire_window_update(window, view, &difference));
    REQUIRE(difference.inserted_count == 3);
    EXPECT(QUIRE_OK, quire_window_nearest(window, &ids));
    REQUIRE(ids.count == 3 && ids.items[0].size == 1);
    quire_list_free(&ids);
    EXPECT(BAD, quire_window_nearest(window, NULL));
    quire_window_close(window);
    quire_window_close(window);
    quire_window_close(NULL);
    EXPECT(QUIRE_BAD_HANDLE, quire_window_nearest(window, &ids));
    EXPECT(QUIRE_BAD_HANDLE, quire_window_update(window, view, &difference));
    EXPECT(QUIRE_BAD_HANDLE, quire_window_look(window, 0, 1, 1));
}

void misuse_windows(void)
{
    quire_snapshot *view;
    quire_window_start start = QUIRE_WINDOW_START_INIT;
    int32_t done;
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("shown"), NULL, &shown));
    EXPECT(QUIRE_OK, quire_insert_local(shown, NULL, text("c"), text("c"), &done));
    EXPECT(QUIRE_OK, quire_insert_local(shown, NULL, text("b"), text("b"), &done));
    EXPECT(QUIRE_OK, quire_insert_local(shown, NULL, text("a"), text("a"), &done));
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    EXPECT(QUIRE_OK, quire_window_open(view, shown, &start, &window));
    openings(view);
    looks(view);
    reads(view);
    strangers(view);
    quire_snapshot_end(view);
    EXPECT(QUIRE_OK, quire_feed_drop(shown, NULL));
    quire_feed_close(shown);
}
