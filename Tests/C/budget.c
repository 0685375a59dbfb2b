/*
 * A budget that two processes keep: each fills its own feed, and after each commit the cache is within the budget.
 *
 *     budget FOLDER
 */
#include "must.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 100, PAGE = 10, LIMIT = 60 };
static char path[400];

static void require(int is_so, const char *what)
{
    if (is_so) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static quire_cache *open_cache(void)
{
    quire_cache *cache;
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    quire_budget budget = QUIRE_BUDGET_INIT;
    options.durability = QUIRE_DURABILITY_RELAXED;
    budget.cache.posts = LIMIT;
    must(quire_open_with_budget(path, &options, &budget, &cache));
    return cache;
}

/* Takes in the next page at the tail. Posts are numbered from the top. */
static void load(quire_feed *feed, int page)
{
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_post posts[PAGE];
    char ids[PAGE][16], next[16];
    memset(posts, 0, sizeof posts);
    for (int i = 0; i < PAGE; i++) {
        posts[i].id.size = (size_t)snprintf(ids[i], sizeof ids[i], "%d", page * PAGE + i);
        posts[i].id.data = ids[i];
        posts[i].body = posts[i].id;
    }
    answer.posts = posts;
    answer.count = PAGE;
    answer.next.kind = QUIRE_LINK_TOKEN;
    answer.next.text.size = (size_t)snprintf(next, sizeof next, "page %d", page + 1);
    answer.next.text.data = next;
    if (page > 0) place.kind = QUIRE_PLACE_TAIL;
    must(quire_plan(feed, NULL, &place, &request));
    require(request.ticket != 0, "no request at the tail");
    must(quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    quire_outcome_free(&outcome);
    quire_request_free(&request);
}

static uint64_t posts_in(quire_cache *cache)
{
    quire_statistics statistics = QUIRE_STATISTICS_INIT;
    must(quire_stats(cache, &statistics));
    return statistics.posts;
}

static quire_feed *open_feed(quire_cache *cache, const char *name)
{
    quire_feed *feed;
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    quire_bytes bytes = {name, strlen(name)};
    options.collection = bytes;
    must(quire_feed_open(cache, bytes, &options, &feed));
    return feed;
}

/* Another process may take the page that this one continues from: then the next page is asked for at the top. */
static void fill(const char *name)
{
    quire_cache *cache = open_cache();
    quire_feed *feed = open_feed(cache, name);
    for (int page = 0; page < PAGES; page++) {
        must(quire_reset(feed, NULL));
        for (int i = 0; i < 4; i++) {
            load(feed, i);
            require(posts_in(cache) <= LIMIT, "above the budget");
        }
    }
    quire_feed_close(feed);
    quire_close(cache);
}

static void misuse(void)
{
    quire_cache *cache;
    quire_budget budget = QUIRE_BUDGET_INIT;
    quire_evictions evictions = QUIRE_EVICTIONS_INIT;
    require(quire_open_with_budget(path, NULL, NULL, &cache) == QUIRE_BAD_ARGUMENT, "no budget");
    budget.struct_size = 4;
    require(quire_open_with_budget(path, NULL, &budget, &cache) == QUIRE_BAD_ARGUMENT, "a short budget");
    require(quire_get_evictions(NULL, &evictions) != QUIRE_OK, "evictions of no cache");
    require(quire_set_visible(NULL, (quire_ids){NULL, 0}) != QUIRE_OK, "visible in no feed");
}

/* What is visible stays, however much comes. */
static void show(void)
{
    quire_cache *cache = open_cache();
    quire_feed *feed = open_feed(cache, "visible");
    quire_bytes first = QUIRE_LITERAL("0");
    quire_evictions evictions = QUIRE_EVICTIONS_INIT;
    uint8_t is_there = 0;
    load(feed, 0);
    must(quire_set_visible(feed, (quire_ids){&first, 1}));
    for (int page = 1; page < 20; page++) load(feed, page);
    require(posts_in(cache) <= LIMIT, "above the budget with visible posts");
    must(quire_contains(feed, (quire_ids){&first, 1}, &is_there));
    require(is_there, "what was visible has left");
    must(quire_get_evictions(cache, &evictions));
    require(evictions.posts >= 2 * PAGES && evictions.posts_by_cache == evictions.posts, "what was evicted");
    require(evictions.body_bytes > 0 && evictions.pages > 0, "how much was evicted");
    size_t found = 0;
    must(quire_check(cache, 0, 10, NULL, NULL, NULL, &found));
    require(found == 0, "the cache is not sound");
    quire_feed_close(feed);
    quire_close(cache);
    printf("%llu posts evicted\n", (unsigned long long)evictions.posts);
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc != 2) return 2;
    snprintf(path, sizeof path, "%s/budget.quire", argv[1]);
    misuse();
    pid_t child = fork();
    if (child == 0) {
        fill("b");
        return 0;
    }
    fill("a");
    require(waitpid(child, &status, 0) == child && status == 0, "the other process failed");
    show();
    return 0;
}
