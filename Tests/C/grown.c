/*
 * A file that another process made larger than this process has mapped it. It is mapped anew while no snapshot is open
 * here: a new one waits for that, and fails with QUIRE_SNAPSHOTS_OPEN if another one stays open.
 *
 *     grown FOLDER
 */
#include "must.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char path[300];
static quire_cache *cache;
static quire_feed *feed;

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void open_cache(void)
{
    const quire_bytes name = QUIRE_LITERAL("feed");
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    options.map_size = 1 << 20;
    must(quire_open(path, &options, &cache));
    must(quire_feed_open(cache, name, NULL, &feed));
}

/* A post of half of the first map. */
static quire_status post(char letter)
{
    static char body[1 << 19];
    int32_t done;
    const quire_bytes id = {&letter, 1}, bytes = {body, sizeof body};
    return quire_insert_local(feed, NULL, id, bytes, &done);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The call must have waited, and say what to do. */
static void expect_refusal(quire_status status, double begun, const char *what)
{
    quire_error error = QUIRE_ERROR_INIT;
    double waited = now() - begun;
    must(quire_last_error(&error));
    if (status != QUIRE_SNAPSHOTS_OPEN || error.status != QUIRE_SNAPSHOTS_OPEN) fail(what);
    if (strcmp(quire_status_name(status), "snapshots-open") != 0) fail("its name");
    if (!strstr(error.message, "close them") || !strstr(error.message, path)) fail(error.message);
    if (waited < 4 || waited > 60) fail("it did not wait 5 seconds");
}

int main(int argc, char **argv)
{
    int orders[2], status;
    char order = 'x';
    quire_snapshot *held, *refused = (quire_snapshot *)path;
    if (argc != 2 || pipe(orders) != 0) return 2;
    snprintf(path, sizeof path, "%s/grown.quire", argv[1]);
    pid_t other = fork(); /* before any cache is opened */
    if (other == 0) {
        close(orders[1]);
        if (read(orders[0], &order, 1) != 1) exit(2);
        open_cache();
        for (char letter = 'a'; letter < 'i'; letter++) must(post(letter));
        quire_feed_close(feed);
        quire_close(cache);
        exit(0);
    }
    open_cache();
    must(quire_snapshot_begin(cache, &held));
    if (write(orders[1], &order, 1) != 1) return 2;
    if (waitpid(other, &status, 0) != other || status != 0) fail("the other process");

    double begun = now();
    expect_refusal(quire_snapshot_begin(cache, &refused), begun, "a snapshot of a file that has outgrown the map");
    if (refused != NULL) fail("a handle in spite of the failure");
    begun = now();
    expect_refusal(post('x'), begun, "a write to such a file");

    /* what the sentence advises helps */
    size_t count = 0;
    quire_row rows[9];
    quire_snapshot_end(held);
    must(quire_snapshot_begin(cache, &held));
    must(quire_read_after(held, feed, NULL, rows, 9, &count));
    if (count != 8) fail("not the posts of the other process");
    quire_snapshot_end(held);
    must(post('x'));
    quire_feed_close(feed);
    quire_close(cache);
    printf("a snapshot and a write were refused, and succeeded when the open one had ended\n");
    return 0;
}
