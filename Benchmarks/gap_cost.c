/*
 * What writes cost in a feed with many gaps: each refresh opens one more, then some are filled from the top, some
 * from the bottom, pages are put at the tail, and posts in the middle are deleted or evicted. Commits are not synced:
 * this is about the processor.
 *
 *     gcc -O2 -IInclude Benchmarks/gap_cost.c -Lbuild -l:libquire.so.0 -Wl,-rpath,$PWD/build -o gap_cost
 *     ./gap_cost FILE GAPS
 */
#include "../Tests/C/must.h"

#include <string.h>
#include <time.h>

enum { PAGE = 5, SAMPLES = 50 };

static quire_feed *feed;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/* Plans, and answers with `count` posts whose ids and keys descend from this one. Returns milliseconds. */
static double fetch(int32_t kind, uint64_t gap, long top, int count)
{
    static char ids[PAGE][24];
    quire_post posts[PAGE];
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    memset(posts, 0, sizeof posts);
    for (int i = 0; i < count; i++) {
        posts[i].id.size = (size_t)snprintf(ids[i], sizeof ids[i], "%ld", top - i);
        posts[i].id.data = ids[i];
        posts[i].body = posts[i].id;
        posts[i].key = top - i;
        posts[i].flags = QUIRE_POST_HAS_KEY;
    }
    answer.posts = posts;
    answer.count = (size_t)count;
    answer.next.kind = QUIRE_LINK_TOKEN;
    answer.next.text = posts[count - 1].id;
    place.kind = kind;
    place.gap = gap;
    double start = now();
    must(quire_plan(feed, NULL, &place, &request));
    must(quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    double time = now() - start;
    if (outcome.added.count != (size_t)count) abort();
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    return time;
}

/* Deletes, or evicts, the post with this id. Returns milliseconds. */
static double take(int deletes, long id)
{
    char text[24];
    quire_bytes bytes;
    quire_ids ids = { &bytes, 1 };
    uint64_t count = 1;
    bytes.size = (size_t)snprintf(text, sizeof text, "%ld", id);
    bytes.data = text;
    double start = now();
    if (deletes)
        must(quire_delete(feed, NULL, bytes));
    else
        must(quire_evict(feed, NULL, ids, &count));
    if (count != 1) abort();
    return now() - start;
}

int main(int argc, char **argv)
{
    quire_cache *cache;
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    quire_feed_options feed_options = QUIRE_FEED_OPTIONS_INIT;
    quire_bytes name = QUIRE_LITERAL("f");
    if (argc < 3) return 2;
    long gaps = atol(argv[2]);
    options.durability = QUIRE_DURABILITY_RELAXED;
    must(quire_open(argv[1], &options, &cache));
    feed_options.order = QUIRE_ORDER_STABLE;
    feed_options.paging = QUIRE_PAGING_KEYSET;
    must(quire_feed_open(cache, name, &feed_options, &feed));
    double last = 0, top = 0, bottom = 0, tail = 0, deleted = 0, evicted = 0;
    for (long i = 0; i <= gaps; i++) {
        double time = fetch(QUIRE_PLACE_HEAD, 0, i * 10 + 1005, PAGE);
        if (i > gaps - SAMPLES) last += time;
    }
    /* The gap with number n lies directly above the first post of refresh n - 1. */
    for (long i = 0; i < SAMPLES; i++) {
        top += fetch(QUIRE_PLACE_GAP, (uint64_t)(gaps - i), (gaps - i) * 10 + 1000, 1);
        bottom += fetch(QUIRE_PLACE_GAP, (uint64_t)(i + 1), (i + 1) * 10 + 1000, 1);
        tail += fetch(QUIRE_PLACE_TAIL, 0, 1000 - i, 1);
        deleted += take(1, gaps / 2 * 10 + i % 2 + 1002 + i / 2 * 10);
        evicted += take(0, gaps / 2 * 10 + i % 2 + 1002 - i / 2 * 10 - 20);
    }
    printf("%ld gaps: a refresh that opens another %.3f ms, a page into one of the %d topmost %.3f, of the lowest %.3f, "
           "at the tail %.3f; a post deleted %.3f, evicted %.3f\n", gaps, last / SAMPLES, SAMPLES, top / SAMPLES,
           bottom / SAMPLES, tail / SAMPLES, deleted / SAMPLES, evicted / SAMPLES);
    quire_feed_close(feed);
    quire_close(cache);
    return 0;
}
