/* Misuse of snapshots, batches, threads and processes. */
#include "misuse.h"

/* ---- Snapshots ------------------------------------------------------------------------------------- */

static void reads(void)
{
    quire_row rows[4];
    quire_page pages[2];
    quire_position wild;
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    quire_post_info post = QUIRE_POST_INFO_INIT;
    quire_snapshot *view;
    const quire_change *changes;
    size_t count = 7;
    uint64_t first[2] = {0, 0}, second[6] = {0, UINT64_MAX, 5, INT64_MAX, (uint64_t)INT64_MIN, 1};

    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    EXPECT(BAD, quire_snapshot_begin(cache, NULL));
    const struct {
        const char *what;
        quire_status status;
        quire_row *rows;
        size_t capacity, *count;
    } cases[] = {
        {"4 rows at NULL", BAD, NULL, 4, &count},
        {"no rows at NULL", QUIRE_OK, NULL, 0, &count},
        {"more rows than memory", BAD, rows, SIZE_MAX, &count},
        {"rows whose size wraps around", BAD, rows, SIZE_MAX / 64, &count},
        {"rows that are not aligned", BAD, (quire_row *)(void *)((char *)rows + 1), 2, &count},
        {"a count at NULL", BAD, rows, 4, NULL},
        {"a count inside of the rows", QUIRE_OK, rows, 4, (size_t *)(void *)rows},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        quire_status status = quire_read_after(view, feed, NULL, cases[i].rows, cases[i].capacity, cases[i].count);
        expect(cases[i].status, status, cases[i].what);
        require(count == 0 || cases[i].count != &count, cases[i].what);
    }
    EXPECT(QUIRE_BAD_HANDLE, quire_read_after(view, (quire_feed *)view, NULL, rows, 4, &count));

    /* wrong arguments for the text of an id */
    char digits[QUIRE_DIGITS];
    memset(rows, 0, sizeof rows);
    REQUIRE(quire_row_id(NULL, digits).size == 0 && quire_row_id(rows, digits).size == 0);
    REQUIRE(quire_row_id((quire_row *)(void *)((char *)rows + 1), digits).size == 0);
    rows[0].flags = QUIRE_ROW_NUMERIC_ID;
    rows[0].id_number = UINT64_MAX;
    REQUIRE(quire_row_id(rows, NULL).size == 0 && quire_row_id(rows, NULL).data == NULL);
    REQUIRE(quire_row_id(rows, digits).size == QUIRE_DIGITS && quire_row_id(rows, digits).data == digits);

    /* positions of nowhere: a status or some rows, never a crash */
    first[1] = UINT64_MAX - 1;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 6; j++) {
            wild.opaque[0] = first[i];
            wild.opaque[1] = second[j];
            quire_read_after(view, feed, &wild, rows, 4, &count);
            quire_read_before(view, feed, &wild, rows, 4, &count);
            quire_read_gaps(view, feed, &wild, rows, 4, &count);
        }
    }
    wild.opaque[0] = UINT64_MAX;
    EXPECT(BAD, quire_read_after(view, feed, &wild, rows, 4, &count));
    EXPECT(BAD, quire_read_before(view, feed, &wild, rows, 4, &count));

    EXPECT(QUIRE_OK, quire_read_pages(view, feed, UINT64_MAX, pages, 2, &count));
    REQUIRE(count == 0);
    EXPECT(BAD, quire_read_pages(view, feed, 0, NULL, 2, &count));
    EXPECT(QUIRE_OK, quire_read_page(view, feed, UINT64_MAX, 0, rows, 4, &count));
    EXPECT(QUIRE_OK, quire_read_page(view, feed, 0, 0, rows, 4, &count));
    REQUIRE(count == 0);
    EXPECT(QUIRE_OK, quire_read_page(view, feed, 1, SIZE_MAX, rows, 4, &count));
    REQUIRE(count == 0);
    EXPECT(QUIRE_NOT_FOUND, quire_find(view, feed, text("absent"), rows));
    EXPECT(BAD, quire_find(view, feed, text(""), rows));
    EXPECT(BAD, quire_find(view, feed, text("x"), NULL));
    expect_row(
        QUIRE_NOT_FOUND, "collection \"other\"", quire_post_get_info(view, text("other"), text("x"), &post),
        "a post of no collection");
    EXPECT(BAD, quire_post_get_info(view, text("\xff"), text("x"), &post));
    EXPECT(QUIRE_NOT_FOUND, quire_post_get_info(view, sized(NULL, 0), text("absent"), &post));
    post.struct_size = 1;
    EXPECT(BAD, quire_post_get_info(view, sized(NULL, 0), text("absent"), &post));
    info.struct_size = 0;
    EXPECT(BAD, quire_feed_get_info(view, feed, &info));
    uint64_t now;
    EXPECT(QUIRE_OK, quire_snapshot_generation(view, &now));
    expect_row(
        QUIRE_RESYNC, "is not in the cache", quire_changes_since(view, now + 1, &changes, &count),
        "changes since the next commit");
    EXPECT(QUIRE_RESYNC, quire_changes_since(view, UINT64_MAX, &changes, &count));
    EXPECT(QUIRE_OK, quire_changes_since(view, now, &changes, &count));
    REQUIRE(count == 0 && changes == NULL);
    EXPECT(QUIRE_OK, quire_changes_since(view, 0, &changes, &count));
    REQUIRE(count > 0 && changes != NULL);
    /* asked again, it is the same array: a loop takes no memory */
    const quire_change *first_changes = changes;
    size_t first_count = count;
    EXPECT(QUIRE_OK, quire_changes_since(view, 1, &changes, &count));
    REQUIRE(changes != first_changes);
    EXPECT(QUIRE_OK, quire_changes_since(view, 0, &changes, &count));
    REQUIRE(changes == first_changes && count == first_count);
    EXPECT(BAD, quire_changes_since(view, 0, NULL, &count));
    EXPECT(BAD, quire_changes_since(view, 0, &changes, NULL));
    quire_snapshot_end(view);
    EXPECT(QUIRE_BAD_HANDLE, quire_read_after(view, feed, NULL, rows, 4, &count));
    quire_snapshot_end(view);
}

