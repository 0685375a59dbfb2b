/*
 * The paging loop of a real client, against a server that lives in this file: it shows 10 posts per page,
 * gets new ones all the time, loses some, and fails now and then.
 *
 *     cc client.c $(pkg-config --cflags --libs quire) && ./a.out /tmp/client.quire
 *
 * The user opens the app a few times, scrolls, and finally goes to the end of the list. Then every post
 * of the server is cached, in its order, and no gap is left; anything else is an error.
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

static quire_bytes bytes_of(const char *string)
{
    quire_bytes bytes = {string, strlen(string)};
    return bytes;
}

/* ---- The server ------------------------------------------------------------------------------------ */

enum { PAGE = 10, MOST = 2000 };

/* Newest first: posts[count - 1] is on top. */
static struct { int posts[MOST]; int count, next, requests; } server;

static void publish(int count)
{
    while (count-- > 0 && server.count < MOST) server.posts[server.count++] = ++server.next;
}

static void withdraw(int index)
{
    server.count--;
    memmove(&server.posts[index], &server.posts[index + 1],
            (size_t)(server.count - index) * sizeof server.posts[0]);
}

/* What an HTTP client would give: ids, and the cursor of the next page, empty at the end. */
struct reply {
    int ids[PAGE];
    int count;
    char cursor[16];
};

/* The posts below `cursor`, "" is the top. Returns 0 if the request failed. */
static int ask(const char *cursor, struct reply *reply)
{
    int below = cursor[0] ? atoi(cursor) : server.next + 1;
    if (++server.requests % 13 == 0) return 0;
    memset(reply, 0, sizeof *reply);
    int i = server.count - 1;
    while (i >= 0 && server.posts[i] >= below) i--;
    for (; i >= 0 && reply->count < PAGE; i--) reply->ids[reply->count++] = server.posts[i];
    if (i >= 0) snprintf(reply->cursor, sizeof reply->cursor, "%d", server.posts[i + 1]);
    return 1;
}

/* ---- The client ------------------------------------------------------------------------------------ */

static quire_cache *cache;
static quire_feed *feed;

static void fill_answer(quire_answer *answer, const struct reply *reply, quire_post *posts,
                        char (*texts)[2][40])
{
    memset(posts, 0, PAGE * sizeof *posts);
    for (int i = 0; i < reply->count; i++) {
        snprintf(texts[i][0], 40, "%d", reply->ids[i]);
        snprintf(texts[i][1], 40, "{\"id\":%d}", reply->ids[i]);
        posts[i].id = bytes_of(texts[i][0]);
        posts[i].body = bytes_of(texts[i][1]);
        posts[i].key = reply->ids[i];
        posts[i].flags = QUIRE_POST_HAS_KEY;
    }
    answer->posts = posts;
    answer->count = (size_t)reply->count;
    answer->next.kind = reply->cursor[0] ? QUIRE_LINK_TOKEN : QUIRE_LINK_END;
    answer->next.text = bytes_of(reply->cursor);
}

/*
 * One request at a place: plan, ask, ingest. Returns the verdict, 0 if there is nothing to ask,
 * QUIRE_VERDICT_ERROR if the request failed.
 */
