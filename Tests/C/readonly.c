/*
 * Opening for reading only, by a user who may write neither the cache nor its companions, while the owner writes. Needs
 * root, to become such a user; says "skipped" without. Its folder is its own: that of the caller may be closed to
 * others.
 */
#include <quire.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sched.h>

#define REQUIRE(what) \
    do { \
        if (!(what)) { \
            quire_error error_ = QUIRE_ERROR_INIT; \
            quire_last_error(&error_); \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, error_.message ? error_.message : ""); \
            exit(1); \
        } \
    } while (0)

enum { BODY_SIZE = 65536 }; /* so large that a commit ends while the file is copied */
static char folder[200], path[400];
static const quire_bytes feed_name = QUIRE_LITERAL("feed");

static const char *beside(const char *end)
{
    static char name[420];
    snprintf(name, sizeof name, "%s%s", path, end);
    return name;
}

static quire_status open_to_read(quire_cache **cache)
{
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    options.flags = QUIRE_READ_ONLY;
    return quire_open(path, &options, cache);
}

/* All bytes of a body are the same. */
static quire_bytes body_of(int number)
{
    static char bytes[BODY_SIZE];
    quire_bytes body = {bytes, sizeof bytes};
    memset(bytes, number, sizeof bytes);
    return body;
}

static void insert(quire_cache *cache, int number)
{
    quire_feed *feed = NULL;
    char digits[20];
    int32_t done = 0;
    quire_bytes id = {digits, (size_t)snprintf(digits, sizeof digits, "%d", number)};
    REQUIRE(quire_feed_open(cache, feed_name, NULL, &feed) == QUIRE_OK);
    REQUIRE(quire_insert_local(feed, NULL, id, body_of(number), &done) == QUIRE_OK && done == 1);
    quire_feed_close(feed);
}

static void update(quire_cache *cache, int number, int round)
{
    char digits[20];
    int32_t done = 0;
    quire_bytes id = {digits, (size_t)snprintf(digits, sizeof digits, "%d", number)}, collection = {NULL, 0};
    REQUIRE(quire_update_body(cache, NULL, collection, id, body_of(round), NULL, QUIRE_DETAIL_FULL, &done) == QUIRE_OK);
    REQUIRE(done == QUIRE_UPDATE_CHANGED || done == QUIRE_UPDATE_SAME);
}

/* The number of posts; every body must read back. */
static int posts(quire_cache *cache)
{
    quire_feed *feed = NULL;
    quire_snapshot *snapshot = NULL;
    quire_row rows[100];
    size_t count = 0;
    REQUIRE(quire_feed_find(cache, feed_name, &feed) == QUIRE_OK);
    REQUIRE(quire_snapshot_begin(cache, &snapshot) == QUIRE_OK);
    REQUIRE(quire_read_after(snapshot, feed, NULL, rows, 100, &count) == QUIRE_OK);
    for (size_t at = 0; at < count; at++) {
        const char *bytes = rows[at].body.data;
        REQUIRE(rows[at].body.size == BODY_SIZE && memcmp(bytes, bytes + 1, BODY_SIZE - 1) == 0);
    }
    quire_snapshot_end(snapshot);
    quire_feed_close(feed);
    return (int)count;
}

