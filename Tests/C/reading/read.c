/* Reads a feed from the top, 64 rows at a time, as often as told, and adds up the sizes and first bytes of
 * the bodies: the same work as read.swift. With `up` behind it, it reads from the bottom; with `pages`, each page in a
 * snapshot of its own. */
#include <quire.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t sum_of(const quire_row *rows, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind != QUIRE_ROW_POST) continue;
        sum += rows[i].body.size + *(const uint8_t *)rows[i].body.data;
    }
    return sum;
}

/* The feed has 100 pages of 30 posts. */
static uint64_t read_pages(quire_cache *cache, quire_feed *feed)
{
    uint64_t sum = 0;
    for (uint64_t number = 1; number <= 100; number++) {
        quire_snapshot *snapshot = NULL;
        quire_row rows[32];
        size_t count = 0;
        if (quire_snapshot_begin(cache, &snapshot) != QUIRE_OK) exit(1);
        if (quire_read_page(snapshot, feed, number, 0, rows, 32, &count) != QUIRE_OK) exit(1);
        sum += sum_of(rows, count);
        quire_snapshot_end(snapshot);
    }
    return sum;
}

typedef quire_status (*read_rows)(
    quire_snapshot *, quire_feed *, const quire_position *, quire_row *, size_t, size_t *);

static uint64_t read_all(quire_cache *cache, quire_feed *feed, read_rows next)
{
    quire_snapshot *snapshot = NULL;
    quire_row rows[64];
    size_t count = 0;
    quire_position position;
    uint64_t sum = 0;
    if (quire_snapshot_begin(cache, &snapshot) != QUIRE_OK) exit(1);
    if (next(snapshot, feed, NULL, rows, 64, &count) != QUIRE_OK) exit(1);
    while (count > 0) {
        sum += sum_of(rows, count);
        position = rows[count - 1].position;
        if (next(snapshot, feed, &position, rows, 64, &count) != QUIRE_OK) exit(1);
    }
    quire_snapshot_end(snapshot);
    return sum;
}

int main(int count_of_arguments, char **arguments)
{
    quire_cache *cache = NULL;
    quire_feed *feed = NULL;
    quire_bytes name = {"feed", 4};
    const char *how = count_of_arguments > 3 ? arguments[3] : "down";
    uint64_t sum = 0;
    if (count_of_arguments < 3 || quire_open(arguments[1], NULL, &cache) != QUIRE_OK) return 1;
    if (quire_feed_open(cache, name, NULL, &feed) != QUIRE_OK) return 1;
    for (int round = atoi(arguments[2]); round > 0; round--) {
        if (strcmp(how, "pages") == 0)
            sum += read_pages(cache, feed);
        else
            sum += read_all(cache, feed, strcmp(how, "up") == 0 ? quire_read_before : quire_read_after);
    }
    printf("%llu\n", (unsigned long long)sum);
    quire_feed_close(feed);
    quire_close(cache);
    return 0;
}
