/* Misuse of requests, answers, crawls, posts and prunes: a row of a table for each case. */
#include "misuse.h"

/* ---- Plan and ingest ------------------------------------------------------------------------------- */

#define PLACE(...) {.struct_size = sizeof(quire_place), .kind = QUIRE_PLACE_HEAD, __VA_ARGS__}

static void plans(void)
{
    static const quire_bytes wanted[] = {{"a", 1}, {"b", 0}};
    /* Where no request is made, the refusal says why. */
    static const struct { const char *what; quire_status status; const char *says; quire_place place; } rows[] = {
        {"the head", QUIRE_OK, "", PLACE()},
        {"an unknown kind", BAD, "kind 99", PLACE(.kind = 99)},
        {"around no post", BAD, "id is empty", PLACE(.kind = QUIRE_PLACE_AROUND)},
        {"a limit of 4 billion", BAD, "limit", PLACE(.limit = UINT32_MAX)},
        {"is_bounded is 2", BAD, "is_bounded", PLACE(.is_bounded = 2)},
        {"a link of unknown kind", BAD, "kind 77", PLACE(.link = {.kind = 77})},
        {"a token without text", BAD, "empty", PLACE(.link = {.kind = QUIRE_LINK_TOKEN})},
        {"a token that is not UTF-8", BAD, "UTF-8", PLACE(.link = {QUIRE_LINK_TOKEN, 0, BYTES("\xff")})},
        {"an unknown gap", QUIRE_OK, "no-such-gap", PLACE(.kind = QUIRE_PLACE_GAP, .gap = UINT64_MAX)},
        {"bodies of no posts", QUIRE_OK, "empty", PLACE(.kind = QUIRE_PLACE_BODIES)},
        {"2 posts at NULL", BAD, "NULL", PLACE(.kind = QUIRE_PLACE_BODIES, .posts = {NULL, 2})},
        {"a post without an id", BAD, "id is empty", PLACE(.kind = QUIRE_PLACE_BODIES, .posts = {wanted, 2})},
        {"more posts than memory", BAD, "count", PLACE(.kind = QUIRE_PLACE_BODIES, .posts = {wanted, SIZE_MAX})},
        {"the body of an unknown post", QUIRE_OK, "empty",
         PLACE(.kind = QUIRE_PLACE_BODIES, .posts = {wanted, 1})},
        {"a page beyond the last number", BAD, "number of a page",
         PLACE(.kind = QUIRE_PLACE_PAGE, .page = QUIRE_PAGE_LIMIT)},
        {"a join above no post", BAD, "id is empty", PLACE(.kind = QUIRE_PLACE_JOIN)},
        {"a join above an unknown post", QUIRE_OK, "no-such-join",
         PLACE(.kind = QUIRE_PLACE_JOIN, .target = BYTES("absent"))},
        {"a delta without a token", QUIRE_OK, "no-link", PLACE(.kind = QUIRE_PLACE_DELTA)},
        {"a structure of 3 bytes", BAD, "struct_size is 3", {.struct_size = 3}},
    };
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT, garbage;

    EXPECT(BAD, quire_plan(feed, NULL, NULL, &request));
    EXPECT(BAD, quire_plan(feed, NULL, &place, NULL));
    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_row(rows[i].status, rows[i].says, quire_plan(feed, NULL, &rows[i].place, &request), rows[i].what);
        if (rows[i].status != QUIRE_OK || *rows[i].says == 0) continue;
        require(request.kind == QUIRE_REQUEST_NONE && request.ticket == 0, rows[i].what);
        require(strcmp(quire_refusal_name(request.refusal), rows[i].says) == 0, rows[i].what);
    }
    request.struct_size = 3;
    EXPECT(BAD, quire_plan(feed, NULL, &place, &request));
    request.struct_size = sizeof request;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));

    /* freed twice, also through a copy; garbage */
    quire_request copy = request;
    quire_request_free(&request);
    quire_request_free(&request);
    quire_request_free(&copy);
    quire_request_free(NULL);
    memset(&garbage, 0x5a, sizeof garbage);
    quire_request_free(&garbage);
    EXPECT(QUIRE_OK, quire_cancel(feed, NULL, UINT64_MAX));

    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    EXPECT(BAD, quire_drop_link(feed, NULL, 1, NULL));
    EXPECT(QUIRE_OK, quire_drop_link(feed, NULL, UINT64_MAX, &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_STALE && outcome.is_unchanged == 1);
    quire_outcome_free(&outcome);
}

