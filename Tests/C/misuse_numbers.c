/* Misuse of what feeds paged by number ask for, and of posts that are pushed. */
#include "misuse.h"

/* Places, totals and sizes of feeds that are paged by number. */
static void numbers(void)
{
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    quire_feed *paged;
    quire_snapshot *view;
    quire_post post[] = POST();

    options.paging = QUIRE_PAGING_PAGE;
    options.sizes = QUIRE_SIZES_FIXED;
    options.rows_per_page = 1;
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("paged"), &options, &paged));
    place.kind = QUIRE_PLACE_JOIN;
    place.target = text("absent");
    EXPECT(QUIRE_OK, quire_plan(paged, NULL, &place, &request));
    REQUIRE(request.help == QUIRE_HELP_LOOK_AGAIN);
    REQUIRE(strcmp(quire_help_name(request.help), "look-again") == 0);
    REQUIRE(strcmp(quire_help_name(99), "unknown") == 0 && strcmp(quire_doubt_name(0), "unknown") == 0);

    place.kind = QUIRE_PLACE_HEAD;
    EXPECT(QUIRE_OK, quire_plan(paged, NULL, &place, &request));
    REQUIRE(request.kind == QUIRE_REQUEST_PAGE && request.position == 1 && request.limit == 0);
    answer = (quire_answer)ANSWER(.posts = post, .has_total = 1, .total = UINT64_MAX);
    EXPECT(QUIRE_OK, quire_ingest(paged, NULL, request.ticket, &answer, &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_OK && outcome.help == 0 && outcome.disproved_sizes == 0);
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    EXPECT(QUIRE_OK, quire_feed_get_info(view, paged, &info));
    REQUIRE(info.sizes == QUIRE_SIZES_FIXED && info.rows_per_page == 1);
    REQUIRE(info.sizes_now == QUIRE_SIZES_FIXED && info.rows_known == 1 && info.answers_against_order == 0);
    quire_snapshot_end(view);
    quire_feed_close(paged);
}

/* What is wrong with one item of an array is said with its index. */
static void places(void)
{
    static const quire_bytes ids[] = {BYTES("x"), {NULL, 0}};
    static const quire_post no_id[] = {{.id = BYTES("p")}, {.id = BYTES("q")}, {.id = {NULL, 0}}};
    static const quire_post no_body[] = {{.id = BYTES("p")}, {.id = BYTES("q"), .body = {NULL, 1}}};
    static const struct { const char *says; quire_answer answer; } rows[] = {
        {"the posts[2]: an id is empty", ANSWER(.posts = no_id, .count = 3)},
        {"the posts[1]: ", ANSWER(.posts = no_body, .count = 2)},
        {"the deleted posts[1]: an id is empty", ANSWER(.count = 0, .deleted = {ids, 2})},
    };
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    uint8_t flags[2];

    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_row(BAD, rows[i].says, quire_ingest(feed, NULL, 1, &rows[i].answer, &outcome), rows[i].says);
    }
    expect_row(BAD, "the ids[1]: ", quire_contains(feed, (quire_ids){ids, 2}, flags), "an id that is empty");
}

/* Pushed messages. */
static void pushes(void)
{
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    quire_post post[] = POST();
    quire_answer answer = ANSWER(.posts = post);
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_bytes none = sized(NULL, 0);
    quire_feed *live, *by_ids;
    quire_crawl *crawl;
    quire_snapshot *view;
    quire_row gap;
    size_t count;
    _Alignas(8) char storage[16] = {0};
    const uint64_t *crooked = (const uint64_t *)(const void *)(storage + 1);
    uint64_t number = UINT64_MAX;

    options.paging = QUIRE_PAGING_IDS;
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("pushed ids"), &options, &by_ids));
    EXPECT(BAD, quire_push(by_ids, NULL, &answer, NULL, none, &outcome));
    EXPECT(QUIRE_OK, quire_crawl_begin(by_ids, QUIRE_CRAWL_HEAD, 1, &crawl));
    EXPECT(BAD, quire_crawl_ingest(crawl, NULL, 1, &answer, &outcome));
    quire_crawl_end(crawl);
    quire_feed_close(by_ids);
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("pushed"), NULL, &live));
    EXPECT(BAD, quire_push(live, NULL, NULL, NULL, none, &outcome));
    EXPECT(BAD, quire_push(live, NULL, &answer, crooked, none, &outcome));
    EXPECT(BAD, quire_push(live, NULL, &answer, NULL, sized(NULL, 1), &outcome));
    EXPECT(BAD, quire_push(live, NULL, &answer, NULL, none, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_push(NULL, NULL, &answer, NULL, none, &outcome));
    EXPECT(BAD, quire_begin_live(live, NULL, crooked));
    EXPECT(QUIRE_BAD_HANDLE, quire_begin_live((quire_feed *)cache, NULL, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_end_live(NULL, NULL));
    EXPECT(QUIRE_OK, quire_end_live(live, NULL));
    EXPECT(QUIRE_OK, quire_begin_live(live, NULL, &number));
    EXPECT(QUIRE_OK, quire_push(live, NULL, &answer, &number, text("absent"), &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_STALE && outcome.reason.size == 8);
    REQUIRE(outcome.help == QUIRE_HELP_PLAN_AGAIN);
    quire_outcome_free(&outcome);
    EXPECT(QUIRE_OK, quire_begin_live(live, NULL, NULL));
    EXPECT(QUIRE_OK, quire_end_live(live, NULL));
    EXPECT(QUIRE_OK, quire_push(live, NULL, &answer, NULL, none, &outcome));
    quire_outcome_free(&outcome);
    post->id = text("q");
    EXPECT(QUIRE_OK, quire_push(live, NULL, &answer, NULL, none, &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_GAP && outcome.gaps_opened == 1);
    quire_outcome_free(&outcome);
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    EXPECT(QUIRE_OK, quire_read_gaps(view, live, NULL, &gap, 1, &count));
    REQUIRE(count == 1 && gap.why == QUIRE_DOUBT_MISSED && gap.since > 0);
    REQUIRE(strcmp(quire_doubt_name(gap.why), "missed") == 0);
    quire_snapshot_end(view);
    quire_feed_close(live);
}

/* What has changed since a token. */
static void deltas(void)
{
    quire_post post[] = POST();
    quire_answer answer = ANSWER(.posts = post, .since = BYTES("s1"));
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_feed *feed;

    EXPECT(QUIRE_OK, quire_feed_open(cache, text("deltas"), NULL, &feed));
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    EXPECT(QUIRE_OK, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    quire_outcome_free(&outcome);
    quire_request_free(&request);

    place.kind = QUIRE_PLACE_DELTA;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    REQUIRE(request.kind == QUIRE_REQUEST_DELTA && request.link.text.size == 2);
    REQUIRE(memcmp(request.link.text.data, "s1", 2) == 0);
    answer = (quire_answer)ANSWER(.count = 0, .deleted = {&post->id, 1});
    EXPECT(QUIRE_OK, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_OK && outcome.removed.count == 1);
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    quire_feed_close(feed);
}

void misuse_numbers(void)
{
    numbers();
    places();
    deltas();
    pushes();
}
