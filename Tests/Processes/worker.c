/*
 * One of several processes that change a cache: carries out what it reads, an operation a line, and says what
 * came of each. `run` gives the orders; TurnTaking.swift and worker.py do the same.
 *
 *     worker FILE
 */
#define _GNU_SOURCE
#include "../../Bindings/c/lines.h"
#include "../../Bindings/c/picture.h"
#include "../../Bindings/c/words.h"

enum { MANY = 256 };

static quire_cache *cache;
static struct { char name[32]; quire_feed *feed; } feeds[16];
static size_t feed_count;

/* ---- Replies: the members of a JSON object -------------------------------------------------------- */

static FILE *reply;

static void say_text(const char *name, quire_bytes text)
{
    fprintf(reply, ", \"%s\": \"%.*s\"", name, (int)text.size, text.size ? (const char *)text.data : "");
}

static void say_word(const char *name, const char *word) { say_text(name, bytes_of(word)); }

static void say_number(const char *name, unsigned long long number)
{
    fprintf(reply, ", \"%s\": %llu", name, number);
}

static void say_ids(const char *name, quire_ids ids)
{
    fprintf(reply, ", \"%s\": [", name);
    for (size_t i = 0; i < ids.count; i++)
        fprintf(reply, "%s\"%.*s\"", i ? ", " : "", (int)ids.items[i].size, (const char *)ids.items[i].data);
    fprintf(reply, "]");
}

/* ---- Operations ------------------------------------------------------------------------------------ */

static quire_status plan(
    const struct line *line, quire_feed *feed, quire_batch *batch, quire_snapshot *before)
{
    static const char *const places[] = {"", "head", "tail", "gap", "above-gap", "open-head", "around"};
    static const char *const kinds[] = {"none", "link", "position", "page", "around", "snapshot", "bodies"};
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_row gaps[MANY];
    size_t count, at = (size_t)number_of(line, "gap");
    must(quire_read_gaps(before, feed, NULL, gaps, MANY, &count));
    place.kind = index_of(text_of(line, "place"), places, 7);
    place.gap = at < count ? gaps[at].gap : UINT64_MAX;
    place.target = bytes_of(text_of(line, "target"));
    place.limit = (uint32_t)number_of(line, "limit");
    place.is_bounded = (int32_t)number_of(line, "bounded");
    quire_status status = quire_plan(feed, batch, &place, &request);
    if (status != QUIRE_OK) return status;
    if (request.refusal) {
        say_word("refusal", quire_refusal_name(request.refusal));
    } else {
        struct text link = {"", 0};
        request.link.is_overlapping = 0;
        if (request.kind == QUIRE_REQUEST_AROUND) append(&link, request.link.text.data, request.link.text.size);
        else append_link(&link, &request.link);
        say_word("request", kinds[request.kind]);
        say_number("ticket", request.ticket);
        say_number("position", request.position);
        say_number("limit", request.limit);
        say_number("overlapping", (unsigned)request.is_overlapping);
        say_word("link", link.bytes);
        say_text("until", request.until);
        say_ids("ids", request.ids);
    }
    quire_request_free(&request);
    return QUIRE_OK;
}

static quire_status ingest(const struct line *line, quire_feed *feed, quire_batch *batch)
{
    static quire_post posts[64];
    static char bodies[64][64];
    const struct member *items = find(line, "posts"), *keys = find(line, "keys");
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    memset(posts, 0, sizeof posts);
    for (size_t i = 0; i < items->count; i++) {
        snprintf(bodies[i], sizeof bodies[i], "body of %s", items->items[i]);
        posts[i].id = bytes_of(items->items[i]);
        posts[i].body = bytes_of(bodies[i]);
        if (!keys || keys->count == 0) continue;
        posts[i].key = strtoll(keys->items[i], NULL, 10);
        posts[i].flags = QUIRE_POST_HAS_KEY;
    }
    answer.posts = posts;
    answer.count = items->count;
    answer.next = link_of(text_of(line, "next"));
    answer.previous = link_of(text_of(line, "previous"));
    quire_status status =
        quire_ingest(feed, batch, (uint64_t)number_of(line, "ticket"), &answer, &outcome);
    if (status != QUIRE_OK) return status;
    say_word("outcome", quire_verdict_name(outcome.verdict));
    say_text("reason", outcome.reason);
    say_ids("added", outcome.added);
    say_ids("duplicates", outcome.duplicates);
    say_ids("moved", outcome.moved);
    say_ids("removed", outcome.removed);
    quire_outcome_free(&outcome);
    return QUIRE_OK;
}

