/* Misuse of requests, answers, runs, posts and prunes. */
#include "misuse.h"

/* ---- Plan and ingest ------------------------------------------------------------------------------- */

static void plans(void)
{
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;

    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, NULL, &request));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, NULL));
    place.kind = 99;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    place.kind = QUIRE_PLACE_AROUND;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    place.kind = QUIRE_PLACE_HEAD;
    place.limit = UINT32_MAX;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    place.limit = 0;
    place.is_bounded = 2;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    place.is_bounded = 0;
    place.link.kind = 77;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    place.link.kind = QUIRE_LINK_TOKEN;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    place.link.text = text("\xff");
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    place.link.kind = QUIRE_LINK_UNKNOWN;
    place.kind = QUIRE_PLACE_GAP;
    place.gap = UINT64_MAX;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    REQUIRE(request.kind == QUIRE_REQUEST_NONE && request.refusal == QUIRE_REFUSAL_NO_SUCH_GAP);
    place.kind = QUIRE_PLACE_BODIES;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    REQUIRE(request.kind == QUIRE_REQUEST_NONE && request.refusal == QUIRE_REFUSAL_UNSUPPORTED);
    place.posts.count = 2;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    quire_bytes wanted[] = {{"a", 1}, {"b", 0}};
    place.posts.items = wanted;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    place.posts.count = SIZE_MAX;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    place.posts.count = 1;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    REQUIRE(request.kind == QUIRE_REQUEST_NONE && request.ticket == 0);
    place.kind = QUIRE_PLACE_HEAD;
    request.struct_size = 3;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(feed, NULL, &place, &request));
    request.struct_size = sizeof request;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));

    /* freed twice, also through a copy; garbage */
    quire_request copy = request, garbage;
    quire_request_free(&request);
    quire_request_free(&request);
    quire_request_free(&copy);
    quire_request_free(NULL);
    memset(&garbage, 0x5a, sizeof garbage);
    quire_request_free(&garbage);
    EXPECT(QUIRE_OK, quire_cancel(feed, NULL, UINT64_MAX));
}

