/*
 * What commits cost while the file holds a long list of free pages: before and after nearly all posts of a
 * feed were pruned, in steps or at once. Commits are not synced: this is about the processor.
 *
 *     gcc -O2 -IInclude Benchmarks/prune_cost.c -Lbuild -l:libquire.so.0 -Wl,-rpath,$PWD/build -o prune_cost
 *     ./prune_cost FILE POSTS [BUDGET]        BUDGET posts a step; all at once without
 */
#include "../Tests/C/must.h"

#include <string.h>
#include <time.h>

enum { PAGE = 30, SAMPLES = 300 };

static quire_cache *cache;
static quire_feed *feed;
static quire_crawl *run;
static uint64_t next_id = 1;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/* A page below the last one, ids in no order. */
static quire_status page(quire_batch *batch)
{
    static char ids[PAGE][24], body[200];
    quire_post posts[PAGE];
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    memset(posts, 0, sizeof posts);
    memset(body, 'x', sizeof body);
    for (int i = 0; i < PAGE; i++) {
        uint64_t id = next_id++ * 0x9E3779B97F4A7C15u;
        posts[i].id.size = (size_t)snprintf(ids[i], sizeof ids[i], "%llu", (unsigned long long)id);
        posts[i].id.data = ids[i];
        posts[i].body.data = body;
        posts[i].body.size = sizeof body;
    }
    answer.posts = posts;
    answer.count = PAGE;
    answer.next.kind = QUIRE_LINK_TOKEN;
    answer.next.text.data = "next";
    answer.next.text.size = 4;
    quire_status status = quire_crawl_ingest(run, batch, QUIRE_PAGE_FOLLOWING, &answer, &outcome);
    quire_outcome_free(&outcome);
    return status;
}

static quire_status pages(void *context, quire_batch *batch)
{
    quire_status status = QUIRE_OK;
    for (int i = 0; i < 64 && status == QUIRE_OK; i++) status = page(batch);
    (void)context;
    return status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *when)
{
    double times[SAMPLES];
    quire_statistics statistics = QUIRE_STATISTICS_INIT;
    for (int i = 0; i < SAMPLES; i++) {
        double start = now();
        must(page(NULL));
        times[i] = now() - start;
    }
    qsort(times, SAMPLES, sizeof times[0], ascending);
    must(quire_stats(cache, &statistics));
    printf("%-20s a page committed: p50 %.3f ms, p99 %.3f, max %.3f; %llu posts, %llu MB used, %llu MB free\n",
           when, times[SAMPLES / 2], times[SAMPLES * 99 / 100], times[SAMPLES - 1],
           (unsigned long long)statistics.posts, (unsigned long long)statistics.used_bytes >> 20,
           (unsigned long long)statistics.free_bytes >> 20);
}

int main(int argc, char **argv)
{
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    quire_bytes name = QUIRE_LITERAL("f");
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;
    double total = 0, longest = 0;
    int steps = 0;
    if (argc < 3) return 2;
    options.durability = QUIRE_DURABILITY_RELAXED;
    must(quire_open(argv[1], &options, &cache));
    must(quire_feed_open(cache, name, NULL, &feed));
    must(quire_crawl_begin(feed, QUIRE_CRAWL_HEAD, 1, &run));
    while (next_id < strtoull(argv[2], NULL, 10)) must(quire_batch_run(cache, pages, NULL));
    measure("full");
    policy.flags = QUIRE_PRUNE_BY_POSTS;
    policy.maximum_posts = 1000;
    policy.budget = argc > 3 ? strtoull(argv[3], NULL, 10) : 16777216;
    while (!result.is_done) {
        double start = now();
        must(quire_prune(feed, NULL, &policy, &result));
        double time = now() - start;
        total += time;
        if (time > longest) longest = time;
        steps++;
    }
    printf("%-20s %d steps, %.0f ms, the longest %.0f ms\n", "pruned", steps, total, longest);
    quire_crawl_end(run);
    must(quire_reset(feed, NULL));
    must(quire_crawl_begin(feed, QUIRE_CRAWL_HEAD, 1, &run));
    measure("first 300 pages");
    measure("next 300 pages");
    quire_crawl_end(run);
    quire_feed_close(feed);
    quire_close(cache);
    return 0;
}
