/* The steps of conformance.json; a part of conformance.c. */

static quire_feed *feed_of(const struct line *line)
{
    for (size_t i = 0; i < feed_count; i++) {
        if (strcmp(feeds[i].name, text_of(line, "feed")) == 0) return feeds[i].feed;
    }
    malformed("a step of an unknown feed");
    return NULL;
}

static void open_feed(const struct line *line)
{
    static const char *const orders[] = {"", "stable", "keyless", "bump", "append-only", "ranked"};
    static const char *const pagings[] = {"", "cursor", "keyset", "offset", "page", "ids", "pages"};
    static const char *const sizes[] = {"unknown", "free", "fixed"};
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    quire_bytes sticky[128];
    options.order = index_of(text_of(line, "order"), orders, 6);
    options.paging = index_of(text_of(line, "paging"), pagings, 7);
    options.sizes = index_of(text_of(line, "sizes"), sizes, 3);
    options.rows_per_page = (uint32_t)number_of(line, "rows_per_page");
    if (number_of(line, "trusts_end")) options.flags |= QUIRE_FEED_TRUSTS_END;
    if (number_of(line, "strict")) options.flags |= QUIRE_FEED_STRICT;
    options.page_size = (uint32_t)number_of(line, "page_size");
    options.minimum_run = (uint32_t)number_of(line, "minimum_run");
    options.first_page = (uint32_t)number_of(line, "first_page");
    options.sticky = ids_of(line, "sticky", sticky);
    const char *name = text_of(line, "feed");
    snprintf(feeds[feed_count].name, 32, "%s", name);
    must(quire_feed_open(cache, bytes_of(name), &options, &feeds[feed_count++].feed));
}

/* The number of the gap with this index, one that no gap has if there is none. */
static uint64_t gap_at(quire_feed *feed, long long index)
{
    quire_snapshot *snapshot;
    quire_row gaps[128];
    size_t count;
    must(quire_snapshot_begin(cache, &snapshot));
    must(quire_read_gaps(snapshot, feed, NULL, gaps, 128, &count));
    quire_snapshot_end(snapshot);
    return index >= 0 && (size_t)index < count ? gaps[index].gap : UINT64_MAX;
}

/* The post below the unverified join with this index, one that no feed has if there is none. */
static void join_at(quire_feed *feed, long long index, struct text *post)
{
    quire_snapshot *snapshot;
    quire_row rows[128];
    size_t count;
    must(quire_snapshot_begin(cache, &snapshot));
    must(quire_read_after(snapshot, feed, NULL, rows, 128, &count));
    for (size_t i = 0; i < count; i++) {
        if (rows[i].flags & QUIRE_ROW_UNVERIFIED && index-- == 0) append_id(post, &rows[i]);
    }
    quire_snapshot_end(snapshot);
    if (post->size == 0) append_string(post, "?");
}

static void plan(const struct line *line, quire_feed *feed)
{
    static const char *const places[] = {"", "head", "tail", "gap", "above-gap", "open-head", "around",
                                         "bodies", "page", "join", "delta"};
    static const char *const kinds[] = {"none", "link", "position", "page", "around", "snapshot", "bodies",
                                        "delta"};
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    struct text link = {"", 0}, until = {"", 0}, join = {"", 0};
    quire_bytes posts[128];
    place.kind = index_of(text_of(line, "place"), places, 11);
    place.limit = (uint32_t)number_of(line, "limit");
    place.is_bounded = (int32_t)number_of(line, "bounded");
    place.target = bytes_of(text_of(line, "target"));
    place.posts = ids_of(line, "posts", posts);
    place.link = link_of(text_of(line, "link"));
    place.page = (uint64_t)number_of(line, "page");
    if (find(line, "join")) {
        join_at(feed, number_of(line, "join"), &join);
        place.target = bytes_of(join.bytes);
    }
    if (find(line, "gap")) place.gap = gap_at(feed, number_of(line, "gap"));
    must(quire_plan(feed, NULL, &place, &request));

    snprintf(tickets[ticket_count].label, 32, "%s", text_of(line, "as"));
    tickets[ticket_count].is_refused = request.kind == QUIRE_REQUEST_NONE;
    tickets[ticket_count++].ticket = request.ticket;
    compare_text(line, "=request", kinds[request.kind]);
    compare_text(line, "=refusal", request.refusal ? quire_refusal_name(request.refusal) : "");
    if (request.refusal) compare_text(line, "=help", quire_help_name(request.help));
    compare_number(line, "=ticket", (long long)(request.ticket % (1u << 28)));  /* in its feed */
    compare_number(line, "=position", (long long)request.position);
    compare_number(line, "=limit", (long long)request.limit);
    compare_number(line, "=overlapping", request.is_overlapping);
    compare_ids(line, "=ids", request.ids);
    request.link.is_overlapping = 0;
    if (request.kind == QUIRE_REQUEST_LINK) append_link(&link, &request.link);
    if (request.kind == QUIRE_REQUEST_AROUND || request.kind == QUIRE_REQUEST_DELTA) append(&link, request.link.text.data, request.link.text.size);
    append(&until, request.until.data, request.until.size);
    compare_text(line, "=link", link.bytes);
    compare_text(line, "=until", until.bytes);
    quire_request_free(&request);
}

