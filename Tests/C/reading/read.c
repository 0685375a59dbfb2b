/* Reads a feed from the top, 64 rows at a time, as often as told, and adds up the sizes and first bytes of
 * the bodies: the same work as read.swift. */
#include <quire.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count_of_arguments, char **arguments)
{
    quire_cache *cache = NULL;
    quire_feed *feed = NULL;
    quire_bytes name = {"feed", 4};
    uint64_t sum = 0;
    if (count_of_arguments != 3 || quire_open(arguments[1], NULL, &cache) != QUIRE_OK) return 1;
    if (quire_feed_open(cache, name, NULL, &feed) != QUIRE_OK) return 1;
    for (int round = atoi(arguments[2]); round > 0; round--) {
        quire_snapshot *snapshot = NULL;
        quire_row rows[64];
        size_t count = 0;
        quire_position position;
        if (quire_snapshot_begin(cache, &snapshot) != QUIRE_OK) return 1;
        if (quire_read_after(snapshot, feed, NULL, rows, 64, &count) != QUIRE_OK) return 1;
        while (count > 0) {
            for (size_t i = 0; i < count; i++) {
                if (rows[i].kind != QUIRE_ROW_POST) continue;
                sum += rows[i].body.size + *(const uint8_t *)rows[i].body.data;
            }
            position = rows[count - 1].position;
            if (quire_read_after(snapshot, feed, &position, rows, 64, &count) != QUIRE_OK) return 1;
        }
        quire_snapshot_end(snapshot);
    }
    printf("%llu\n", (unsigned long long)sum);
    quire_feed_close(feed);
    quire_close(cache);
    return 0;
}
