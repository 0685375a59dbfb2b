/*
 * A walk through the C API: a feed fills, a gap opens and closes, posts are read both ways.
 *
 *     cc walkthrough.c $(pkg-config --cflags --libs quire) && ./a.out /tmp/walk.quire
 *
 * Prints the feed after each step; ends with an error if it is not what the comments say.
 */
#include <quire.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(quire_status status)
{
    if (status == QUIRE_OK) return;
    quire_error error = QUIRE_ERROR_INIT;
    quire_last_error(&error);
    fprintf(stderr, "%s: %s\n", quire_status_name(status), error.message);
    exit(1);
}

static quire_bytes text(const char *string)
{
    quire_bytes bytes = {string, strlen(string)};
    return bytes;
}

static quire_link token(const char *string)
{
    quire_link link = {QUIRE_LINK_TOKEN, 0, {string, strlen(string)}};
    return link;
}

/* Asks at a place and lets a server answer with one-letter posts. */
static void page(quire_feed *feed, const quire_place *place, const char *letters, const char *next)
{
    quire_request request = QUIRE_REQUEST_INIT;
    must(quire_plan(feed, NULL, place, &request));
    if (request.kind == QUIRE_REQUEST_NONE) {
        fprintf(stderr, "refused: %s\n", quire_refusal_name(request.refusal));
        exit(1);
    }

    quire_post posts[16];
    char bodies[16][16];
    quire_answer answer = QUIRE_ANSWER_INIT;
    memset(posts, 0, sizeof posts);
    for (size_t i = 0; letters[i] != 0; i++) {
        posts[i].id.data = &letters[i];
        posts[i].id.size = 1;
        snprintf(bodies[i], sizeof bodies[i], "body of %c", letters[i]);
        posts[i].body = text(bodies[i]);
        answer.count = i + 1;
    }
    answer.posts = posts;
    answer.next = token(next);

    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    must(quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    printf("%-10s %llu new\n", quire_verdict_name(outcome.verdict),
           (unsigned long long)outcome.added.count);
    quire_outcome_free(&outcome);
    quire_request_free(&request);
}

/* Prints the feed as one line, such as "a b c ~ x y", and compares it. Returns the first gap's number. */
static uint64_t show(quire_cache *cache, quire_feed *feed, const char *expected)
{
    quire_snapshot *snapshot = NULL;
    quire_position position;
    quire_row rows[4]; /* a real program reads a screenful at a time */
    size_t count;
    char line[256] = "";
    uint64_t gap = 0;

    must(quire_snapshot_begin(cache, &snapshot));
    must(quire_read_after(snapshot, feed, NULL, rows, 4, &count));
    while (count > 0) {
        for (size_t i = 0; i < count; i++) {
            size_t end = strlen(line);
            if (rows[i].kind == QUIRE_ROW_GAP) {
                snprintf(line + end, sizeof line - end, "%s~", end ? " " : "");
                if (gap == 0) gap = rows[i].gap;
            } else {
                char digits[QUIRE_DIGITS];
                quire_bytes id = quire_row_id(&rows[i], digits);
                snprintf(line + end, sizeof line - end, "%s%.*s", end ? " " : "", (int)id.size,
                         (const char *)id.data);
            }
        }
        position = rows[count - 1].position;
        must(quire_read_after(snapshot, feed, &position, rows, 4, &count));
    }
    quire_snapshot_end(snapshot);

    printf("           %s\n", line);
    if (strcmp(line, expected) != 0) {
        fprintf(stderr, "expected   %s\n", expected);
        exit(1);
    }
    return gap;
}

/* Three pages in one commit. */
struct crawl {
    quire_feed *feed;
    quire_crawl *run;
};

static quire_status record_three(void *context, quire_batch *batch)
{
    struct crawl *crawl = context;
    for (int number = 1; number <= 3; number++) {
        char id[2][16];
        quire_post posts[2];
        quire_answer answer = QUIRE_ANSWER_INIT;
        quire_outcome outcome = QUIRE_OUTCOME_INIT;
        memset(posts, 0, sizeof posts);
        for (int i = 0; i < 2; i++) {
            snprintf(id[i], sizeof id[i], "%d", 100 - number * 2 - i);
            posts[i].id = text(id[i]);
        }
        answer.posts = posts;
        answer.count = 2;
        quire_status status =
            quire_crawl_ingest(crawl->run, batch, QUIRE_PAGE_FOLLOWING, &answer, &outcome);
        quire_outcome_free(&outcome);
        if (status != QUIRE_OK) return status;
    }
    return QUIRE_OK;
}

int main(int argc, char **argv)
{
    quire_cache *cache = NULL;
    quire_feed *feed = NULL, *archive = NULL;
    quire_place place = QUIRE_PLACE_INIT;
    uint64_t gap, left;

    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    must(quire_open(argv[1], NULL, &cache));
    must(quire_feed_open(cache, text("timeline"), NULL, &feed));

    page(feed, &place, "xyz", "page-2"); /* the first page */
    show(cache, feed, "x y z");

    page(feed, &place, "abc", "page-2'"); /* much later: the page has no known post, so posts may be missing */
    gap = show(cache, feed, "a b c ~ x y z");

    place.kind = QUIRE_PLACE_GAP; /* ask below the gap until it closes */
    place.gap = gap;
    page(feed, &place, "dex", "page-3");
    show(cache, feed, "a b c d e x y z");

    quire_ids ids;
    quire_bytes two[2];
    uint8_t held[2];
    two[0] = text("d");
    two[1] = text("q");
    ids.items = two;
    ids.count = 2;
    must(quire_contains(feed, ids, held));
    printf("d is %scached, q is %scached\n", held[0] ? "" : "not ", held[1] ? "" : "not ");
    if (!held[0] || held[1]) return 1;

    ids.count = 1;
    must(quire_evict(feed, NULL, ids, &left)); /* saves space, leaves a gap */
    show(cache, feed, "a b c ~ e x y z");
    must(quire_delete(feed, NULL, text("b"))); /* deleted on the server: no gap */
    show(cache, feed, "a c ~ e x y z");

    struct crawl crawl;
    must(quire_feed_open(cache, text("archive"), NULL, &archive));
    crawl.feed = archive;
    must(quire_crawl_begin(archive, QUIRE_CRAWL_HEAD, 1, &crawl.run));
    must(quire_batch_run(cache, record_three, &crawl));
    quire_crawl_end(crawl.run);
    show(cache, archive, "98 97 96 95 94 93");

    size_t findings;
    must(quire_check(cache, 0, 0, NULL, NULL, NULL, &findings));
    printf("%zu findings\n", findings);
    quire_close(cache); /* in any order */
    quire_feed_close(archive);
    quire_feed_close(feed);
    return findings == 0 ? 0 : 1;
}