static void ingests(void)
{
    static char big[QUIRE_ID_LIMIT + 1];
    static const struct {
        const char *what, *says;
        quire_answer answer;
        /* Where the answer names no posts, it gets this one. */
        quire_post post[1];
    } rows[] = {
        {"more posts than memory", "count", ANSWER(.count = SIZE_MAX), POST()},
        {"posts whose size wraps around", "count", ANSWER(.count = SIZE_MAX / sizeof(quire_post) + 2), POST()},
        {"posts of 8 bytes", "post_size is 8", ANSWER(.post_size = 8), POST()},
        {"2^64 rows without a post", "too many", ANSWER(.opaque_rows = UINT64_MAX), POST()},
        {"a link of unknown kind", "kind -3", ANSWER(.next = {.kind = -3}), POST()},
        {"has_total is 2", "has_total", ANSWER(.has_total = 2), POST()},
        {"a delta's token at NULL", "NULL", ANSWER(.since = {NULL, 1}), POST()},
        {"a delta's token that is not UTF-8", "UTF-8", ANSWER(.since = BYTES("\xff")), POST()},
        {"a delta's token that is too long", "too many", ANSWER(.since = {"s", QUIRE_TEXT_LIMIT + 1}), POST()},
        {"a deleted post at NULL", "NULL", ANSWER(.deleted = {NULL, 1}), POST()},
        {"an id of 0 bytes", "id is empty", ANSWER(), {{.id = {NULL, 0}}}},
        {"an id that is too long", "too many", ANSWER(), {{.id = {big, sizeof big}}}},
        {"an id of 4 bytes at NULL", "NULL", ANSWER(), {{.id = {NULL, 4}}}},
        {"an id as long as memory", "too many", ANSWER(), {{.id = {big, SIZE_MAX}}}},
        {"a body of a byte at NULL", "NULL", ANSWER(), POST(.body = {NULL, 1})},
        {"a body of a terabyte", "bytes", ANSWER(), POST(.body = {big, (size_t)1 << 40})},
        {"an unknown flag", "flags", ANSWER(), POST(.flags = 8)},
        {"more detail than there is", "detail", ANSWER(),
         POST(.flags = QUIRE_POST_HAS_DETAIL, .detail = QUIRE_DETAIL_FULL + 1)},
    };
    _Alignas(8) char storage[sizeof(quire_post) + 8];
    quire_answer answer = ANSWER();
    quire_outcome outcome = QUIRE_OUTCOME_INIT;

    memset(big, '7', sizeof big);
    memset(storage, 0, sizeof storage);
    EXPECT(BAD, quire_ingest(feed, NULL, 1, NULL, &outcome));
    EXPECT(BAD, quire_ingest(feed, NULL, 1, &answer, &outcome)); /* a post at NULL */
    for (size_t i = 0; i < COUNT(rows); i++) {
        answer = rows[i].answer;
        answer.posts = rows[i].post;
        expect_row(BAD, rows[i].says, quire_ingest(feed, NULL, 1, &answer, &outcome), rows[i].what);
    }
    answer = (quire_answer)ANSWER(.posts = (const quire_post *)(const void *)(storage + 1));
    EXPECT(BAD, quire_ingest(feed, NULL, 1, &answer, &outcome)); /* posts that are not aligned */
    quire_post post[] = POST();
    answer.posts = post;
    EXPECT(BAD, quire_ingest(feed, NULL, 1, &answer, NULL));
    EXPECT(QUIRE_OK, quire_ingest(feed, NULL, 4711, &answer, &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_STALE && outcome.is_unchanged == 1);
    quire_outcome copy = outcome;
    quire_outcome_free(&outcome);
    quire_outcome_free(&outcome);
    quire_outcome_free(&copy);
    quire_outcome_free(NULL);
}

/* Ids of 1 and of the most bytes, with NUL, not UTF-8, like a path, the same twice. */
static void odd_ids(void)
{
    static char big[QUIRE_ID_LIMIT];
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_post *posts = calloc(7, sizeof *posts);

    memset(big, '7', sizeof big);
    posts[0].id = sized("\0", 1);
    posts[1].id = sized(big, QUIRE_ID_LIMIT);
    posts[2].id = sized("a\0b", 3);
    posts[3].id = text("\xff\xfe");
    posts[4].id = text("../../etc/passwd");
    posts[5].id = text("../../etc/passwd");
    posts[6].id = text("\x1b]0;x\n");
    for (int i = 0; i < 7; i++) {
        posts[i].flags = QUIRE_POST_HAS_KEY | QUIRE_POST_HAS_VERSION;
        posts[i].key = i % 2 ? INT64_MIN : INT64_MAX;
        posts[i].version = i % 2 ? INT64_MAX : INT64_MIN;
    }
    answer.posts = posts;
    answer.count = 7;
    answer.fetched_at = INT64_MIN;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    EXPECT(QUIRE_OK, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_OK && outcome.added.count == 6);
    REQUIRE(outcome.duplicates_in_page == 1);
    REQUIRE(outcome.added.items[1].size == QUIRE_ID_LIMIT);
    quire_outcome_free(&outcome);
    EXPECT(QUIRE_OK, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_STALE && outcome.reason.size == 4);
    quire_outcome_free(&outcome);
    quire_request_free(&request);

    /* an empty answer is judged, not believed */
    answer.posts = NULL;
    answer.count = 0;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    EXPECT(QUIRE_OK, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    REQUIRE(outcome.is_unchanged == 1);
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    free(posts);
}

static void many(void)
{
    enum { count = 20000 };
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_feed *large;
    quire_post *posts = calloc(count, sizeof *posts);
    char(*ids)[16] = calloc(count, sizeof *ids);

    EXPECT(QUIRE_OK, quire_feed_open(cache, text("large"), NULL, &large));
    for (int i = 0; i < count; i++) {
        posts[i].id.size = (size_t)snprintf(ids[i], sizeof ids[i], "%d", i);
        posts[i].id.data = ids[i];
    }
    answer.posts = posts;
    answer.count = count;
    EXPECT(QUIRE_OK, quire_plan(large, NULL, &place, &request));
    EXPECT(QUIRE_OK, quire_ingest(large, NULL, request.ticket, &answer, &outcome));
    REQUIRE(outcome.added.count == count);
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    quire_feed_close(large);
    free(posts);
    free(ids);
}

static void records(void)
{
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_crawl *out;
    EXPECT(BAD, quire_crawl_begin(feed, 0, 0, &out));
    EXPECT(BAD, quire_crawl_begin(feed, QUIRE_CRAWL_TAIL, 5, &out));
    EXPECT(BAD, quire_crawl_begin(feed, QUIRE_CRAWL_HEAD, UINT64_MAX, &out));
    EXPECT(BAD, quire_crawl_begin(feed, QUIRE_CRAWL_HEAD, 1, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_crawl_begin(NULL, QUIRE_CRAWL_HEAD, 1, &out));
    EXPECT(BAD, quire_crawl_ingest(run, NULL, QUIRE_PAGE_LIMIT, &answer, &outcome));
    EXPECT(BAD, quire_crawl_ingest(run, NULL, 1, NULL, &outcome));
    EXPECT(QUIRE_BAD_HANDLE, quire_crawl_ingest((quire_crawl *)feed, NULL, 1, &answer, &outcome));
    EXPECT(QUIRE_OK, quire_crawl_ingest(run, NULL, QUIRE_PAGE_LIMIT - 1, &answer, &outcome));
    quire_outcome_free(&outcome);
    EXPECT(QUIRE_OK, quire_crawl_ingest(run, NULL, QUIRE_PAGE_FOLLOWING, &answer, &outcome));
    quire_outcome_free(&outcome);
}

/* ---- Posts ----------------------------------------------------------------------------------------- */

#define UPDATE(...) {.id = BYTES("../../etc/passwd"), .body = BYTES("b"), .detail = QUIRE_DETAIL_FULL, __VA_ARGS__}

static void bodies(void)
{
    static const int64_t oldest = INT64_MIN;
    static const struct {
        const char *what;
        quire_status status;
        int32_t result;
        const char *says;
        struct { quire_bytes collection, id, body; const int64_t *version; uint32_t detail; } update;
    } rows[] = {
        {"a collection of a byte at NULL", BAD, 0, "collection", UPDATE(.collection = {NULL, 1})},
        {"a collection that is not UTF-8", BAD, 0, "collection", UPDATE(.collection = BYTES("\xff"))},
        {"more detail than there is", BAD, 0, "detail", UPDATE(.detail = QUIRE_DETAIL_FULL + 1)},
        {"an empty id", BAD, 0, "id is empty", UPDATE(.id = {NULL, 0})},
        {"a body of 9 bytes at NULL", BAD, 0, "body", UPDATE(.body = {NULL, 9})},
        {"a version that is not aligned", BAD, 0, "version", UPDATE(.version = (const int64_t *)1)},
        {"an unknown collection", QUIRE_OK, QUIRE_UPDATE_MISSING, "", UPDATE(.collection = BYTES("other"))},
        {"an unknown post", QUIRE_OK, QUIRE_UPDATE_MISSING, "", UPDATE(.id = BYTES("absent"))},
        {"the oldest version", QUIRE_OK, QUIRE_UPDATE_SAME, "", UPDATE(.body = {NULL, 0}, .version = &oldest)},
    };
    int32_t result;
    for (size_t i = 0; i < COUNT(rows); i++) {
        __typeof__(rows[i].update) *new = &rows[i].update;
        quire_status status = quire_update_body(
            cache, NULL, new->collection, new->id, new->body, new->version, new->detail, &result);
        expect_row(rows[i].status, rows[i].says, status, rows[i].what);
        require(rows[i].status != QUIRE_OK || result == rows[i].result, rows[i].what);
    }
    EXPECT(BAD, quire_update_body(cache, NULL, sized(NULL, 0), text("x"), text("b"), NULL, 0, NULL));
}

static void fields(void)
{
    static const quire_field pair[] = {{BYTES("likes"), BYTES("7")}, {BYTES("dislikes"), BYTES("7")}};
    static const quire_field twice[] = {{BYTES("likes"), BYTES("7")}, {BYTES("likes"), BYTES("7")}};
    static const quire_field bytes[] = {{BYTES("\xff"), BYTES("7")}};
    static const struct {
        const char *what;
        quire_status status;
        int32_t result;
        const char *says;
        const quire_field *fields;
        size_t count;
        int64_t version;
    } rows[] = {
        {"a field at NULL", BAD, 0, "fields", NULL, 1, 1},
        {"more fields than memory", BAD, 0, "fields", pair, SIZE_MAX, 1},
        {"a field twice", BAD, 0, "likes", twice, 2, 1},
        {"a name that is not UTF-8", BAD, 0, "the fields[0]: ", bytes, 1, 1},
        {"the newest version", QUIRE_OK, QUIRE_UPDATE_CHANGED, "", pair, 2, INT64_MAX},
        {"the oldest version, later", QUIRE_OK, QUIRE_UPDATE_STALE, "", pair, 2, INT64_MIN},
    };
    int32_t result;
    for (size_t i = 0; i < COUNT(rows); i++) {
        quire_status status = quire_update_fields(
            cache, NULL, sized(NULL, 0), text("../../etc/passwd"), rows[i].fields, rows[i].count, rows[i].version,
            &result);
        expect_row(rows[i].status, rows[i].says, status, rows[i].what);
        require(rows[i].status != QUIRE_OK || result == rows[i].result, rows[i].what);
    }
}

static void contents(void)
{
    static const quire_bytes known = BYTES("../../etc/passwd");
    uint8_t flags[] = {9, 9, 9, 9};
    const struct { const char *what; quire_status status; const char *says; quire_ids ids; uint8_t *flags; }
    rows[] = {
        {"no ids, no flags", QUIRE_OK, "", {NULL, 0}, NULL},
        {"an id at NULL", BAD, "ids", {NULL, 1}, flags},
        {"a flag at NULL", BAD, "out_flags", {&known, 1}, NULL},
        {"more ids than memory", BAD, "ids", {&known, SIZE_MAX / 4}, flags},
        {"a post that is there", QUIRE_OK, "", {&known, 1}, flags},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_row(rows[i].status, rows[i].says, quire_contains(feed, rows[i].ids, rows[i].flags), rows[i].what);
    }
    REQUIRE(flags[0] == 1 && flags[1] == 9);
}

static void posts(void)
{
    quire_ids one = {&(quire_bytes)BYTES("x"), 1};
    quire_bytes none = sized(NULL, 0);
    uint64_t number;
    int32_t result;

    EXPECT(BAD, quire_delete(feed, NULL, sized(NULL, 0)));
    EXPECT(QUIRE_OK, quire_delete(feed, NULL, text("absent")));
    EXPECT(BAD, quire_evict(feed, NULL, one, NULL));
    expect_row(QUIRE_NOT_FOUND, "no page 184467440737", quire_evict_page(feed, UINT64_MAX, &number), "no page");
    REQUIRE(number == 0);
    expect_row(QUIRE_NOT_FOUND, "feed feed does", quire_pin(feed, NULL, text("absent")), "a pin of no post");
    EXPECT(QUIRE_NOT_FOUND, quire_unpin(feed, NULL, text("absent")));
    EXPECT(QUIRE_OK, quire_insert_local(feed, NULL, text("local"), sized(NULL, 0), &result));
    EXPECT(QUIRE_OK, quire_insert_local(feed, NULL, text("local"), text("b"), &result));
    REQUIRE(result == 0);
    EXPECT(QUIRE_OK, quire_remove_local(feed, NULL, text("absent"), &result));
    REQUIRE(result == 0);
    EXPECT(BAD, quire_confirm_local(feed, NULL, text("local"), sized(NULL, 0), &result));
    EXPECT(BAD, quire_confirm_local(feed, NULL, text("local"), text("x"), NULL));
    EXPECT(QUIRE_OK, quire_confirm_local(feed, NULL, text("absent"), text("x"), &result));
    REQUIRE(result == QUIRE_ALIAS_MISSING);
    EXPECT(QUIRE_OK, quire_confirm_local(feed, NULL, text("local"), text("local"), &result));
    REQUIRE(result == QUIRE_ALIAS_SAME);
    EXPECT(BAD, quire_add_alias(cache, NULL, none, sized(NULL, 0), text("x"), &result));
    EXPECT(BAD, quire_add_alias(cache, NULL, text("\xff"), text("y"), text("x"), &result));
    EXPECT(QUIRE_OK, quire_add_alias(cache, NULL, text("no such"), text("y"), text("x"), &result));
    REQUIRE(result == QUIRE_ALIAS_MISSING);
    EXPECT(QUIRE_OK, quire_add_alias(cache, NULL, none, text("y"), text("x"), &result));
    REQUIRE(result == QUIRE_ALIAS_NOTED);
}

static void attributes(void)
{
    static char big[QUIRE_ATTRIBUTE_LIMIT + 1];
    quire_bytes value = sized(big, sizeof big), seen;
    quire_snapshot *view;
    EXPECT(BAD, quire_set_attribute(feed, NULL, text("a"), &value));
    value = sized(NULL, 3);
    EXPECT(BAD, quire_set_attribute(feed, NULL, text("a"), &value));
    EXPECT(BAD, quire_set_attribute(feed, NULL, text(""), NULL));
    EXPECT(BAD, quire_set_attribute(feed, NULL, sized(big, 256), NULL));
    EXPECT(BAD, quire_set_attribute(feed, NULL, text("\xff"), NULL));
    EXPECT(QUIRE_OK, quire_set_attribute(feed, NULL, text("never set"), NULL));
    value = text("soon");
    EXPECT(QUIRE_OK, quire_set_attribute(feed, NULL, text("retry"), &value));
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    EXPECT(BAD, quire_get_attribute(view, feed, sized(big, 256), &seen));
    EXPECT(BAD, quire_get_attribute(view, feed, text("retry"), NULL));
    EXPECT(QUIRE_NOT_FOUND, quire_get_attribute(view, feed, text("never set"), &seen));
    EXPECT(QUIRE_OK, quire_get_attribute(view, feed, text("retry"), &seen));
    REQUIRE(seen.size == 4 && memcmp(seen.data, "soon", 4) == 0);
    quire_snapshot_end(view);
}

#define POLICY(...) {.struct_size = sizeof(quire_prune_policy), __VA_ARGS__}

static void prunes(void)
{
    enum { all = QUIRE_PRUNE_BY_POSTS | QUIRE_PRUNE_BY_PAGES | QUIRE_PRUNE_BY_BYTES };
    static const struct { const char *what; quire_status status; const char *says; quire_prune_policy policy; }
    rows[] = {
        {"an unknown flag", BAD, "flags", POLICY(.flags = 1u << 20)},
        {"an age below 0", BAD, "maximum_age", POLICY(.flags = QUIRE_PRUNE_BY_AGE, .maximum_age = -1)},
        {"3 visible posts at NULL", BAD, "visible", POLICY(.visible = {NULL, 3})},
        {"times that wrap around", QUIRE_OK, "",
         POLICY(.flags = QUIRE_PRUNE_BY_AGE | QUIRE_PRUNE_DRY_RUN, .maximum_age = INT64_MAX, .now = INT64_MIN)},
        {"the largest numbers", QUIRE_OK, "",
         POLICY(.flags = all | QUIRE_PRUNE_DRY_RUN, .maximum_posts = UINT64_MAX, .maximum_pages = UINT64_MAX,
                .maximum_bytes = UINT64_MAX, .budget = UINT64_MAX)},
    };
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;

    EXPECT(BAD, quire_prune(feed, NULL, NULL, &result));
    EXPECT(BAD, quire_prune(feed, NULL, &policy, NULL));
    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_row(rows[i].status, rows[i].says, quire_prune(feed, NULL, &rows[i].policy, &result), rows[i].what);
    }
}

void misuse_writes(void)
{
    plans();
    ingests();
    odd_ids();
    many();
    records();
    bodies();
    fields();
    contents();
    posts();
    attributes();
    prunes();
}
