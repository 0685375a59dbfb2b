/*
 * A node in C that Scripts/torture-cluster kills: pages of two feeds go through the log for ever, and each that is
 * acknowledged is printed. Arguments: the address, the folder, the feeds and the numbers of their lists.
 * It ends when its standard input does.
 */
#include <quire_cluster.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const quire_bytes only_shard = {NULL, 0};

static void rest(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static int is_over(void)
{
    struct pollfd input = {0, POLLIN, 0};
    return poll(&input, 1, 0) != 0;
}

/* What passes by itself: the log or its disk is away. Anything else ends the program. */
static int passes(quire_status status, const char *what)
{
    quire_error error = {.struct_size = sizeof error};
    if (status == QUIRE_OK) return 1;
    if (status == QUIRE_UNAVAILABLE || status == QUIRE_IN_DOUBT || status == QUIRE_IO || status == QUIRE_DISK_FULL) {
        rest(100);
        return 0;
    }
    quire_last_error(&error);
    fprintf(stderr, "worker in C: %s: %d %s\n", what, (int)status, error.message);
    exit(1);
}

/* Page n of list l has the posts l * 10000000 + 5 n + 1 to + 5. */
static void page(quire_feed *feed, const char *name, long list)
{
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_post posts[5];
    char ids[5][24], body[200], token[24] = "0", next[24];
    long number;
    memset(posts, 0, sizeof posts);
    memset(body, 'c', sizeof body);
    place.kind = QUIRE_PLACE_TAIL;
    if (!passes(quire_plan(feed, NULL, &place, &request), "plan")) return;
    if (request.refusal != 0) {
        quire_request_free(&request);
        place.kind = QUIRE_PLACE_HEAD;
        if (!passes(quire_plan(feed, NULL, &place, &request), "plan of the head")) return;
    }
    if (request.refusal == 0) {
        if (request.link.kind == QUIRE_LINK_TOKEN && request.link.text.size < sizeof token) {
            memcpy(token, request.link.text.data, request.link.text.size);
            token[request.link.text.size] = 0;
        }
        number = atol(token);
        for (int i = 0; i < 5; i++) {
            snprintf(ids[i], sizeof ids[i], "%ld", list * 10000000 + number * 5 + i + 1);
            posts[i].id = (quire_bytes){ids[i], strlen(ids[i])};
            posts[i].body = (quire_bytes){body, sizeof body};
        }
        snprintf(next, sizeof next, "%ld", number + 1);
        answer.posts = posts;
        answer.count = 5;
        answer.fetched_at = 1;
        answer.next.kind = QUIRE_LINK_TOKEN;
        answer.next.text = (quire_bytes){next, strlen(next)};
        if (passes(quire_ingest(feed, NULL, request.ticket, &answer, &outcome), "ingest")) {
            if (outcome.verdict == QUIRE_VERDICT_OK) printf("page %s %ld\n", name, number);
            fflush(stdout);
            quire_outcome_free(&outcome);
        }
    }
    quire_request_free(&request);
}

int main(int argc, char **argv)
{
    quire_cluster *cluster = NULL;
    quire_cache *cache = NULL;
    quire_feed *feeds[2] = {NULL, NULL};
    if (argc != 7) return 2;
    while (!passes(quire_cluster_open(argv[1], argv[2], &cluster), "open"))
        if (is_over()) return 0;
    if (quire_cluster_cache(cluster, only_shard, &cache) != QUIRE_OK) return 1;
    for (int i = 0; i < 2; i++) {
        quire_bytes name = {argv[3 + 2 * i], strlen(argv[3 + 2 * i])};
        while (!passes(quire_feed_open(cache, name, NULL, &feeds[i]), "feed"))
            if (is_over()) return 0;
    }
    while (!is_over()) {
        for (int i = 0; i < 2; i++) page(feeds[i], argv[3 + 2 * i], atol(argv[4 + 2 * i]));
        rest(100);
    }
    puts("end");
    quire_feed_close(feeds[0]);
    quire_feed_close(feeds[1]);
    quire_close(cache);
    quire_cluster_close(cluster);
    return 0;
}
