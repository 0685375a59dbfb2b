/*
 * Misuse of the C API: each case must return the documented status, and nothing may crash, leak, read or
 * write where it must not. Run plainly, under valgrind, and with AddressSanitizer.
 *
 *     misuse FOLDER        (an empty folder that it may fill)
 */
#include "misuse.h"

static int cases, failures;
char folder[200];

/* What most cases work on. */
quire_cache *cache, *closed_cache, *other_cache;
quire_feed *feed, *closed_feed, *other_feed;
quire_snapshot *snapshot, *ended_snapshot;
quire_crawl *run;

void expect(quire_status expected, quire_status status, const char *name)
{
    quire_error error = QUIRE_ERROR_INIT;
    cases++;
    quire_last_error(&error);
    if (status == expected &&
        (status == QUIRE_OK || (error.status == status && error.message && error.message[0]))) {
        return;
    }
    failures++;
    printf("FAILED %s: %s instead of %s (%s)\n", name, quire_status_name(status),
           quire_status_name(expected), error.message ? error.message : "");
}

void expect_row(quire_status expected, const char *says, quire_status status, const char *what)
{
    quire_error error = QUIRE_ERROR_INIT;
    expect(expected, status, what);
    quire_last_error(&error);
    if (status == QUIRE_OK || status != expected || strstr(error.message, says)) return;
    failures++;
    printf("FAILED %s: it says \"%s\"\n", what, error.message);
}

void require(int holds, const char *name)
{
    cases++;
    if (!holds) {
        failures++;
        printf("FAILED %s\n", name);
    }
}

quire_bytes text(const char *string)
{
    quire_bytes bytes = {string, strlen(string)};
    return bytes;
}

const char *path(const char *name)
{
    static char full[8][300];
    static int next;
    char *buffer = full[next++ % 8];
    snprintf(buffer, 300, "%s/%s", folder, name);
    return buffer;
}

quire_bytes sized(const void *data, size_t size)
{
    quire_bytes bytes = {data, size};
    return bytes;
}

/* ---- Handles --------------------------------------------------------------------------------------- */

