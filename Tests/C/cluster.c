/*
 * Two machines, here two folders, share a cache over one server of NATS. Arguments: an empty folder, the server's
 * port, its process.
 */
#include <quire_cluster.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int checks;

static void require(int holds, const char *what)
{
    quire_error error;
    memset(&error, 0, sizeof error);
    error.struct_size = sizeof error;
    checks++;
    if (holds) return;
    quire_last_error(&error);
    fprintf(stderr, "failed: %s (last error %d: %s)\n", what, (int)error.status, error.message);
    exit(1);
}

#define REQUIRE(condition) require(condition, #condition)
#define EXPECT(status, call) require((call) == (status), #status " " #call)

static const quire_bytes none = {NULL, 0};

static quire_bytes text(const char *string)
{
    quire_bytes bytes = {string, strlen(string)};
    return bytes;
}

static quire_cluster *node(const char *folder, const char *name, const char *address)
{
    char path[300];
    quire_cluster *cluster = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    mkdir(path, 0700);
    EXPECT(QUIRE_OK, quire_cluster_open(address, path, &cluster));
    return cluster;
}

/* A page of the posts first, first - 1, ..., first - 4. */
static int32_t ingest(quire_feed *feed, uint64_t ticket, int first)
{
    char ids[5][12];
    quire_post posts[5];
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    int32_t verdict;
    memset(posts, 0, sizeof posts);
    for (int i = 0; i < 5; i++) {
        snprintf(ids[i], sizeof ids[i], "%d", first - i);
        posts[i].id = text(ids[i]);
        posts[i].body = text(ids[i]);
        posts[i].key = first - i;
        posts[i].flags = QUIRE_POST_HAS_KEY;
    }
    answer.posts = posts;
    answer.count = 5;
    answer.next.kind = QUIRE_LINK_TOKEN;
    answer.next.text = text("next");
    EXPECT(QUIRE_OK, quire_ingest(feed, NULL, ticket, &answer, &outcome));
    verdict = outcome.verdict;
    quire_outcome_free(&outcome);
    return verdict;
}

static uint64_t plan(quire_feed *feed, int32_t kind)
{
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    uint64_t ticket;
    place.kind = kind;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    ticket = request.ticket;
    quire_request_free(&request);
    return ticket;
}

/* The ids of a feed's rows, one behind the other; ~ is a gap. */
static void rows(quire_cache *cache, const char *name, char *out)
{
    quire_snapshot *snapshot;
    quire_feed *feed;
    quire_row found[64];
    size_t count = 0;
    char digits[QUIRE_DIGITS];
    EXPECT(QUIRE_OK, quire_feed_find(cache, text(name), &feed));
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &snapshot));
    EXPECT(QUIRE_OK, quire_read_after(snapshot, feed, NULL, found, 64, &count));
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        quire_bytes id = quire_row_id(&found[i], digits);
        out += found[i].kind == QUIRE_ROW_GAP ? sprintf(out, "~ ")
                                              : sprintf(out, QUIRE_BYTES_FMT " ", QUIRE_BYTES_ARG(id));
    }
    quire_snapshot_end(snapshot);
    quire_feed_close(feed);
}

static quire_status in_batch(void *context, quire_batch *batch)
{
    (void)context;
    (void)batch;
    return QUIRE_OK;
}

static void refusals(const char *folder, quire_cluster *cluster)
{
    const char *addresses[] = {
        "http://127.0.0.1/test", "nats://127.0.0.1", "nats:///test", "nats://127.0.0.1/", "nats://127.0.0.1/a/b",
        "nats://127.0.0.1/test?replicas=9", "nats://127.0.0.1/test?create=maybe", "nats://127.0.0.1/test?what=1",
        "nats://127.0.0.1/te%4", "nats://127.0.0.1/test?shards=a,a",
    };
    quire_cluster *none_here = NULL;
    quire_cache *cache = NULL;
    quire_shard_status status = QUIRE_SHARD_STATUS_INIT;
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        require(quire_cluster_open(addresses[i], folder, &none_here) == QUIRE_MISCONFIGURED && none_here == NULL,
                addresses[i]);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_cluster_open(NULL, folder, &none_here));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_cluster_open("nats://127.0.0.1/test", NULL, &none_here));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_cluster_open("nats://127.0.0.1/test", folder, NULL));
    EXPECT(QUIRE_NOT_FOUND, quire_cluster_cache(cluster, text("nothing"), &cache));
    EXPECT(QUIRE_NOT_FOUND, quire_cluster_get_status(cluster, text("nothing"), &status));
    EXPECT(QUIRE_BAD_HANDLE, quire_cluster_cache(NULL, none, &cache));
    EXPECT(QUIRE_BAD_HANDLE, quire_cluster_wait((quire_cluster *)(uintptr_t)1, none, 1));
    status.struct_size = 1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_cluster_get_status(cluster, none, &status));
}