/* ---- Limits ---------------------------------------------------------------------------------------- */

static quire_feed *limited_feed;

static void *reset_limited(void *status)
{
    *(quire_status *)status = quire_reset(limited_feed, NULL);
    return NULL;
}

static quire_status wait_for_other(void *status, quire_batch *batch)
{
    pthread_t thread;
    (void)batch;
    pthread_create(&thread, NULL, reset_limited, status);
    pthread_join(thread, NULL);
    return QUIRE_OK;
}

/* A snapshot that is too old, and a write that waits too long. */
static void limits(void)
{
    quire_cache *limited;
    quire_snapshot *view;
    quire_row row;
    quire_status status = QUIRE_OK;
    size_t count;
    int32_t done;
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    quire_statistics statistics = QUIRE_STATISTICS_INIT;
    uint64_t rank;
    options.write_timeout_ms = 10;
    options.maximum_snapshot_age = 1;
    EXPECT(QUIRE_OK, quire_open(path("limited.quire"), &options, &limited));
    EXPECT(QUIRE_OK, quire_feed_open(limited, text("f"), NULL, &limited_feed));
    EXPECT(QUIRE_OK, quire_insert_local(limited_feed, NULL, text("a"), text("body"), &done));
    EXPECT(QUIRE_OK, quire_snapshot_begin(limited, &view));
    EXPECT(QUIRE_OK, quire_read_after(view, limited_feed, NULL, &row, 1, &count));
    EXPECT(QUIRE_OK, quire_remove_local(limited_feed, NULL, text("a"), &done));
    EXPECT(QUIRE_OK, quire_find(view, limited_feed, text("a"), &row));
    EXPECT(QUIRE_OK, quire_insert_local(limited_feed, NULL, text("b"), text("others"), &done));
    quire_row late;
    EXPECT(QUIRE_SNAPSHOT_EXPIRED, quire_find(view, limited_feed, text("a"), &late));
    EXPECT(QUIRE_SNAPSHOT_EXPIRED, quire_read_after(view, limited_feed, NULL, &late, 1, &count));
    EXPECT(QUIRE_SNAPSHOT_EXPIRED, quire_read_from_rank(view, limited_feed, 0, &late, 1, &count));
    EXPECT(QUIRE_SNAPSHOT_EXPIRED, quire_rank_of_row(view, limited_feed, &row.position, &rank));
    REQUIRE(row.body.size == 4 && memcmp(row.body.data, "body", 4) == 0);
    EXPECT(QUIRE_OK, quire_stats(limited, &statistics));
    REQUIRE(statistics.snapshots == 2 && statistics.oldest_snapshot_age == 2);
    REQUIRE(statistics.oldest_snapshot_process == getpid() && statistics.pinned_bytes > 0);
    quire_snapshot_end(view);
    EXPECT(QUIRE_OK, quire_batch_run(limited, wait_for_other, &status));
    REQUIRE(status == QUIRE_BUSY);
    EXPECT(QUIRE_OK, quire_reset(limited_feed, NULL));
    quire_feed_close(limited_feed);
    quire_close(limited);
}