static quire_status evict_page(
    const struct line *line, quire_feed *feed, quire_batch *batch, quire_snapshot *before, uint64_t *count)
{
    quire_page page;
    quire_row rows[MANY];
    quire_bytes room[MANY];
    char digits[MANY][QUIRE_DIGITS];
    quire_ids ids = {room, 0};
    size_t pages;
    must(quire_read_pages(before, feed, (uint64_t)number_of(line, "index"), &page, 1, &pages));
    if (pages > 0) must(quire_read_page(before, feed, page.number, 0, rows, MANY, &ids.count));
    for (size_t i = 0; i < ids.count; i++) room[i] = quire_row_id(&rows[i], digits[i]);
    return quire_evict(feed, batch, ids, count);
}

static quire_status prune(const struct line *line, quire_feed *feed, quire_batch *batch)
{
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;
    quire_bytes visible[64];
    if (number_of(line, "out_of_sequence")) policy.flags |= QUIRE_PRUNE_OUT_OF_SEQUENCE;
    if (find(line, "maximum_posts")) policy.flags |= QUIRE_PRUNE_BY_POSTS;
    policy.maximum_posts = (uint64_t)number_of(line, "maximum_posts");
    policy.budget = (uint64_t)number_of(line, "budget");
    policy.visible = ids_of(line, "visible", visible);
    quire_status status = quire_prune(feed, batch, &policy, &result);
    say_number("done", result.is_done != 0);
    return status;
}

static quire_status update(const struct line *line, quire_batch *batch)
{
    static const char *const results[] = {"", "changed", "same", "stale", "missing"};
    const struct member *names = find(line, "names"), *values = find(line, "values");
    quire_field fields[64];
    int32_t result = 0;
    for (size_t i = 0; i < names->count; i++) {
        fields[i].name = bytes_of(names->items[i]);
        fields[i].value = bytes_of(values->items[i]);
    }
    quire_status status = quire_update_fields(cache, batch, bytes_of(""), bytes_of(text_of(line, "id")),
        fields, names->count, number_of(line, "version"), &result);
    say_word("result", results[result]);
    return status;
}

static quire_status change(
    const struct line *line, quire_feed *feed, quire_batch *batch, quire_snapshot *before)
{
    const char *op = text_of(line, "op");
    quire_bytes id = bytes_of(text_of(line, "id")), room[64];
    uint64_t count = 0;
    int32_t done = 0;
    quire_status status;
    if (strcmp(op, "plan") == 0) return plan(line, feed, batch, before);
    if (strcmp(op, "ingest") == 0) return ingest(line, feed, batch);
    if (strcmp(op, "prune") == 0) return prune(line, feed, batch);
    if (strcmp(op, "update") == 0) return update(line, batch);
    if (strcmp(op, "reset") == 0) return quire_reset(feed, batch);
    if (strcmp(op, "delete") == 0) return quire_delete(feed, batch, id);
    if (strcmp(op, "cancel") == 0) return quire_cancel(feed, batch, (uint64_t)number_of(line, "ticket"));
    if (op[0] == 'e') {
        status = strcmp(op, "evict") == 0 ? quire_evict(feed, batch, ids_of(line, "posts", room), &count)
                                          : evict_page(line, feed, batch, before, &count);
        say_number("count", count);
        return status;
    }
    if (strcmp(op, "insert-local") == 0) {
        status = quire_insert_local(feed, batch, id, bytes_of(""), &done);
    } else if (strcmp(op, "remove-local") == 0) {
        status = quire_remove_local(feed, batch, id, &done);
    } else {
        status = (strcmp(op, "pin") == 0 ? quire_pin : quire_unpin)(feed, batch, id);
        done = 1;
    }
    say_number("done", (unsigned)done);
    return status;
}

/* ---- One commit ------------------------------------------------------------------------------------ */

struct turn { const struct line *line; quire_feed *feed; uint64_t base; };

/* What happened is marked even if it changed nothing else: a turn is exactly one commit. */
static quire_status commit(void *context, quire_batch *batch)
{
    struct turn *turn = context;
    quire_snapshot *before; /* sees the commit before this one */
    quire_bytes label = bytes_of(text_of(turn->line, "turn"));
    rewind(reply); /* the second time begins anew */
    must(quire_snapshot_begin(cache, &before));
    must(quire_snapshot_generation(before, &turn->base));
    fprintf(reply, "{\"base\": %llu", (unsigned long long)turn->base);
    quire_status status = change(turn->line, turn->feed, batch, before);
    quire_snapshot_end(before);
    return status ? status : quire_set_attribute(turn->feed, batch, bytes_of("turn"), &label);
}

