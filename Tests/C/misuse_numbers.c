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
    quire_feed *paged = NULL, *again = NULL;
    quire_snapshot *view;
    quire_post post;

    options.paging = QUIRE_PAGING_PAGE;
    options.sizes = 3;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("paged"), &options, &paged));
    options.sizes = QUIRE_SIZES_FIXED; /* of how many rows? */
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("paged"), &options, &paged));
    options.rows_per_page = QUIRE_COUNT_LIMIT + 1;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("paged"), &options, &paged));
    options.rows_per_page = 1;
    options.sizes = QUIRE_SIZES_FREE;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_feed_open(cache, text("paged"), &options, &paged));
    options.sizes = QUIRE_SIZES_FIXED;
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("paged"), &options, &paged));
    options.rows_per_page = 2;
    EXPECT(QUIRE_OPTIONS_DIFFER, quire_feed_open(cache, text("paged"), &options, &again));

    place.kind = QUIRE_PLACE_PAGE;
    place.page = QUIRE_PAGE_LIMIT;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(paged, NULL, &place, &request));
    place.kind = QUIRE_PLACE_JOIN; /* above no post */
    EXPECT(QUIRE_BAD_ARGUMENT, quire_plan(paged, NULL, &place, &request));
    place.target = text("nobody");
    EXPECT(QUIRE_OK, quire_plan(paged, NULL, &place, &request));
    REQUIRE(request.kind == QUIRE_REQUEST_NONE && request.refusal == QUIRE_REFUSAL_NO_SUCH_JOIN);
    REQUIRE(request.help == QUIRE_HELP_LOOK_AGAIN);
    REQUIRE(strcmp(quire_refusal_name(request.refusal), "no-such-join") == 0);
    REQUIRE(strcmp(quire_help_name(request.help), "look-again") == 0);
    REQUIRE(strcmp(quire_help_name(99), "unknown") == 0 && strcmp(quire_doubt_name(0), "unknown") == 0);

    place.kind = QUIRE_PLACE_HEAD;
    EXPECT(QUIRE_OK, quire_plan(paged, NULL, &place, &request));
    REQUIRE(request.kind == QUIRE_REQUEST_PAGE && request.position == 1 && request.limit == 0);
    memset(&post, 0, sizeof post);
    post.id = text("p");
    answer.posts = &post;
    answer.count = 1;
    answer.has_total = 2;
    answer.total = UINT64_MAX;
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(paged, NULL, request.ticket, &answer, &outcome));
    answer.has_total = 1;
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

/* Pushed messages. */
static void pushes(void)
{
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_bytes none = sized(NULL, 0);
    quire_feed *live, *by_ids;
    quire_snapshot *view;
    quire_row gap;
    quire_post post;
    size_t count;
    _Alignas(8) char storage[16] = {0};
    const uint64_t *crooked = (const uint64_t *)(const void *)(storage + 1);
    uint64_t number = UINT64_MAX;

    memset(&post, 0, sizeof post);
    post.id = text("p");
    answer.posts = &post;
    answer.count = 1;
    options.paging = QUIRE_PAGING_IDS;
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("pushed ids"), &options, &by_ids));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_push(by_ids, NULL, &answer, NULL, none, &outcome));
    quire_feed_close(by_ids);
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("pushed"), NULL, &live));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_push(live, NULL, NULL, NULL, none, &outcome));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_push(live, NULL, &answer, crooked, none, &outcome));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_push(live, NULL, &answer, NULL, sized(NULL, 1), &outcome));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_push(live, NULL, &answer, NULL, none, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_push(NULL, NULL, &answer, NULL, none, &outcome));
    EXPECT(QUIRE_BAD_ARGUMENT, quire_begin_live(live, NULL, crooked));
    EXPECT(QUIRE_BAD_HANDLE, quire_begin_live((quire_feed *)cache, NULL, NULL));
    EXPECT(QUIRE_BAD_HANDLE, quire_end_live(NULL, NULL));
    EXPECT(QUIRE_OK, quire_end_live(live, NULL));
    EXPECT(QUIRE_OK, quire_begin_live(live, NULL, &number));
    EXPECT(QUIRE_OK, quire_push(live, NULL, &answer, &number, text("nobody"), &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_STALE && outcome.reason.size == 8);
    REQUIRE(outcome.help == QUIRE_HELP_PLAN_AGAIN);
    quire_outcome_free(&outcome);
    EXPECT(QUIRE_OK, quire_begin_live(live, NULL, NULL));
    EXPECT(QUIRE_OK, quire_end_live(live, NULL));
    EXPECT(QUIRE_OK, quire_push(live, NULL, &answer, NULL, none, &outcome));
    quire_outcome_free(&outcome);
    post.id = text("q");
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
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_bytes gone = text("a");
    quire_post post;
    quire_feed *feed;

    memset(&post, 0, sizeof post);
    post.id = text("a");
    answer.posts = &post;
    answer.count = 1;
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("deltas"), NULL, &feed));
    place.kind = QUIRE_PLACE_DELTA;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request)); /* no answer has brought a token */
    REQUIRE(request.kind == QUIRE_REQUEST_NONE && request.refusal == QUIRE_REFUSAL_NO_LINK);
    place.kind = QUIRE_PLACE_HEAD;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    answer.since = sized(NULL, 1);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    answer.since = text("\xff");
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    answer.since = sized("s", QUIRE_TEXT_LIMIT + 1);
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    answer.since = text("s1");
    answer.deleted.count = 1; /* of nothing */
    EXPECT(QUIRE_BAD_ARGUMENT, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    answer.deleted.count = 0;
    EXPECT(QUIRE_OK, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    quire_outcome_free(&outcome);
    quire_request_free(&request);

    place.kind = QUIRE_PLACE_DELTA;
    EXPECT(QUIRE_OK, quire_plan(feed, NULL, &place, &request));
    REQUIRE(request.kind == QUIRE_REQUEST_DELTA && request.link.text.size == 2);
    REQUIRE(memcmp(request.link.text.data, "s1", 2) == 0);
    answer.count = 0;
    answer.since = text("");
    answer.deleted.items = &gone;
    answer.deleted.count = 1;
    EXPECT(QUIRE_OK, quire_ingest(feed, NULL, request.ticket, &answer, &outcome));
    REQUIRE(outcome.verdict == QUIRE_VERDICT_OK && outcome.removed.count == 1);
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    quire_feed_close(feed);
}

void misuse_numbers(void)
{
    numbers();
    deltas();
    pushes();
}