/* The ticket with the step's label; the latest, if a label was used twice. */
static size_t ticket_of(const struct line *line)
{
    for (size_t i = ticket_count; i > 0; i--) {
        if (strcmp(tickets[i - 1].label, text_of(line, "ticket")) == 0) return i - 1;
    }
    malformed("a step with an unknown ticket");
    return 0;
}

static void compare_outcome(const struct line *line, quire_outcome *outcome)
{
    struct text reason = {"", 0}, disproved = {"", 0};
    if (outcome->disproved_sizes) append_policy(&disproved, outcome->disproved_sizes, outcome->disproved_rows);
    compare_text(line, "=disproved", disproved.bytes);
    compare_text(line, "=help", outcome->help ? quire_help_name(outcome->help) : "");
    append(&reason, outcome->reason.data, outcome->reason.size);
    compare_text(line, "=outcome", quire_verdict_name(outcome->verdict));
    compare_text(line, "=reason", reason.bytes);
    compare_ids(line, "=added", outcome->added);
    compare_ids(line, "=duplicates", outcome->duplicates);
    compare_ids(line, "=moved", outcome->moved);
    compare_ids(line, "=removed", outcome->removed);
    compare_ids(line, "=kept", outcome->kept);
    compare_ids(line, "=displaced", outcome->displaced);
    compare_ids(line, "=ignored", outcome->ignored);
    compare_ids(line, "=sticky", outcome->sticky);
    compare_ids(line, "=disorder", outcome->disorder);
    compare_ids(line, "=unplaced", outcome->unplaced);
    compare_number(line, "=duplicates_in_page", (long long)outcome->duplicates_in_page);
    compare_number(line, "=opaque_rows", (long long)outcome->opaque_rows);
    compare_number(line, "=gaps_closed", (long long)outcome->gaps_closed);
    compare_number(line, "=gaps_opened", (long long)outcome->gaps_opened);
    quire_outcome_free(outcome);
}

/* A page for a ticket, or of a crawl, or a message. */
static void ingest(const struct line *line, quire_feed *feed, quire_crawl *crawl)
{
    static quire_post posts[128];
    quire_bytes deleted[128];
    const struct member *items = find(line, "posts"), *keys = find(line, "keys");
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    memset(posts, 0, sizeof posts);
    for (size_t i = 0; items && i < items->count; i++) {
        if (items->items[i][0] == 0) { /* a row without an id */
            answer.opaque_rows++;
            continue;
        }
        quire_post *post = &posts[answer.count++];
        post->id = bytes_of(items->items[i]);
        post->body = bytes_of(items->items[i]);
        if (keys && keys->items[i][0] != 0) {
            post->key = strtoll(keys->items[i], NULL, 10);
            post->flags = QUIRE_POST_HAS_KEY;
        }
    }
    answer.posts = posts;
    answer.next = link_of(text_of(line, "next"));
    answer.previous = link_of(text_of(line, "previous"));
    answer.since = bytes_of(text_of(line, "since"));
    answer.deleted = ids_of(line, "deleted", deleted);
    answer.fetched_at = number_of(line, "at");
    answer.has_total = find(line, "total") != NULL;
    answer.total = (uint64_t)number_of(line, "total");
    if (strcmp(text_of(line, "op"), "push") == 0) {
        uint64_t number = (uint64_t)number_of(line, "number");
        must(quire_push(feed, NULL, &answer, find(line, "number") ? &number : NULL,
                        bytes_of(text_of(line, "follows")), &outcome));
    } else if (crawl) {
        must(quire_crawl_ingest(crawl, NULL, (uint64_t)number_of(line, "page"), &answer, &outcome));
    } else {
        must(quire_ingest(feed, NULL, tickets[ticket_of(line)].ticket, &answer, &outcome));
    }
    compare_outcome(line, &outcome);
}

static void drop_link(const struct line *line, quire_feed *feed)
{
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    must(quire_drop_link(feed, NULL, tickets[ticket_of(line)].ticket, &outcome));
    compare_outcome(line, &outcome);
}

static void begin_live(const struct line *line, quire_feed *feed)
{
    uint64_t number = (uint64_t)number_of(line, "number");
    must(quire_begin_live(feed, NULL, find(line, "number") ? &number : NULL));
}

static void ingest_of_crawl(const struct line *line, quire_feed *feed)
{
    for (size_t i = 0; i < crawl_count; i++) {
        if (strcmp(crawls[i].label, text_of(line, "crawl")) == 0) {
            ingest(line, feed, crawls[i].crawl);
            return;
        }
    }
    malformed("a page of an unknown crawl");
}