void misuse_reads(void)
{
    reads();
    limits();
}

/* ---- Batches --------------------------------------------------------------------------------------- */

static quire_batch *kept_batch;
static quire_status inner, through_thread;

static quire_status keep(void *context, quire_batch *batch)
{
    (void)context;
    kept_batch = batch;
    return QUIRE_OK;
}

static quire_status nest(void *context, quire_batch *batch)
{
    (void)context;
    inner = quire_batch_run(cache, keep, NULL);
    if (inner == QUIRE_WOULD_DEADLOCK) inner = quire_reset(feed, NULL);
    (void)batch;
    return 42;
}

static void *reset_in_thread(void *batch)
{
    through_thread = quire_reset(feed, batch);
    return NULL;
}

static quire_status share(void *context, quire_batch *batch)
{
    pthread_t thread;
    (void)context;
    pthread_create(&thread, NULL, reset_in_thread, batch);
    pthread_join(thread, NULL);
    inner = quire_reset(other_feed, batch);
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;
    policy.flags = QUIRE_PRUNE_DRY_RUN;
    if (quire_prune(feed, batch, &policy, &result) != QUIRE_BAD_ARGUMENT) return -100;
    return QUIRE_OK; /* wrong arguments doom nothing */
}

static quire_status close_inside(void *context, quire_batch *batch)
{
    quire_cache *mine = context;
    quire_close(mine);
    quire_close(mine);
    return quire_delete(other_feed, batch, text("absent"));
}

static int runs;

/* Writes, and gives up with a number of its own. */
static quire_status give_up(void *number, quire_batch *batch)
{
    int32_t done = 0;
    runs++;
    EXPECT(QUIRE_OK, quire_insert_local(feed, batch, text("given up"), text("x"), &done));
    REQUIRE(done == 1);
    return *(const quire_status *)number;
}

/* A callback may return any number: it comes back as it is, and is no failure of the library. */
static void statuses(void)
{
    const quire_status numbers[] = {1, 12345, INT32_MAX, -12345, INT32_MIN, QUIRE_AGAIN, QUIRE_FORKED};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        quire_status number = numbers[i];
        quire_error error = QUIRE_ERROR_INIT;
        uint8_t is_there = 7;
        quire_bytes id = text("given up");
        const quire_ids ids = {&id, 1};
        EXPECT(BAD, quire_batch_run(cache, NULL, NULL)); /* the last error is this one */
        runs = 0;
        REQUIRE(quire_batch_run(cache, give_up, &number) == number && runs == 1);
        REQUIRE(quire_last_error(&error) == QUIRE_OK && error.status == BAD);
        EXPECT(QUIRE_OK, quire_contains(feed, ids, &is_there));
        REQUIRE(is_there == 0);
    }
}

