/*
 * A list on a screen that changes by differences alone, beside random commits:
 *
 *     windows FOLDER
 *
 * After each commit the list is compared with the rows of the window, and these with the rows of the feed. The row that
 * the reader looks at stays the anchor as long as it is in the feed.
 */
#include "must.h"

#include <string.h>

enum { NAME = 24, COMMITS = 4000, SCREEN = 64, PAGE = 5 };

static quire_cache *cache;
static quire_feed *feed;
static quire_window *window;
static unsigned long long state = 1;
static int top = 40;
static char list[SCREEN][NAME];
static size_t list_count;

static void fail(const char *what, int commit)
{
    fprintf(stderr, "commit %d: %s\n", commit, what);
    exit(1);
}

static int below(int limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned)limit);
}

static quire_bytes text(const char *value)
{
    quire_bytes bytes = {value, strlen(value)};
    return bytes;
}

/* The server's list is top, top - 1, ..., 1; a link names the post below which it leads. */
static void fetch(int kind)
{
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_post posts[PAGE] = {0};
    char names[PAGE][NAME], link[NAME];
    int first = top;
    place.kind = kind;
    place.gap = (uint64_t)below(60) + 1;
    must(quire_plan(feed, NULL, &place, &request));
    if (request.refusal == 0) {
        if (request.link.kind == QUIRE_LINK_TOKEN) {
            snprintf(link, sizeof link, "%.*s", (int)request.link.text.size, (const char *)request.link.text.data);
            first = atoi(link) - 1;
        }
        for (; answer.count < PAGE && first - (int)answer.count > 0; answer.count++) {
            snprintf(names[answer.count], NAME, "%d", first - (int)answer.count);
            posts[answer.count].id = text(names[answer.count]);
            posts[answer.count].body = posts[answer.count].id;
        }
        answer.posts = posts;
        answer.next.kind = QUIRE_LINK_END;
        if (first - (int)answer.count > 0) {
            answer.next.kind = QUIRE_LINK_TOKEN;
            snprintf(link, sizeof link, "%d", first - (int)answer.count + 1);
            answer.next.text = text(link);
        }
        must(quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    }
    quire_outcome_free(&outcome);
    quire_request_free(&request);
}

static void change(void)
{
    char name[NAME];
    int32_t done;
    uint64_t count;
    quire_bytes id;
    quire_ids ids = {&id, 1};
    snprintf(name, sizeof name, "%d", below(top) + 1);
    id = text(name);
    switch (below(10)) {
    case 0: top += below(3) == 0 ? 1 + below(9) : 0; /* fall through */
    case 1: fetch(QUIRE_PLACE_HEAD); break;
    case 2: case 3: fetch(QUIRE_PLACE_TAIL); break;
    case 4: case 5: fetch(QUIRE_PLACE_GAP); break;
    case 6: must(quire_evict(feed, NULL, ids, &count)); break;
    case 7: must(quire_delete(feed, NULL, id)); break;
    case 8: must(quire_insert_local(feed, NULL, text("mine"), text("draft"), &done)); break;
    default: must(quire_remove_local(feed, NULL, text("mine"), &done)); break;
    }
}

static void name_row(char *name, const quire_row *row)
{
    char digits[QUIRE_DIGITS];
    quire_bytes id = quire_row_id(row, digits);
    if (row->kind == QUIRE_ROW_GAP) snprintf(name, NAME, "~%llu", (unsigned long long)row->gap);
    else snprintf(name, NAME, "%.*s", (int)id.size, (const char *)id.data);
}

static void apply(const quire_difference *difference, const quire_row *rows)
{
    for (size_t i = difference->removed_count; i-- > 0;) {
        size_t at = (size_t)difference->removed[i];
        list_count--;
        memmove(list[at], list[at + 1], (list_count - at) * NAME);
    }
    for (size_t i = 0; i < difference->inserted_count; i++) {
        size_t at = (size_t)difference->inserted[i];
        memmove(list[at + 1], list[at], (list_count - at) * NAME);
        name_row(list[at], &rows[at]);
        list_count++;
    }
}

/* Follows a commit and compares. `anchor` is the name of the row that the reader looks at, empty at the head. */
static void follow(int commit, char *anchor)
{
    quire_snapshot *snapshot;
    quire_difference difference = QUIRE_DIFFERENCE_INIT;
    quire_window_info info = QUIRE_WINDOW_INFO_INIT;
    quire_row rows[SCREEN], truth[SCREEN];
    char name[NAME], other[NAME];
    size_t count, true_count;
    must(quire_snapshot_begin(cache, &snapshot));
    must(quire_window_update(window, snapshot, &difference));
    must(quire_window_read(window, snapshot, 0, rows, SCREEN, &count));
    must(quire_window_get_info(window, &info));
    must(quire_read_from_rank(snapshot, feed, info.rank, truth, count, &true_count));
    apply(&difference, rows);
    if (count != list_count || count != info.count || count != true_count) fail("another number of rows", commit);
    for (size_t i = 0; i < count; i++) {
        name_row(name, &rows[i]);
        name_row(other, &truth[i]);
        if (strcmp(name, list[i]) != 0) fail("the differences give other rows", commit);
        if (strcmp(name, other) != 0) fail("the window is no part of the feed", commit);
    }
    if (anchor[0] != 0 && anchor[0] != '~' && !info.is_following_head) {
        quire_row row;
        int is_there = quire_find(snapshot, feed, text(anchor), &row) == QUIRE_OK;
        if (is_there && strcmp(list[info.anchor], anchor) != 0) fail("it jumps", commit);
    }
    anchor[0] = 0;
    if (!info.is_following_head) memcpy(anchor, list[info.anchor], NAME);
    quire_snapshot_end(snapshot);
}

int main(int argc, char **argv)
{
    char path[4096], anchor[NAME] = "";
    quire_snapshot *snapshot;
    if (argc != 2) return 64;
    snprintf(path, sizeof path, "%s/windows.quire", argv[1]);
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    options.durability = QUIRE_DURABILITY_RELAXED;
    must(quire_open(path, &options, &cache));
    must(quire_feed_open(cache, text("shown"), NULL, &feed));
    quire_window_start start = QUIRE_WINDOW_START_INIT;
    start.above = start.below = 7;
    must(quire_snapshot_begin(cache, &snapshot));
    must(quire_window_open(snapshot, feed, &start, &window));
    quire_snapshot_end(snapshot);
    size_t most = 0;
    for (int commit = 0; commit < COMMITS; commit++) {
        change();
        follow(commit, anchor);
        if (list_count > most) most = list_count;
        if (list_count > 0 && below(3) == 0) {
            size_t at = (size_t)below((int)list_count);
            must(quire_window_look(window, below(20) == 0 ? UINT64_MAX : at, (uint32_t)below(20), (uint32_t)below(20)));
            anchor[0] = 0; /* the reader chose another row */
        }
    }
    quire_window_close(window);
    quire_feed_close(feed);
    quire_close(cache);
    printf("%d commits, up to %zu rows\n", COMMITS, most);
    return most > 10 ? 0 : 1;
}