static void handles(void)
{
    quire_statistics statistics = QUIRE_STATISTICS_INIT;
    quire_snapshot *begun;
    quire_feed *opened;
    char stack[64] = "not a handle";

    EXPECT(QUIRE_BAD_HANDLE, quire_stats(NULL, &statistics));
    EXPECT(QUIRE_BAD_HANDLE, quire_stats(closed_cache, &statistics));
    EXPECT(QUIRE_BAD_HANDLE, quire_stats((quire_cache *)stack, &statistics));
    EXPECT(QUIRE_BAD_HANDLE, quire_stats((quire_cache *)(uintptr_t)1, &statistics));
    EXPECT(QUIRE_BAD_HANDLE, quire_stats((quire_cache *)UINTPTR_MAX, &statistics));
    EXPECT(QUIRE_BAD_HANDLE, quire_stats((quire_cache *)feed, &statistics));
    EXPECT(QUIRE_BAD_HANDLE, quire_snapshot_begin((quire_cache *)snapshot, &begun));
    REQUIRE(begun == NULL);
    EXPECT(QUIRE_BAD_HANDLE, quire_feed_open((quire_cache *)run, text("x"), NULL, &opened));
    EXPECT(QUIRE_BAD_HANDLE, quire_reset(closed_feed, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_reset((quire_feed *)cache, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_reset(feed, (quire_batch *)snapshot));
    EXPECT(QUIRE_BAD_HANDLE, quire_reset(feed, (quire_batch *)stack));
    uint64_t number;
    EXPECT(QUIRE_BAD_HANDLE, quire_snapshot_generation(ended_snapshot, &number));
    EXPECT(QUIRE_BAD_HANDLE, quire_snapshot_generation((quire_snapshot *)cache, &number));

    /* releasing: twice, another type, garbage, NULL */
    quire_close(closed_cache);
    quire_close(NULL);
    quire_close((quire_cache *)feed);
    quire_close((quire_cache *)stack);
    quire_feed_close(closed_feed);
    quire_feed_close((quire_feed *)snapshot);
    quire_snapshot_end(ended_snapshot);
    quire_snapshot_end(NULL);
    quire_crawl_end(NULL);
    quire_crawl_end((quire_crawl *)feed);
    EXPECT(QUIRE_OK, quire_stats(cache, &statistics));
    EXPECT(QUIRE_OK, quire_snapshot_generation(snapshot, &number));

    /* a handle keeps its cache */
    quire_cache *short_lived;
    quire_feed *survivor;
    quire_snapshot *view;
    quire_row row;
    size_t count;
    EXPECT(QUIRE_OK, quire_open(path("short.quire"), NULL, &short_lived));
    EXPECT(QUIRE_OK, quire_feed_open(short_lived, text("f"), NULL, &survivor));
    EXPECT(QUIRE_OK, quire_snapshot_begin(short_lived, &view));
    quire_close(short_lived);
    EXPECT(QUIRE_OK, quire_read_after(view, survivor, NULL, &row, 1, &count));
    EXPECT(QUIRE_OK, quire_reset(survivor, NULL));
    quire_feed_close(survivor);
    EXPECT(QUIRE_BAD_HANDLE, quire_read_after(view, survivor, NULL, &row, 1, &count));
    quire_snapshot_end(view);

    /* of two caches */
    EXPECT(BAD, quire_read_after(snapshot, other_feed, NULL, &row, 1, &count));
}

/* ---- Paths ----------------------------------------------------------------------------------------- */

static void paths(void)
{
    char *long_path = malloc(70000);
    memset(long_path, 'a', 69999);
    long_path[0] = '/';
    long_path[69999] = 0;
    mkfifo(path("fifo"), 0600);
    REQUIRE(symlink("nowhere", path("dangling")) == 0);
    FILE *file = fopen(path("text"), "w");
    fputs("This is not a cache, but it is longer than nothing at all, as one can see.", file);
    fclose(file);
    fclose(fopen(path("empty"), "w"));
    const struct { const char *what; quire_status status; const char *says, *path; } rows[] = {
        {"a path at NULL", BAD, "path", NULL},
        {"an empty path", BAD, "path", ""},
        {"a path that is not UTF-8", BAD, "UTF-8", "\xff\xfe"},
        {"a path of 70,000 bytes", QUIRE_IO, "", long_path},
        {"a folder", QUIRE_NOT_A_CACHE, folder, folder},
        {"a device", QUIRE_NOT_A_CACHE, "/dev/null", "/dev/null"},
        {"a pipe", QUIRE_NOT_A_CACHE, "fifo", path("fifo")},
        {"a link to nowhere", QUIRE_IO, "dangling", path("dangling")},
        {"a file in no folder", QUIRE_IO, "x.quire", path("no/parent/x.quire")},
        {"a text", QUIRE_NOT_A_CACHE, "text", path("text")},
        {"an empty file", QUIRE_NOT_A_CACHE, "empty", path("empty")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        quire_cache *out = (quire_cache *)folder;
        expect_row(rows[i].status, rows[i].says, quire_open(rows[i].path, NULL, &out), rows[i].what);
        require(out == NULL, rows[i].what);
    }
    EXPECT(BAD, quire_open(path("x.quire"), NULL, NULL));
    EXPECT(BAD, quire_copy(cache, NULL));
    EXPECT(BAD, quire_copy(cache, path("text")));
    free(long_path);
}

#define OPTIONS(...) {.struct_size = sizeof(quire_cache_options), __VA_ARGS__}

static void cache_options(void)
{
    static const struct {
        const char *what;
        quire_status status;
        const char *says;
        quire_cache_options options;
    } rows[] = {
        {"a structure of no bytes", BAD, "struct_size is 0", {.struct_size = 0}},
        {"a structure of 4 GB", BAD, "struct_size is 4294967295", {.struct_size = UINT32_MAX}},
        {"an unknown durability", BAD, "durability 7", OPTIONS(.durability = 7)},
        {"a map larger than the address space", BAD, "map_size", OPTIONS(.map_size = UINT64_MAX)},
        {"an unknown flag", BAD, "flags", OPTIONS(.flags = 4)},
        {"read-only while no file exists", QUIRE_IO, "no such file", OPTIONS(.flags = QUIRE_READ_ONLY)},
        {"verified while no file exists", QUIRE_OK, "", OPTIONS(.flags = QUIRE_VERIFY_ON_OPEN)},
    };
    quire_cache *out;
    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_row(rows[i].status, rows[i].says, quire_open(path("x.quire"), &rows[i].options, &out),
                   rows[i].what);
        quire_close(out);
    }

    /* a newer program: more than we know is fine as long as it is zero */
    struct { quire_cache_options known; uint64_t more; } newer;
    memset(&newer, 0, sizeof newer);
    newer.known.struct_size = sizeof newer;
    EXPECT(QUIRE_OK, quire_open(path("newer.quire"), &newer.known, &out));
    quire_close(out);
    newer.more = 1;
    EXPECT(BAD, quire_open(path("newer.quire"), &newer.known, &out));
}

/* ---- Feeds ----------------------------------------------------------------------------------------- */

static void feed_names(void)
{
    static char big[QUIRE_NAME_LIMIT + 1];
    memset(big, 'n', sizeof big);
    const struct { const char *what; quire_status status; const char *says; quire_bytes name; } rows[] = {
        {"no name", BAD, "name of a feed", {NULL, 0}},
        {"a name of 5 bytes at NULL", BAD, "name of a feed", {NULL, 5}},
        {"a name that is too long", BAD, "256 bytes", {big, sizeof big}},
        {"a name as long as memory", BAD, "too many", {big, SIZE_MAX}},
        {"a name that is not UTF-8", BAD, "UTF-8", BYTES("\xc3\x28")},
        {"a name of the most bytes", QUIRE_OK, "", {big, sizeof big - 1}},
        {"a name with a NUL", QUIRE_OK, "", BYTES("a\0b")},
        {"a name like a path and an escape", QUIRE_OK, "", BYTES("../\x1b[31m\n")},
    };
    quire_feed *out;
    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_row(rows[i].status, rows[i].says, quire_feed_open(cache, rows[i].name, NULL, &out),
                   rows[i].what);
        quire_feed_close(out);
    }
    EXPECT(BAD, quire_feed_open(cache, text("f"), NULL, NULL));
    EXPECT(QUIRE_NOT_FOUND, quire_feed_find(cache, text("absent"), &out));
    EXPECT(QUIRE_NOT_FOUND, quire_feed_find(cache, text("\x1b[31m absent\n"), &out));
    quire_error error = QUIRE_ERROR_INIT;
    quire_last_error(&error);
    REQUIRE(strchr(error.message, '\x1b') == NULL && strchr(error.message, '\n') == NULL);
}

#define FEED(...)                                                                                       \
    {.struct_size = sizeof(quire_feed_options), .order = QUIRE_ORDER_STABLE, .paging = QUIRE_PAGING_PAGE, \
     .page_size = 20, .minimum_run = 2, .first_page = 1, __VA_ARGS__}

static void feed_options(void)
{
    static const quire_bytes nothing[] = {{"s", 0}}, sticky[] = {{"s", 1}};
    static const struct {
        const char *what;
        quire_status status;
        const char *says;
        quire_feed_options options;
    } rows[] = {
        {"no order", BAD, "order 0", FEED(.order = 0)},
        {"an unknown paging", BAD, "paging -1", FEED(.paging = -1)},
        {"an unknown flag", BAD, "flags", FEED(.flags = 128)},
        {"pages of no posts", BAD, "page_size", FEED(.page_size = 0)},
        {"pages of 4 billion posts", BAD, "page_size is 4294967295", FEED(.page_size = UINT32_MAX)},
        {"a run of no neighbours", BAD, "minimum_run is 0", FEED(.minimum_run = 0)},
        {"a first page of 4 billion", BAD, "first_page is 4294967295", FEED(.first_page = UINT32_MAX)},
        {"a sticky post at NULL", BAD, "sticky", FEED(.sticky = {NULL, 1})},
        {"more sticky posts than memory", BAD, "sticky", FEED(.sticky = {sticky, SIZE_MAX / 8})},
        {"a sticky post without an id", BAD, "id", FEED(.sticky = {nothing, 1})},
        {"unknown sizes", BAD, "sizes 3", FEED(.sizes = 3)},
        {"a fixed size of no rows", BAD, "0 rows_per_page", FEED(.sizes = QUIRE_SIZES_FIXED)},
        {"a fixed size of too many rows", BAD, "rows_per_page",
         FEED(.sizes = QUIRE_SIZES_FIXED, .rows_per_page = QUIRE_COUNT_LIMIT + 1)},
        {"a free size of one row", BAD, "1 rows_per_page", FEED(.sizes = QUIRE_SIZES_FREE, .rows_per_page = 1)},
        {"all is right", QUIRE_OK, "", FEED(.sticky = {sticky, 1}, .rows_per_page = 1, .sizes = QUIRE_SIZES_FIXED)},
        {"another page size than before", QUIRE_OPTIONS_DIFFER, "",
         FEED(.sticky = {sticky, 1}, .rows_per_page = 1, .sizes = QUIRE_SIZES_FIXED, .page_size = 21)},
        {"other rows than before", QUIRE_OPTIONS_DIFFER, "",
         FEED(.sticky = {sticky, 1}, .rows_per_page = 2, .sizes = QUIRE_SIZES_FIXED)},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        quire_feed *out;
        quire_status status = quire_feed_open(cache, text("g"), &rows[i].options, &out);
        expect_row(rows[i].status, rows[i].says, status, rows[i].what);
        require((out == NULL) == (status != QUIRE_OK), rows[i].what);
        quire_feed_close(out);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    snprintf(folder, sizeof folder, "%s", argv[1]);
    EXPECT(QUIRE_OK, quire_open(path("main.quire"), NULL, &cache));
    EXPECT(QUIRE_OK, quire_open(path("main.quire"), NULL, &closed_cache));
    EXPECT(QUIRE_OK, quire_open(path("other.quire"), NULL, &other_cache));
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("feed"), NULL, &feed));
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("feed"), NULL, &closed_feed));
    EXPECT(QUIRE_OK, quire_feed_open(other_cache, text("feed"), NULL, &other_feed));
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &snapshot));
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &ended_snapshot));
    EXPECT(QUIRE_OK, quire_crawl_begin(other_feed, QUIRE_CRAWL_HEAD, 1, &run));
    quire_close(closed_cache);
    quire_feed_close(closed_feed);
    quire_snapshot_end(ended_snapshot);

    handles();
    paths();
    cache_options();
    feed_names();
    feed_options();
    misuse_writes();
    misuse_numbers();
    misuse_reads();
    misuse_ranks();
    misuse_merges();
    misuse_windows();
    misuse_views();
    misuse_structs();
    misuse_upkeep();
    misuse_batches();
    misuse_threads();

    quire_crawl_end(run);
    quire_snapshot_end(snapshot);
    quire_feed_close(other_feed);
    quire_feed_close(feed);
    quire_close(other_cache);
    quire_close(cache);
    printf("%d cases, %d failed\n", cases, failures);
    return failures == 0 ? 0 : 1;
}
