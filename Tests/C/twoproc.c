/*
 * One of two processes that use one cache at the same time. It writes its own feed, and reads the other's
 * as commits arrive, which it learns from quire_wait().
 *
 *     twoproc FILE MINE OTHER COMMITS SECONDS
 *
 * Each commit refreshes the feed with one new post on top of two known ones. In every snapshot the other
 * feed must be n, n - 1, n - 2, ... without a gap. Ends when it has written COMMITS of its own and has
 * seen as many of the other's, or SECONDS are over; the last line says how many.
 */
#include "must.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static quire_cache *cache;
static quire_feed *mine, *other;
static int commits, written;
static time_t deadline;

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static quire_status refresh(void *context, quire_batch *batch)
{
    int number = *(int *)context;
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_post posts[3];
    char ids[3][16];
    memset(posts, 0, sizeof posts);
    for (int i = 0; i < 3 && number - i > 0; i++) {
        posts[i].id.size = (size_t)snprintf(ids[i], sizeof ids[i], "%d", number - i);
        posts[i].id.data = ids[i];
        posts[i].body = posts[i].id;
        answer.count++;
    }
    answer.posts = posts;
    answer.next.kind = QUIRE_LINK_END;
    if (number > 3) {
        answer.next.kind = QUIRE_LINK_TOKEN;
        answer.next.text.data = "older";
        answer.next.text.size = 5;
    }
    quire_status status = quire_plan(mine, batch, &place, &request);
    if (status == QUIRE_OK) status = quire_ingest(mine, batch, request.ticket, &answer, &outcome);
    if (status == QUIRE_OK && outcome.added.count != 1) fail("not one new post");
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    return status;
}

static void *write_all(void *unused)
{
    for (int number = 1; number <= commits && time(NULL) < deadline; number++) {
        must(quire_batch_run(cache, refresh, &number));
        written = number;
    }
    return unused;
}

/* The number on top of the other feed; looks at the rows below it too. */
static int look(void)
{
    quire_snapshot *snapshot;
    quire_row rows[20];
    size_t count;
    int top = 0;
    must(quire_snapshot_begin(cache, &snapshot));
    must(quire_read_after(snapshot, other, NULL, rows, 20, &count));
    for (size_t i = 0; i < count; i++) {
        char digits[QUIRE_DIGITS];
        quire_bytes id = quire_row_id(&rows[i], digits);
        if (!(rows[i].flags & QUIRE_ROW_NUMERIC_ID)) fail("a gap, or a strange id");
        if (i == 0) top = (int)rows[i].id_number;
        if ((int)rows[i].id_number != top - (int)i) fail("the rows do not follow one another");
        if (rows[i].body.size != id.size || memcmp(rows[i].body.data, id.data, id.size) != 0)
            fail("a wrong body");
    }
    quire_snapshot_end(snapshot);
    return top;
}

int main(int argc, char **argv)
{
    pthread_t writer;
    uint64_t generation = 0;
    int seen = 0, wakes = 0;
    if (argc != 6) return 2;
    commits = atoi(argv[4]);
    deadline = time(NULL) + atoi(argv[5]);
    quire_bytes names[2] = {{argv[2], strlen(argv[2])}, {argv[3], strlen(argv[3])}};
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    options.map_size = 1 << 20; /* small: it must grow while both are at work */
    must(quire_open(argv[1], &options, &cache));
    must(quire_feed_open(cache, names[0], NULL, &mine));
    must(quire_feed_open(cache, names[1], NULL, &other));
    pthread_create(&writer, NULL, write_all, NULL);
    while (seen < commits && time(NULL) < deadline) {
        quire_status status = quire_wait(cache, generation, 1000, &generation);
        if (status == QUIRE_TIMEOUT) continue;
        must(status);
        int top = look();
        if (top < seen) fail("the other feed went back");
        seen = top;
        wakes++;
    }
    pthread_join(writer, NULL);
    printf("%s: wrote %d, saw %d of the other in %d looks\n", argv[2], written, seen, wakes);
    quire_feed_close(mine);
    quire_feed_close(other);
    quire_close(cache);
    return written > 0 && seen > 0 ? 0 : 1;
}