static int32_t fetch(int32_t kind, uint64_t gap)
{
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    struct reply reply;
    char cursor[16] = "";
    int32_t verdict = 0;

    place.kind = kind;
    place.gap = gap;
    must(quire_plan(feed, NULL, &place, &request));
    if (request.kind == QUIRE_REQUEST_LINK) {
        if (request.link.kind == QUIRE_LINK_TOKEN) {
            memcpy(cursor, request.link.text.data, request.link.text.size);
            cursor[request.link.text.size] = 0;
        }
        if (ask(cursor, &reply)) {
            quire_answer answer = QUIRE_ANSWER_INIT;
            quire_outcome outcome = QUIRE_OUTCOME_INIT;
            quire_post posts[PAGE];
            char texts[PAGE][2][40];
            fill_answer(&answer, &reply, posts, texts);
            must(quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
            verdict = outcome.verdict;
            quire_outcome_free(&outcome);
        } else {
            must(quire_cancel(feed, NULL, request.ticket));
            verdict = QUIRE_VERDICT_ERROR;
        }
    }
    quire_request_free(&request);
    return verdict;
}

/*
 * The user scrolls from the top over `rows_wanted` rows, a screenful at a time. A gap that comes into view is
 * filled, and the end of what is cached is continued. Returns 0 at the end of the list.
 */
static int scroll(int rows_wanted)
{
    enum { SCREEN = 16 };
    int attempts = 0;
    while (attempts++ < 5000) {
        quire_snapshot *snapshot;
        quire_position position, *after = NULL;
        quire_row rows[SCREEN];
        size_t count = SCREEN;
        int seen = 0;
        uint64_t gap = 0;
        must(quire_snapshot_begin(cache, &snapshot));
        while (seen < rows_wanted && gap == 0 && count == SCREEN) {
            must(quire_read_after(snapshot, feed, after, rows, SCREEN, &count));
            for (size_t i = 0; i < count && gap == 0; i++) {
                if (rows[i].kind == QUIRE_ROW_GAP) gap = rows[i].gap;
                else seen++;
            }
            if (count > 0) {
                position = rows[count - 1].position;
                after = &position;
            }
        }
        quire_snapshot_end(snapshot);
        if (gap == 0 && seen >= rows_wanted) return 1;
        if (fetch(gap ? QUIRE_PLACE_GAP : QUIRE_PLACE_TAIL, gap) == 0) return 0;
    }
    fprintf(stderr, "scrolling does not come to an end\n");
    exit(1);
}

/* Compares what is cached with what the server has. */
static void compare(void)
{
    quire_snapshot *snapshot;
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    quire_row row;
    quire_position position;
    size_t count;
    int at = server.count;
    must(quire_snapshot_begin(cache, &snapshot));
    must(quire_feed_get_info(snapshot, feed, &info));
    must(quire_read_after(snapshot, feed, NULL, &row, 1, &count));
    while (count == 1) {
        uint64_t id = at > 0 ? (uint64_t)server.posts[--at] : 0;
        if (!(row.flags & QUIRE_ROW_NUMERIC_ID) || row.id_number != id) {
            char digits[QUIRE_DIGITS];
            quire_bytes found = quire_row_id(&row, digits);
            fprintf(stderr, "%.*s instead of %llu\n", (int)found.size, (const char *)found.data,
                    (unsigned long long)id);
            exit(1);
        }
        position = row.position;
        must(quire_read_after(snapshot, feed, &position, &row, 1, &count));
    }
    printf("%llu posts in %llu pages, %llu gaps, %d requests\n", (unsigned long long)info.posts,
           (unsigned long long)info.pages, (unsigned long long)info.gaps, server.requests);
    if (at != 0 || !info.is_in_sequence || info.tail.kind != QUIRE_LINK_END) exit(1);
    quire_snapshot_end(snapshot);
}

int main(int argc, char **argv)
{
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    unsigned random = 7;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    options.order = QUIRE_ORDER_STABLE;
    options.page_size = PAGE;
    must(quire_open(argv[1], NULL, &cache));
    must(quire_feed_open(cache, bytes_of("timeline"), &options, &feed));

    publish(300);
    for (int session = 0; session < 8; session++) {
        while (fetch(QUIRE_PLACE_HEAD, 0) == QUIRE_VERDICT_ERROR) {}
        scroll(20 + session * 10);
        random = random * 1103515245 + 12345;
        publish((int)(random >> 16) % 60); /* the user is away, life goes on */
        withdraw((int)(random >> 8) % (server.count - 100) + 50);
    }
    while (fetch(QUIRE_PLACE_HEAD, 0) == QUIRE_VERDICT_ERROR) {}
    while (scroll(MOST)) {}
    compare();
    quire_feed_close(feed);
    quire_close(cache);
    return 0;
}