static void ingests(void)
{
    static char big[QUIRE_ID_LIMIT + 1];
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_post post;
    _Alignas(8) char storage[sizeof(quire_post) + 8];

    memset(&post, 0, sizeof post);
    memset(big, '7', sizeof big);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, NULL, &outcome));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, NULL));
    answer.count = 1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    answer.posts = &post;
    answer.count = SIZE_MAX;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    answer.count = SIZE_MAX / sizeof post + 2;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    answer.count = 1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome)); /* id of 0 bytes */
    post.id = sized(big, sizeof big);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    post.id = sized(NULL, 4);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    post.id = sized(big, SIZE_MAX);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    post.id = text("p");
    post.body = sized(NULL, 1);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    post.body = sized(big, (size_t)1 << 40);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    post.body = sized(NULL, 0);
    post.flags = 8;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    post.flags = QUIRE_POST_HAS_DETAIL;
    post.detail = QUIRE_DETAIL_FULL + 1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    post.flags = 0;
    answer.opaque_rows = UINT64_MAX;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    answer.opaque_rows = 0;
    answer.next.kind = -3;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    answer.next.kind = 0;
    answer.post_size = 8;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    answer.post_size = sizeof post;
    answer.posts = (const quire_post *)(const void *)(storage + 1);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, 1, &answer, &outcome));
    answer.posts = &post;
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
    EXPECT(QUIRE_BAD_ARGUMENT, quire_crawl_begin(feed, 0, 0, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_crawl_begin(feed, QUIRE_CRAWL_TAIL, 5, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_crawl_begin(feed, QUIRE_CRAWL_HEAD, UINT64_MAX, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_crawl_begin(feed, QUIRE_CRAWL_HEAD, 1, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_crawl_begin(NULL, QUIRE_CRAWL_HEAD, 1, &out));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_crawl_ingest(run, NULL, QUIRE_PAGE_LIMIT, &answer, &outcome));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_crawl_ingest(run, NULL, 1, NULL, &outcome));
    EXPECT(QUIRE_BAD_HANDLE, quire_crawl_ingest((quire_crawl *)feed, NULL, 1, &answer, &outcome));
    EXPECT(QUIRE_OK, quire_crawl_ingest(run, NULL, QUIRE_PAGE_LIMIT - 1, &answer, &outcome));
    quire_outcome_free(&outcome);
    EXPECT(QUIRE_OK, quire_crawl_ingest(run, NULL, QUIRE_PAGE_FOLLOWING, &answer, &outcome));
    quire_outcome_free(&outcome);
}

/* ---- Posts ----------------------------------------------------------------------------------------- */

static void posts(void)
{
    quire_ids ids = {NULL, 0};
    quire_bytes id = text("../../etc/passwd");
    quire_field fields[2];
    uint8_t flags[4] = {9, 9, 9, 9};
    quire_bytes none = sized(NULL, 0);
    uint64_t number;
    int32_t result;
    int64_t version[2] = {INT64_MIN, 0};

    EXPECT(QUIRE_OK, quire_contains(feed, ids, NULL));
    ids.count = 1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_contains(feed, ids, flags));
    ids.items = &id;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_contains(feed, ids, NULL));
    ids.count = SIZE_MAX / 4;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_contains(feed, ids, flags));
    ids.count = 1;
    EXPECT(QUIRE_OK, quire_contains(feed, ids, flags));
    REQUIRE(flags[0] == 1 && flags[1] == 9);

    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_body(cache, NULL, sized(NULL, 1), id, text("b"), NULL, QUIRE_DETAIL_FULL, &result));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_body(cache, NULL, text("\xff"), id, text("b"), NULL, QUIRE_DETAIL_FULL, &result));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_body(cache, NULL, none, id, text("b"), NULL, QUIRE_DETAIL_FULL + 1, &result));
    EXPECT(QUIRE_OK, quire_update_body(cache, NULL, text("other"), id, text("b"), NULL, QUIRE_DETAIL_FULL, &result));
    REQUIRE(result == QUIRE_UPDATE_MISSING);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_body(cache, NULL, none, text(""), text("b"), NULL, QUIRE_DETAIL_FULL, &result));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_body(cache, NULL, none, id, sized(NULL, 9), NULL, QUIRE_DETAIL_FULL, &result));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_body(cache, NULL, none, id, text("b"), NULL, QUIRE_DETAIL_FULL, NULL));
    EXPECT(QUIRE_OK, quire_update_body(cache, NULL, none, id, sized(NULL, 0), version, QUIRE_DETAIL_FULL, &result));
    EXPECT(QUIRE_OK, quire_update_body(cache, NULL, none, text("nobody"), text("b"), NULL, QUIRE_DETAIL_FULL, &result));
    REQUIRE(result == QUIRE_UPDATE_MISSING);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_fields(cache, NULL, none, id, NULL, 1, 1, &result));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_fields(cache, NULL, none, id, fields, SIZE_MAX, 1, &result));
    fields[0].name = fields[1].name = text("likes");
    fields[0].value = fields[1].value = text("7");
    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_fields(cache, NULL, none, id, fields, 2, 1, &result));
    fields[0].name = text("\xff");
    EXPECT(QUIRE_BAD_ARGUMENT, quire_update_fields(cache, NULL, none, id, fields, 1, 1, &result));
    fields[0].name = text("dislikes");
    EXPECT(QUIRE_OK, quire_update_fields(cache, NULL, none, id, fields, 2, INT64_MAX, &result));
    REQUIRE(result == QUIRE_UPDATE_CHANGED);
    EXPECT(QUIRE_OK, quire_update_fields(cache, NULL, none, id, fields, 2, INT64_MIN, &result));
    REQUIRE(result == QUIRE_UPDATE_STALE);

    EXPECT(QUIRE_BAD_ARGUMENT, quire_delete(feed, NULL, sized(NULL, 0)));
    EXPECT(QUIRE_OK, quire_delete(feed, NULL, text("nobody")));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_evict(feed, NULL, ids, NULL));
    EXPECT(QUIRE_NOT_FOUND, quire_evict_page(feed, UINT64_MAX, &number));
    REQUIRE(number == 0);
    EXPECT(QUIRE_NOT_FOUND, quire_pin(feed, NULL, text("nobody")));
    EXPECT(QUIRE_NOT_FOUND, quire_unpin(feed, NULL, text("nobody")));
    EXPECT(QUIRE_OK, quire_insert_local(feed, NULL, text("local"), sized(NULL, 0), &result));
    EXPECT(QUIRE_OK, quire_insert_local(feed, NULL, text("local"), text("b"), &result));
    REQUIRE(result == 0);
    EXPECT(QUIRE_OK, quire_remove_local(feed, NULL, text("nobody"), &result));
    REQUIRE(result == 0);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_confirm_local(feed, NULL, text("local"), sized(NULL, 0), &result));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_confirm_local(feed, NULL, text("local"), text("x"), NULL));
    EXPECT(QUIRE_OK, quire_confirm_local(feed, NULL, text("nobody"), text("x"), &result));
    REQUIRE(result == QUIRE_ALIAS_MISSING);
    EXPECT(QUIRE_OK, quire_confirm_local(feed, NULL, text("local"), text("local"), &result));
    REQUIRE(result == QUIRE_ALIAS_SAME);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_add_alias(cache, NULL, none, sized(NULL, 0), text("x"), &result));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_add_alias(cache, NULL, text("\xff"), text("y"), text("x"), &result));
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
    EXPECT(QUIRE_BAD_ARGUMENT, quire_set_attribute(feed, NULL, text("a"), &value));
    value = sized(NULL, 3);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_set_attribute(feed, NULL, text("a"), &value));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_set_attribute(feed, NULL, text(""), NULL));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_set_attribute(feed, NULL, sized(big, 256), NULL));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_set_attribute(feed, NULL, text("\xff"), NULL));
    EXPECT(QUIRE_OK, quire_set_attribute(feed, NULL, text("never set"), NULL));
    value = text("soon");
    EXPECT(QUIRE_OK, quire_set_attribute(feed, NULL, text("retry"), &value));
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_get_attribute(view, feed, sized(big, 256), &seen));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_get_attribute(view, feed, text("retry"), NULL));
    EXPECT(QUIRE_NOT_FOUND, quire_get_attribute(view, feed, text("never set"), &seen));
    EXPECT(QUIRE_OK, quire_get_attribute(view, feed, text("retry"), &seen));
    REQUIRE(seen.size == 4 && memcmp(seen.data, "soon", 4) == 0);
    quire_snapshot_end(view);
}

static void prunes(void)
{
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_prune(feed, NULL, NULL, &result));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_prune(feed, NULL, &policy, NULL));
    policy.flags = 1u << 20;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_prune(feed, NULL, &policy, &result));
    policy.flags = QUIRE_PRUNE_BY_AGE | QUIRE_PRUNE_DRY_RUN;
    policy.maximum_age = -1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_prune(feed, NULL, &policy, &result));
    policy.maximum_age = INT64_MAX;
    policy.now = INT64_MIN;
    EXPECT(QUIRE_OK, quire_prune(feed, NULL, &policy, &result));
    policy.flags |= QUIRE_PRUNE_BY_POSTS | QUIRE_PRUNE_BY_PAGES | QUIRE_PRUNE_BY_BYTES;
    policy.maximum_posts = policy.maximum_pages = policy.maximum_bytes = policy.budget = UINT64_MAX;
    EXPECT(QUIRE_OK, quire_prune(feed, NULL, &policy, &result));
    policy.visible.count = 3;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_prune(feed, NULL, &policy, &result));
}

void misuse_writes(void)
{
    plans();
    ingests();
    odd_ids();
    many();
    records();
    posts();
    attributes();
    prunes();
}
