/* Misuse of what finds rows by their rank. */
#include "misuse.h"

/* A feed of a, b, c, whose order has keys. */
static quire_feed *dated_feed(void)
{
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    quire_feed *dated;
    int32_t done;
    options.order = QUIRE_ORDER_STABLE;
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("dated"), &options, &dated));
    EXPECT(QUIRE_OK, quire_insert_local(dated, NULL, text("c"), text("c"), &done));
    EXPECT(QUIRE_OK, quire_insert_local(dated, NULL, text("b"), text("b"), &done));
    EXPECT(QUIRE_OK, quire_insert_local(dated, NULL, text("a"), text("a"), &done));
    return dated;
}

/* Rows from a rank: out of range is empty, buffers are checked as for other rows. */
static void rows_from_ranks(quire_snapshot *view, quire_feed *dated)
{
    quire_row rows[4];
    size_t count = 7;
    quire_row *crooked = (quire_row *)(void *)((char *)rows + 1);
    const struct {
        const char *what;
        quire_status status;
        uint64_t rank;
        quire_row *rows;
        size_t capacity, expected;
    } cases[] = {
        {"all rows", QUIRE_OK, 0, rows, 4, 3},
        {"the last row", QUIRE_OK, 2, rows, 4, 1},
        {"a rank below the last row", QUIRE_OK, 3, rows, 4, 0},
        {"a rank as large as a signed number", QUIRE_OK, INT64_MAX, rows, 4, 0},
        {"a rank of -1", QUIRE_OK, UINT64_MAX, rows, 4, 0},
        {"no rows at NULL", QUIRE_OK, 0, NULL, 0, 0},
        {"4 rows at NULL", BAD, 0, NULL, 4, 0},
        {"more rows than memory", BAD, 0, rows, SIZE_MAX, 0},
        {"rows that are not aligned", BAD, 0, crooked, 2, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        quire_status status =
            quire_read_from_rank(view, dated, cases[i].rank, cases[i].rows, cases[i].capacity, &count);
        expect(cases[i].status, status, cases[i].what);
        require(count == cases[i].expected, cases[i].what);
    }
    EXPECT(BAD, quire_read_from_rank(view, dated, 0, rows, 4, NULL));
    EXPECT(BAD, quire_read_from_rank(view, other_feed, 0, rows, 4, &count));
    EXPECT(QUIRE_BAD_HANDLE, quire_read_from_rank(view, closed_feed, 0, rows, 4, &count));
    EXPECT(QUIRE_BAD_HANDLE, quire_read_from_rank(ended_snapshot, dated, 0, rows, 4, &count));
}

/* Ranks of rows, posts and keys. */
/* The status of the callback is not that of the batch: the batch says why it ended. */
static quire_status reset_dated(void *context, quire_batch *batch)
{
    quire_reset(context, batch);
    return QUIRE_OK;
}

void misuse_ranks(void)
{
    const char *gone = "feed dated was dropped";
    quire_feed *dated = dated_feed();
    quire_snapshot *view;
    quire_row row;
    quire_position wild = {{UINT64_MAX, 0}};
    quire_position *crooked = (quire_position *)(void *)((char *)&row + 1);
    uint64_t rank = 7;

    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    rows_from_ranks(view, dated);
    EXPECT(QUIRE_OK, quire_row_count(view, dated, &rank));
    REQUIRE(rank == 3);
    EXPECT(BAD, quire_row_count(view, dated, NULL));
    EXPECT(BAD, quire_row_count(view, other_feed, &rank));
    EXPECT(QUIRE_BAD_HANDLE, quire_row_count(view, NULL, &rank));
    EXPECT(QUIRE_BAD_HANDLE, quire_row_count(ended_snapshot, dated, &rank));
    REQUIRE(rank == 0);

    EXPECT(QUIRE_OK, quire_find(view, dated, text("c"), &row));
    EXPECT(QUIRE_OK, quire_rank_of_row(view, dated, &row.position, &rank));
    REQUIRE(rank == 2);
    EXPECT(BAD, quire_rank_of_row(view, dated, &wild, &rank));
    REQUIRE(rank == 0);
    EXPECT(BAD, quire_rank_of_row(view, dated, NULL, &rank));
    EXPECT(BAD, quire_rank_of_row(view, dated, crooked, &rank));
    EXPECT(BAD, quire_rank_of_row(view, dated, &row.position, NULL));
    EXPECT(BAD, quire_rank_of_row(view, other_feed, &row.position, &rank));
    EXPECT(QUIRE_BAD_HANDLE, quire_rank_of_row(view, closed_feed, &row.position, &rank));
    EXPECT(QUIRE_BAD_HANDLE, quire_rank_of_row(ended_snapshot, dated, &row.position, &rank));
    wild.opaque[0] = UINT64_MAX - 1; /* of nowhere: some number */
    wild.opaque[1] = INT32_MAX;
    EXPECT(QUIRE_OK, quire_rank_of_row(view, dated, &wild, &rank));

    EXPECT(QUIRE_OK, quire_rank_of_post(view, dated, text("b"), &rank));
    REQUIRE(rank == 1);
    EXPECT(QUIRE_NOT_FOUND, quire_rank_of_post(view, dated, text("absent"), &rank));
    REQUIRE(rank == 0);
    EXPECT(BAD, quire_rank_of_post(view, dated, text(""), &rank));
    EXPECT(BAD, quire_rank_of_post(view, dated, sized(NULL, 1), &rank));
    EXPECT(BAD, quire_rank_of_post(view, dated, text("b"), NULL));
    EXPECT(BAD, quire_rank_of_post(view, other_feed, text("b"), &rank));
    EXPECT(QUIRE_BAD_HANDLE, quire_rank_of_post(view, closed_feed, text("b"), &rank));
    EXPECT(QUIRE_BAD_HANDLE, quire_rank_of_post(ended_snapshot, dated, text("b"), &rank));

    EXPECT(QUIRE_OK, quire_rank_of_key(view, dated, INT64_MAX, &rank)); /* local posts do not count */
    REQUIRE(rank == 3);
    EXPECT(QUIRE_OK, quire_rank_of_key(view, dated, INT64_MIN, &rank));
    EXPECT(BAD, quire_rank_of_key(view, feed, 0, &rank)); /* as quire_window_open() */
    REQUIRE(rank == 0);
    EXPECT(BAD, quire_rank_of_key(view, dated, 0, NULL));
    EXPECT(BAD, quire_rank_of_key(view, other_feed, 0, &rank));
    EXPECT(QUIRE_BAD_HANDLE, quire_rank_of_key(view, closed_feed, 0, &rank));
    EXPECT(QUIRE_BAD_HANDLE, quire_rank_of_key(ended_snapshot, dated, 0, &rank));
    quire_snapshot_end(view);

    /* a handle of a feed that is gone finds nothing */
    EXPECT(QUIRE_OK, quire_feed_drop(dated, NULL));
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    EXPECT(QUIRE_OK, quire_row_count(view, dated, &rank));
    REQUIRE(rank == 0);
    EXPECT(QUIRE_NOT_FOUND, quire_rank_of_post(view, dated, text("b"), &rank));
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    expect_row(QUIRE_NOT_FOUND, gone, quire_rank_of_key(view, dated, 0, &rank), "the rank in a dropped feed");
    expect_row(QUIRE_NOT_FOUND, gone, quire_feed_get_info(view, dated, &info), "the info of a dropped feed");
    quire_snapshot_end(view);
    expect_row(QUIRE_NOT_FOUND, gone, quire_reset(dated, NULL), "a write to a dropped feed");
    expect_row(QUIRE_NOT_FOUND, gone, quire_batch_run(cache, reset_dated, dated), "a batch with a dropped feed");
    quire_feed_close(dated);
}