void misuse_batches(void)
{
    statuses();
    quire_cache *again;
    EXPECT(BAD, quire_batch_run(cache, NULL, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_batch_run(NULL, keep, NULL));
    EXPECT(QUIRE_OK, quire_batch_run(cache, keep, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_reset(feed, kept_batch));
    REQUIRE(quire_batch_run(cache, nest, NULL) == 42);
    REQUIRE(inner == QUIRE_WOULD_DEADLOCK);
    EXPECT(QUIRE_OK, quire_batch_run(cache, share, NULL));
    REQUIRE(through_thread == QUIRE_WRONG_THREAD);
    REQUIRE(inner == QUIRE_BAD_ARGUMENT);
    EXPECT(QUIRE_OK, quire_open(path("other.quire"), NULL, &again));
    EXPECT(QUIRE_OK, quire_batch_run(again, close_inside, again));
}

/* ---- Threads and processes ------------------------------------------------------------------------- */

static void *last_error_of_fresh_thread(void *out)
{
    quire_last_error(out);
    return NULL;
}

static void *wait_for_close(void *waiting)
{
    uint64_t now;
    return (void *)(intptr_t)quire_wait(waiting, UINT64_MAX, 60000, &now);
}

static void *end_snapshot(void *view)
{
    quire_snapshot_end(view);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    quire_error error = QUIRE_ERROR_INIT;
    quire_cache *waiting;
    quire_snapshot *view;
    void *result;

    quire_reset(NULL, NULL);
    error.status = 77;
    pthread_create(&thread, NULL, last_error_of_fresh_thread, &error);
    pthread_join(thread, NULL);
    REQUIRE(error.status == QUIRE_OK && error.message == NULL);

    EXPECT(QUIRE_OK, quire_open(path("main.quire"), NULL, &waiting));
    pthread_create(&thread, NULL, wait_for_close, waiting);
    usleep(30000);
    quire_close(waiting);
    pthread_join(thread, &result);
    REQUIRE((quire_status)(intptr_t)result == QUIRE_BAD_HANDLE);

    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view)); /* begun here, ended there */
    pthread_create(&thread, NULL, end_snapshot, view);
    pthread_join(thread, NULL);
    EXPECT(QUIRE_OK, quire_reset(other_feed, NULL));
}

static void *hammer(void *view)
{
    quire_row rows[8];
    size_t count;
    while (quire_read_after(view, feed, NULL, rows, 8, &count) == QUIRE_OK) {}
    return NULL;
}

/* Several threads read while another ends the snapshot: forbidden, and still no crash. */
static void races(void)
{
    for (int round = 0; round < 10; round++) {
        pthread_t threads[4];
        quire_snapshot *view;
        EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, hammer, view);
        usleep(2000);
        quire_snapshot_end(view);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    }
}

static void forks(void)
{
    pid_t child = fork();
    if (child == 0) {
        quire_cache *out;
        quire_statistics statistics = QUIRE_STATISTICS_INIT;
        uint64_t number = 5;
        int ok = quire_stats(cache, &statistics) == QUIRE_FORKED;
        ok &= quire_reset(feed, NULL) == QUIRE_FORKED;
        ok &= quire_snapshot_generation(snapshot, &number) == QUIRE_FORKED && number == 0;
        ok &= quire_batch_run(cache, keep, NULL) == QUIRE_FORKED;
        ok &= quire_open(path("main.quire"), NULL, &out) == QUIRE_FORKED && out == NULL;
        quire_error error = QUIRE_ERROR_INIT;
        ok &= quire_last_error(&error) == QUIRE_OK && error.status == QUIRE_FORKED;
        quire_snapshot_end(snapshot);
        quire_feed_close(feed);
        quire_close(cache);
        _exit(ok ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    REQUIRE(status == 0);
    quire_statistics statistics = QUIRE_STATISTICS_INIT;
    EXPECT(QUIRE_OK, quire_stats(cache, &statistics));
    uint64_t number;
    EXPECT(QUIRE_OK, quire_snapshot_generation(snapshot, &number));
}

void misuse_threads(void)
{
    threads();
    races();
    forks();
}