int main(int argc, char **argv)
{
    char address[200], of_a[600], of_b[600];
    quire_cluster *a, *b;
    quire_cache *cache_a = NULL, *cache_b = NULL;
    quire_feed *feed_a, *feed_b, *renamed;
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    quire_shard_status status = QUIRE_SHARD_STATUS_INIT, other = QUIRE_SHARD_STATUS_INIT;
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    int32_t done = 0;
    uint64_t ticket, number = 0;
    if (argc != 4) return 2;
    snprintf(address, sizeof address, "nats://127.0.0.1:%s/test?replicas=1&timeout=3", argv[2]);
    a = node(argv[1], "a", address);
    b = node(argv[1], "b", address);
    EXPECT(QUIRE_OK, quire_cluster_cache(a, none, &cache_a));
    EXPECT(QUIRE_OK, quire_cluster_cache_of_feed(b, text("news"), &cache_b));

    /* both open the feed; a fills it, b reads it */
    options.order = QUIRE_ORDER_STABLE;
    EXPECT(QUIRE_OK, quire_feed_open(cache_a, text("news"), &options, &feed_a));
    EXPECT(QUIRE_OK, quire_feed_open(cache_b, text("news"), &options, &feed_b));
    REQUIRE(ingest(feed_a, plan(feed_a, QUIRE_PLACE_HEAD), 100) == QUIRE_VERDICT_OK);
    EXPECT(QUIRE_OK, quire_cluster_get_status(a, none, &status));
    REQUIRE(status.applied > 0 && status.rebuilds == 0 && status.lost == 0);
    EXPECT(QUIRE_OK, quire_cluster_wait(b, none, status.applied));
    rows(cache_b, "news", of_b);
    REQUIRE(strcmp(of_b, "100 99 98 97 96 ") == 0);

    /* b refreshes: a gap on both; what a planned before is stale then, and so is a ticket of another process */
    ticket = plan(feed_a, QUIRE_PLACE_TAIL);
    REQUIRE(ingest(feed_b, plan(feed_b, QUIRE_PLACE_HEAD), 120) == QUIRE_VERDICT_GAP);
    REQUIRE(ingest(feed_a, ticket, 95) == QUIRE_VERDICT_OK);
    REQUIRE(ingest(feed_a, ticket, 90) == QUIRE_VERDICT_STALE);
    REQUIRE(ingest(feed_b, plan(feed_a, QUIRE_PLACE_TAIL), 90) == QUIRE_VERDICT_STALE);
    rows(cache_a, "news", of_a);
    REQUIRE(strcmp(of_a, "120 119 118 117 116 ~ 100 99 98 97 96 95 94 93 92 91 ") == 0);

    /* other writes */
    EXPECT(QUIRE_OK, quire_pin(feed_a, NULL, text("118")));
    EXPECT(QUIRE_NOT_FOUND, quire_pin(feed_a, NULL, text("7")));
    EXPECT(QUIRE_OK, quire_insert_local(feed_b, NULL, text("draft"), text("draft"), &done));
    REQUIRE(done == 1);
    EXPECT(QUIRE_OK, quire_delete(feed_a, NULL, text("99")));
    EXPECT(QUIRE_OK, quire_update_body(cache_a, NULL, none, text("98"), text("new"), NULL, 255, &done));
    EXPECT(QUIRE_OK, quire_set_attribute(feed_a, NULL, text("seen"), NULL));
    EXPECT(QUIRE_OK, quire_feed_open(cache_a, text("old"), NULL, &renamed));
    EXPECT(QUIRE_OK, quire_feed_rename(renamed, NULL, text("new")));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_batch_run(cache_a, in_batch, NULL));
    quire_feed_close(renamed);

    EXPECT(QUIRE_OK, quire_cluster_get_status(a, none, &status));
    EXPECT(QUIRE_OK, quire_cluster_wait(b, none, status.applied));
    EXPECT(QUIRE_OK, quire_cluster_get_status(b, none, &other));
    number = other.applied;
    EXPECT(QUIRE_OK, quire_cluster_wait(a, none, number));
    EXPECT(QUIRE_OK, quire_cluster_get_status(a, none, &status));
    REQUIRE(status.applied == other.applied && status.digest == other.digest);
    rows(cache_a, "news", of_a);
    rows(cache_b, "news", of_b);
    REQUIRE(strcmp(of_a, of_b) == 0 && strncmp(of_a, "draft 120 ", 10) == 0);
    EXPECT(QUIRE_OK, quire_cluster_checkpoint(a, none));
    refusals(argv[1], a);

    /* the server dies: reading goes on, a write fails, and did not happen */
    kill((pid_t)atoi(argv[3]), SIGKILL);
    rows(cache_a, "news", of_a);
    REQUIRE(strcmp(of_a, of_b) == 0);
    {
        quire_status failed = quire_plan(feed_a, NULL, &place, &request);
        REQUIRE(failed == QUIRE_UNAVAILABLE || failed == QUIRE_IN_DOUBT);
    }
    EXPECT(QUIRE_UNAVAILABLE, quire_cluster_wait(b, none, number + 100));

    quire_cluster_close(a);
    REQUIRE(quire_plan(feed_a, NULL, &place, &request) != QUIRE_OK);
    rows(cache_a, "news", of_a);
    quire_feed_close(feed_a);
    quire_feed_close(feed_b);
    quire_close(cache_a);
    quire_close(cache_b);
    quire_cluster_close(b);
    quire_cluster_close(b);
    EXPECT(QUIRE_BAD_HANDLE, quire_cluster_cache(b, none, &cache_b));
    printf("%d checks\n", checks);
    return 0;
}