static void begin_crawl(const struct line *line, quire_feed *feed)
{
    uint64_t start = (uint64_t)number_of(line, "start");
    snprintf(crawls[crawl_count].label, 32, "%s", text_of(line, "crawl"));
    must(quire_crawl_begin(feed, QUIRE_CRAWL_HEAD, start, &crawls[crawl_count++].crawl));
}

static void prune(const struct line *line, quire_feed *feed)
{
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;
    quire_bytes visible[128];
    if (number_of(line, "out_of_sequence")) policy.flags |= QUIRE_PRUNE_OUT_OF_SEQUENCE;
    if (find(line, "maximum_posts")) policy.flags |= QUIRE_PRUNE_BY_POSTS;
    if (find(line, "maximum_age")) policy.flags |= QUIRE_PRUNE_BY_AGE;
    policy.maximum_posts = (uint64_t)number_of(line, "maximum_posts");
    policy.maximum_age = number_of(line, "maximum_age");
    policy.now = number_of(line, "now");
    policy.budget = (uint64_t)number_of(line, "budget");
    policy.visible = ids_of(line, "visible", visible);
    must(quire_prune(feed, NULL, &policy, &result));
    compare_number(line, "=done", result.is_done);
}

static void update(const struct line *line)
{
    static const char *const results[] = {"", "changed", "same", "stale", "missing"};
    const struct member *names = find(line, "names"), *values = find(line, "values");
    quire_field fields[128];
    int32_t result;
    for (size_t i = 0; i < names->count; i++) {
        fields[i].name = bytes_of(names->items[i]);
        fields[i].value = bytes_of(values->items[i]);
    }
    must(quire_update_fields(cache, NULL, bytes_of(""), bytes_of(text_of(line, "id")), fields,
                             names->count, number_of(line, "version"), &result));
    compare_text(line, "=result", results[result]);
}

/* Two ids become one post: of the cache, or of a local post of the feed. */
static void unite(const struct line *line, quire_feed *feed)
{
    static const char *const results[] = {"", "united", "noted", "same", "missing"};
    quire_bytes id = bytes_of(text_of(line, "id"));
    int32_t result;
    if (find(line, "alias"))
        must(quire_add_alias(cache, NULL, bytes_of(""), bytes_of(text_of(line, "alias")), id, &result));
    else must(quire_confirm_local(feed, NULL, id, bytes_of(text_of(line, "server")), &result));
    compare_text(line, "=result", results[result]);
}

static void take(const struct line *line)
{
    const char *op = text_of(line, "op");
    quire_bytes id = bytes_of(text_of(line, "id")), room[128];
    uint64_t count;
    int32_t done;
    if (strcmp(op, "feed") == 0) {
        open_feed(line);
        return;
    }
    quire_feed *feed = feed_of(line);
    if (strcmp(op, "plan") == 0) plan(line, feed);
    else if (strcmp(op, "ingest") == 0) ingest(line, feed, NULL);
    else if (strcmp(op, "push") == 0) ingest(line, feed, NULL);
    else if (strcmp(op, "begin-live") == 0) begin_live(line, feed);
    else if (strcmp(op, "end-live") == 0) must(quire_end_live(feed, NULL));
    else if (strcmp(op, "cancel") == 0) must(quire_cancel(feed, NULL, tickets[ticket_of(line)].ticket));
    else if (strcmp(op, "drop-link") == 0) drop_link(line, feed);
    else if (strcmp(op, "crawl") == 0) begin_crawl(line, feed);
    else if (strcmp(op, "crawl-ingest") == 0) ingest_of_crawl(line, feed);
    else if (strcmp(op, "delete") == 0) must(quire_delete(feed, NULL, id));
    else if (strcmp(op, "evict") == 0) must(quire_evict(feed, NULL, ids_of(line, "posts", room), &count));
    else if (strcmp(op, "evict-page") == 0)
        must(quire_evict_page(feed, (uint64_t)number_of(line, "index"), &count));
    else if (strcmp(op, "pin") == 0) must(quire_pin(feed, NULL, id));
    else if (strcmp(op, "unpin") == 0) must(quire_unpin(feed, NULL, id));
    else if (strcmp(op, "insert-local") == 0) must(quire_insert_local(feed, NULL, id, bytes_of(""), &done));
    else if (strcmp(op, "remove-local") == 0) must(quire_remove_local(feed, NULL, id, &done));
    else if (strcmp(op, "reset") == 0) must(quire_reset(feed, NULL));
    else if (strcmp(op, "prune") == 0) prune(line, feed);
    else if (strcmp(op, "update") == 0) update(line);
    else if (strcmp(op, "alias") == 0 || strcmp(op, "confirm-local") == 0) unite(line, feed);
    else if (strcmp(op, "look") != 0) malformed(op);
    look(line, feed);
}