/* ---- Looking --------------------------------------------------------------------------------------- */

static void look(quire_feed *feed)
{
    quire_snapshot *snapshot;
    quire_row rows[MANY];
    struct text picture;
    uint64_t generation;
    size_t count;
    const char *comma = "";
    must(quire_snapshot_begin(cache, &snapshot));
    must(quire_snapshot_generation(snapshot, &generation));
    must(quire_read_after(snapshot, feed, NULL, rows, MANY, &count));
    draw(snapshot, feed, &picture);
    fprintf(reply, "{\"generation\": %llu, \"facts\": [", (unsigned long long)generation);
    for (size_t i = 0; i < count; i++) {
        quire_post_info info = QUIRE_POST_INFO_INIT;
        char digits[QUIRE_DIGITS];
        quire_bytes id = quire_row_id(&rows[i], digits);
        int size = (int)id.size;
        if (rows[i].kind != QUIRE_ROW_POST) continue;
        must(quire_post_get_info(snapshot, bytes_of(""), id, &info));
        fprintf(reply, "%s\"%.*s %d\"", comma, size, (const char *)id.data, (int)info.feeds);
        comma = ", ";
        for (size_t j = 0; j < info.field_count; j++) {
            const quire_field *field = &info.fields[j];
            fprintf(reply, ", \"%.*s %.*s=%.*s\"", size, (const char *)id.data,
                (int)field->name.size, (const char *)field->name.data, (int)field->value.size,
                (const char *)field->value.data);
        }
    }
    fprintf(reply, "]");
    say_word("picture", picture.bytes);
    quire_snapshot_end(snapshot);
}

static void open_feed(const struct line *line)
{
    static const char *const orders[] = {"", "stable", "keyless", "bump", "append-only", "ranked"};
    static const char *const pagings[] = {"", "cursor", "keyset", "offset", "page", "ids"};
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    options.order = index_of(text_of(line, "order"), orders, 6);
    options.paging = index_of(text_of(line, "paging"), pagings, 6);
    snprintf(feeds[feed_count].name, 32, "%s", text_of(line, "feed"));
    must(quire_feed_open(cache, bytes_of(text_of(line, "feed")), &options, &feeds[feed_count++].feed));
}

static void take(const struct line *line)
{
    const char *op = text_of(line, "op");
    struct turn turn = {line, NULL, 0};
    size_t findings;
    if (strcmp(op, "feed") == 0) {
        open_feed(line);
        fprintf(reply, "{\"opened\": 1");
        return;
    }
    if (strcmp(op, "check") == 0) {
        must(quire_check(cache, 0, 0, NULL, NULL, NULL, &findings));
        fprintf(reply, "{\"findings\": [%s]", findings ? "\"some\"" : "");
        return;
    }
    for (size_t i = 0; i < feed_count; i++)
        if (strcmp(feeds[i].name, text_of(line, "feed")) == 0) turn.feed = feeds[i].feed;
    if (!turn.feed) malformed("an operation on an unknown feed");
    if (strcmp(op, "look") == 0) {
        look(turn.feed);
        return;
    }
    quire_status status = quire_batch_run(cache, commit, &turn);
    if (status == QUIRE_NOT_FOUND) {
        rewind(reply);
        fprintf(reply, "{\"done\": 0, \"undone\": 1, \"base\": %llu", (unsigned long long)turn.base);
    } else {
        must(status);
    }
}

int main(int argc, char **argv)
{
    static char buffer[65536];
    static struct line line;
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    if (argc != 2) return 2;
    options.durability = QUIRE_DURABILITY_RELAXED;
    options.map_size = 1 << 18; /* grows in every process */
    must(quire_open(argv[1], &options, &cache));
    while (fgets(buffer, sizeof buffer, stdin)) {
        char *text;
        size_t size;
        reply = open_memstream(&text, &size);
        read_line(buffer, &line);
        take(&line);
        fprintf(reply, "}\n");
        long end = ftell(reply); /* after a rewind there may be more behind it */
        fclose(reply);
        fwrite(text, 1, (size_t)end, stdout);
        fflush(stdout);
        free(text);
    }
    while (feed_count > 0) quire_feed_close(feeds[--feed_count].feed);
    quire_close(cache);
    return 0;
}