/* Runs a function in a process of its own, as another user or not. */
static void in_child(void (*body)(int), int argument, int is_stranger)
{
    int status = 0;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(120);
        if (is_stranger) REQUIRE(setgid(65534) == 0 && setuid(65534) == 0 && geteuid() == 65534);
        body(argument);
        exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fill(int count)
{
    quire_cache *cache = NULL;
    REQUIRE(quire_open(path, NULL, &cache) == QUIRE_OK);
    for (int number = 1; number <= count; number++) insert(cache, number);
    quire_close(cache);
    REQUIRE(chmod(path, 0644) == 0);
}

static void refuse(quire_cache *cache)
{
    quire_feed *feed = NULL;
    uint64_t now = 0, freed = 0;
    size_t findings = 1;
    quire_bytes id = QUIRE_LITERAL("1"), other = QUIRE_LITERAL("other");
    REQUIRE(quire_feed_find(cache, feed_name, &feed) == QUIRE_OK);
    REQUIRE(quire_delete(feed, NULL, id) == QUIRE_NO_PERMISSION);
    REQUIRE(quire_reclaim(cache, 0, &freed) == QUIRE_NO_PERMISSION);
    quire_error error = QUIRE_ERROR_INIT;
    quire_last_error(&error);
    REQUIRE(strstr(error.message, "is open for reading only") != NULL && strstr(error.message, path) != NULL);
    REQUIRE(quire_feed_open(cache, other, NULL, &feed) == QUIRE_NO_PERMISSION);
    REQUIRE(quire_check(cache, 0, 0, NULL, NULL, NULL, &findings) == QUIRE_OK && findings == 0);
    REQUIRE(quire_wait(cache, 1000000, 0, &now) == QUIRE_TIMEOUT && now > 0);
    quire_feed_close(feed);
}

/* A user who may read the cache and nothing else. */
static void stranger(int expected)
{
    quire_cache *cache = NULL, *again = NULL;
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    size_t findings = 1;
    REQUIRE(quire_open(path, NULL, &cache) == QUIRE_NO_PERMISSION);
    REQUIRE(quire_verify(path, 0, NULL, NULL, NULL, &findings) == QUIRE_OK && findings == 0);
    REQUIRE(open_to_read(&cache) == QUIRE_OK);
    REQUIRE(posts(cache) == expected);
    refuse(cache);
    REQUIRE(open_to_read(&again) == QUIRE_OK && posts(again) == expected);
    quire_close(again);
    REQUIRE(posts(cache) == expected);
    quire_close(cache);
    options.flags = QUIRE_READ_ONLY | QUIRE_VERIFY_ON_OPEN;
    REQUIRE(quire_open(path, &options, &cache) == QUIRE_OK && posts(cache) == expected);
    quire_close(cache);
}

/* Reads until it has seen all that the owner writes meanwhile. Each copy is one commit. */
static void follower(int last)
{
    int seen = 0, copies = 0;
    while (seen < last) {
        quire_cache *cache = NULL;
        quire_status status = open_to_read(&cache);
        if (status == QUIRE_BUSY) continue; /* commits were faster than the copy */
        REQUIRE(status == QUIRE_OK);
        int count = posts(cache);
        size_t findings = 1;
        REQUIRE(quire_check(cache, 0, 0, NULL, NULL, NULL, &findings) == QUIRE_OK && findings == 0);
        REQUIRE(count >= seen && count == posts(cache));
        seen = count;
        copies++;
        quire_close(cache);
    }
    printf("%d copies while the owner wrote\n", copies);
    fflush(stdout);
}

static void race(int last)
{
    quire_cache *cache = NULL;
    int status = 0;
    fflush(stdout);
    pid_t reader = fork();
    REQUIRE(reader >= 0);
    if (reader == 0) in_child(follower, last, 1), exit(0);
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    options.durability = QUIRE_DURABILITY_RELAXED;
    REQUIRE(quire_open(path, &options, &cache) == QUIRE_OK);
    for (int number = posts(cache) + 1; number <= last; number++) {
        for (int round = 1; round < 24; round++) update(cache, 1 + (number * round) % (number - 1), number + round);
        insert(cache, number);
    }
    quire_close(cache);
    REQUIRE(waitpid(reader, &status, 0) == reader && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A user who may write the companions, not the cache: it takes part in the locks, and sees what comes. */
static void member(int expected)
{
    quire_cache *cache = NULL;
    REQUIRE(open_to_read(&cache) == QUIRE_OK);
    REQUIRE(posts(cache) == expected);
    refuse(cache);
    /* Another process waits for this line; then there is one more. */
    printf("ready\n");
    fflush(stdout);
    uint64_t now = 0;
    REQUIRE(quire_generation(cache, &now) == QUIRE_OK);
    while (posts(cache) == expected) (void)quire_wait(cache, now, 1000, &now);
    REQUIRE(posts(cache) == expected + 1);
    quire_close(cache);
}

static void with_member(int expected)
{
    int ends[2], status = 0;
    char line[6];
    quire_cache *cache = NULL;
    REQUIRE(pipe(ends) == 0);
    fflush(stdout);
    pid_t reader = fork();
    REQUIRE(reader >= 0);
    if (reader == 0) {
        REQUIRE(dup2(ends[1], 1) == 1);
        in_child(member, expected, 1);
        exit(0);
    }
    REQUIRE(read(ends[0], line, 6) == 6);
    REQUIRE(quire_open(path, NULL, &cache) == QUIRE_OK);
    insert(cache, expected + 1);
    quire_statistics statistics = QUIRE_STATISTICS_INIT;
    REQUIRE(quire_stats(cache, &statistics) == QUIRE_OK);
    quire_close(cache);
    REQUIRE(waitpid(reader, &status, 0) == reader && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* On a file system that is mounted for reading only nothing is copied. */
static void mounted(int expected)
{
    char image[300], maps[1 << 16];
    quire_cache *cache = NULL;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        printf("no mounts here\n");
        return;
    }
    snprintf(image, sizeof image, "%s/mounted", folder);
    REQUIRE(mkdir(image, 0755) == 0);
    if (mount("none", image, "tmpfs", 0, "") != 0) {
        printf("no tmpfs here\n");
        return;
    }
    char command[1200];
    snprintf(command, sizeof command, "cp %s %s/feeds.quire", path, image);
    REQUIRE(system(command) == 0);
    REQUIRE(mount(NULL, image, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    snprintf(path, sizeof path, "%s/feeds.quire", image);
    REQUIRE(quire_open(path, NULL, &cache) == QUIRE_NO_PERMISSION);
    REQUIRE(open_to_read(&cache) == QUIRE_OK && posts(cache) == expected);
    refuse(cache);
    FILE *file = fopen("/proc/self/maps", "r");
    maps[fread(maps, 1, sizeof maps - 1, file)] = 0;
    fclose(file);
    REQUIRE(strstr(maps, path) != NULL && strstr(maps, "quire-copy-") == NULL);
    quire_close(cache);
    /* A mount of the same folder can be read-only while another is not: there a writer is possible. */
    REQUIRE(mount(NULL, image, NULL, MS_REMOUNT, NULL) == 0);
    REQUIRE(mount(NULL, image, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0);
    REQUIRE(open_to_read(&cache) == QUIRE_OK && posts(cache) == expected);
    file = fopen("/proc/self/maps", "r");
    maps[fread(maps, 1, sizeof maps - 1, file)] = 0;
    fclose(file);
    REQUIRE(strstr(maps, "quire-copy-") != NULL);
    quire_close(cache);
}

static void missing(int unused)
{
    (void)unused;
    quire_cache *cache = NULL;
    REQUIRE(open_to_read(&cache) == QUIRE_IO);
    quire_error error = QUIRE_ERROR_INIT;
    quire_last_error(&error);
    REQUIRE(error.os_error == ENOENT);
}

int main(void)
{
    if (geteuid() != 0) {
        printf("skipped: only root can become another user\n");
        return 0;
    }
    snprintf(folder, sizeof folder, "/tmp/quire-readonly-XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL && chmod(folder, 0755) == 0);
    snprintf(path, sizeof path, "%s/feeds.quire", folder);

    in_child(missing, 0, 1);
    REQUIRE(access(beside("-lock"), F_OK) != 0 && access(beside("-open"), F_OK) != 0);
    in_child(fill, 10, 0);
    in_child(stranger, 10, 1); /* the companions are 0600 */
    in_child(race, 60, 0);
    REQUIRE(chmod(beside("-lock"), 0666) == 0 && chmod(beside("-open"), 0666) == 0);
    in_child(with_member, 60, 0);
    REQUIRE(unlink(beside("-lock")) == 0 && unlink(beside("-open")) == 0);
    in_child(stranger, 61, 1); /* there are no companions, and it may not create them */
    in_child(mounted, 61, 0);
    REQUIRE(chmod(folder, 0777) == 0);
    in_child(stranger, 61, 1); /* it could create them, but they would keep the owner out */
    REQUIRE(access(beside("-lock"), F_OK) != 0 && access(beside("-open"), F_OK) != 0);
    REQUIRE(chmod(path, 0600) == 0);
    in_child(fill, 0, 0);

    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    REQUIRE(system(command) == 0);
    printf("read as another user, in place and as copies\n");
    return 0;
}
