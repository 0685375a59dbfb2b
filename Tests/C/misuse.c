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

void misuse_handles(void)
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
    EXPECT(QUIRE_BAD_ARGUMENT, quire_read_after(snapshot, other_feed, NULL, &row, 1, &count));
}

/* ---- Paths ----------------------------------------------------------------------------------------- */

void misuse_paths(void)
{
    quire_cache *out = (quire_cache *)folder;
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    char *too_long = malloc(70000);
    FILE *file;

    EXPECT(QUIRE_BAD_ARGUMENT, quire_open(NULL, NULL, &out));
    REQUIRE(out == NULL);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_open(path("x.quire"), NULL, NULL));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_open("", NULL, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_open("\xff\xfe", NULL, &out));
    memset(too_long, 'a', 69999);
    too_long[69999] = 0;
    too_long[0] = '/';
    EXPECT(QUIRE_IO, quire_open(too_long, NULL, &out));
    EXPECT(QUIRE_NOT_A_CACHE, quire_open(folder, NULL, &out));
    EXPECT(QUIRE_NOT_A_CACHE, quire_open("/dev/null", NULL, &out));
    mkfifo(path("fifo"), 0600);
    EXPECT(QUIRE_NOT_A_CACHE, quire_open(path("fifo"), NULL, &out));
    if (symlink("nowhere", path("dangling")) == 0) {
        EXPECT(QUIRE_IO, quire_open(path("dangling"), NULL, &out));
    }
    EXPECT(QUIRE_IO, quire_open(path("no/parent/x.quire"), NULL, &out));
    file = fopen(path("text"), "w");
    fputs("This is not a cache, but it is longer than nothing at all, as one can see.", file);
    fclose(file);
    EXPECT(QUIRE_NOT_A_CACHE, quire_open(path("text"), NULL, &out));
    file = fopen(path("empty"), "w");
    fclose(file);
    EXPECT(QUIRE_NOT_A_CACHE, quire_open(path("empty"), NULL, &out));
    REQUIRE(out == NULL);

    options.struct_size = 0;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_open(path("x.quire"), &options, &out));
    options.struct_size = UINT32_MAX;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_open(path("x.quire"), &options, &out));
    options.struct_size = sizeof options;
    options.durability = 7;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_open(path("x.quire"), &options, &out));
    options.durability = QUIRE_DURABILITY_RELAXED;
    options.map_size = UINT64_MAX;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_open(path("x.quire"), &options, &out));

    options.map_size = 0;
    options.flags = 2;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_open(path("x.quire"), &options, &out));
    options.flags = QUIRE_VERIFY_ON_OPEN;
    EXPECT(QUIRE_OK, quire_open(path("fresh.quire"), &options, &out)); /* nothing is there to be tested */
    quire_close(out);

    /* a newer program: more than we know is fine as long as it is zero */
    struct { quire_cache_options known; uint64_t more; } newer;
    memset(&newer, 0, sizeof newer);
    newer.known.struct_size = sizeof newer;
    EXPECT(QUIRE_OK, quire_open(path("newer.quire"), &newer.known, &out));
    quire_close(out);
    newer.more = 1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_open(path("newer.quire"), &newer.known, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_copy(cache, NULL));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_copy(cache, path("text")));
    free(too_long);
}

/* ---- Feeds ----------------------------------------------------------------------------------------- */

void misuse_feeds(void)
{
    quire_feed *out;
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    char name[256];
    quire_bytes sticky[1];

    memset(name, 'n', sizeof name);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("f"), NULL, NULL));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, sized(NULL, 0), NULL, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, sized(NULL, 5), NULL, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, sized(name, 256), NULL, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, sized(name, SIZE_MAX), NULL, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("\xc3\x28"), NULL, &out));
    EXPECT(QUIRE_OK, quire_feed_open(cache, sized(name, 255), NULL, &out));
    quire_feed_close(out);
    EXPECT(QUIRE_OK, quire_feed_open(cache, sized("a\0b", 3), NULL, &out));
    quire_feed_close(out);
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("../\x1b[31m\n"), NULL, &out));
    quire_feed_close(out);
    EXPECT(QUIRE_NOT_FOUND, quire_feed_find(cache, text("\x1b[31m nobody\n"), &out));
    quire_error error = QUIRE_ERROR_INIT;
    quire_last_error(&error);
    REQUIRE(strchr(error.message, '\x1b') == NULL && strchr(error.message, '\n') == NULL);

    options.order = 0;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("g"), &options, &out));
    options.order = QUIRE_ORDER_STABLE;
    options.paging = -1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("g"), &options, &out));
    options.paging = QUIRE_PAGING_PAGE;
    options.flags = 128;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("g"), &options, &out));
    options.flags = 0;
    options.page_size = 0;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("g"), &options, &out));
    options.page_size = UINT32_MAX;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("g"), &options, &out));
    options.page_size = 20;
    options.sticky.count = 1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("g"), &options, &out));
    options.sticky.count = SIZE_MAX / 8;
    options.sticky.items = sticky;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("g"), &options, &out));
    sticky[0] = sized("s", 0);
    options.sticky.count = 1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("g"), &options, &out));
    sticky[0] = text("s");
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("g"), &options, &out));
    quire_feed_close(out);
    options.page_size = 21;
    EXPECT(QUIRE_OPTIONS_DIFFER, quire_feed_open(cache, text("g"), &options, &out));
    REQUIRE(out == NULL);
    EXPECT(QUIRE_NOT_FOUND, quire_feed_find(cache, text("nobody"), &out));
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

    misuse_handles();
    misuse_paths();
    misuse_feeds();
    misuse_writes();
    misuse_numbers();
    misuse_reads();
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
