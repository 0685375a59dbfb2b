/* Structs of other versions: shorter than the first release's, longer than today's. */
#include "misuse.h"

static quire_snapshot *view;
static quire_feed *shown;
static quire_window *window;

/* ---- What is passed -------------------------------------------------------------------------------- */

static quire_status open_cache(const void *given)
{
    quire_cache *out;
    quire_status status = quire_open(path("structs.quire"), given, &out);
    quire_close(out);
    return status;
}

static quire_status open_with_budget(const void *given)
{
    quire_cache *out;
    quire_status status = quire_open_with_budget(path("structs.quire"), NULL, given, &out);
    quire_close(out);
    return status;
}

static quire_status open_feed(const void *given)
{
    quire_feed *out;
    quire_status status = quire_feed_open(cache, text("of structs"), given, &out);
    quire_feed_close(out);
    return status;
}

static quire_status plan_at(const void *given)
{
    quire_request request = QUIRE_REQUEST_INIT;
    quire_status status = quire_plan(shown, NULL, given, &request);
    quire_request_free(&request);
    return status;
}

static quire_status push_answer(const void *given)
{
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    quire_status status = quire_push(shown, NULL, given, NULL, sized(NULL, 0), &outcome);
    quire_outcome_free(&outcome);
    return status;
}

static quire_status prune_by(const void *given)
{
    quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;
    return quire_prune(shown, NULL, given, &result);
}

static quire_status open_window(const void *given)
{
    quire_window *out;
    quire_status status = quire_window_open(view, shown, given, &out);
    quire_window_close(out);
    return status;
}

static int32_t choose(void *context, const quire_row *post, quire_view_entry *out_entry)
{
    (void)context, (void)post, (void)out_entry;
    return 1;
}

static quire_status open_view(const void *given)
{
    quire_view *out;
    quire_status status = quire_view_open(shown, text("all"), given, choose, NULL, &out);
    quire_view_close(out);
    return status;
}

/* A struct ends where no other memory begins, so that AddressSanitizer and valgrind see a read behind it. */
static quire_status pass(quire_status (*call)(const void *), const void *right, size_t known, uint32_t size, int last)
{
    size_t room = size < 4 ? 4 : size;
    unsigned char *given = calloc(1, room);
    memcpy(given, right, room < known ? room : known);
    memcpy(given, &size, sizeof size);
    if (last) given[room - 1] = 1;
    quire_status status = call(given);
    free(given);
    return status;
}

static void arguments(void)
{
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    quire_budget budget = QUIRE_BUDGET_INIT;
    quire_feed_options feed_options = QUIRE_FEED_OPTIONS_INIT;
    quire_place place = QUIRE_PLACE_INIT;
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    quire_window_start start = QUIRE_WINDOW_START_INIT;
    quire_view_options view_options = QUIRE_VIEW_OPTIONS_INIT;
    const struct {
        const char *what;
        quire_status (*call)(const void *);
        const void *right;
        uint32_t size;
    } rows[] = {
        {"quire_cache_options", open_cache, &options, sizeof options},
        {"quire_budget", open_with_budget, &budget, sizeof budget},
        {"quire_feed_options", open_feed, &feed_options, sizeof feed_options},
        {"quire_place", plan_at, &place, sizeof place},
        {"quire_answer", push_answer, &answer, sizeof answer},
        {"quire_prune_policy", prune_by, &policy, sizeof policy},
        {"quire_window_start", open_window, &start, sizeof start},
        {"quire_view_options", open_view, &view_options, sizeof view_options},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t size = rows[i].size;
        const uint32_t wrong[] = {0, 3, 4, 8, size - 8, size - 1, 4097, UINT32_MAX};
        expect(QUIRE_OK, pass(rows[i].call, rows[i].right, size, size, 0), rows[i].what);
        expect(QUIRE_OK, pass(rows[i].call, rows[i].right, size, size + 1, 0), rows[i].what);
        expect(QUIRE_OK, pass(rows[i].call, rows[i].right, size, size + 72, 0), rows[i].what);
        expect(QUIRE_OK, pass(rows[i].call, rows[i].right, size, 4096, 0), rows[i].what);
        expect_row(BAD, "newer", pass(rows[i].call, rows[i].right, size, size + 1, 1), rows[i].what);
        expect_row(BAD, "newer", pass(rows[i].call, rows[i].right, size, 4096, 1), rows[i].what);
        for (size_t j = 0; j < COUNT(wrong); j++) {
            uint64_t header[1] = {wrong[j]};
            quire_status status = wrong[j] > 4096 ? rows[i].call(header)
                                                  : pass(rows[i].call, rows[i].right, size, wrong[j], 0);
            expect_row(BAD, "struct_size", status, rows[i].what);
        }
    }
}

/* Posts of a newer header lie further apart. */
static void posts(void)
{
    struct { quire_post known; uint64_t more; } newer[2];
    quire_answer answer = QUIRE_ANSWER_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    memset(newer, 0, sizeof newer);
    newer[0].known.id = newer[0].known.body = text("first");
    newer[1].known.id = newer[1].known.body = text("second");
    answer.posts = &newer[0].known;
    answer.post_size = sizeof *newer;
    answer.count = 2;
    newer[1].more = 1;
    EXPECT(BAD, quire_push(shown, NULL, &answer, NULL, sized(NULL, 0), &outcome));
    newer[1].more = 0;
    EXPECT(QUIRE_OK, quire_push(shown, NULL, &answer, NULL, sized(NULL, 0), &outcome));
    REQUIRE(outcome.added.count == 2 && outcome.added.items[1].size == 6);
    quire_outcome_free(&outcome);
    answer.post_size = sizeof(quire_post) - 8;
    EXPECT(BAD, quire_push(shown, NULL, &answer, NULL, sized(NULL, 0), &outcome));
}

/* ---- What is got ----------------------------------------------------------------------------------- */

static quire_status get_error(void *out) { return quire_last_error(out); }
static quire_status get_names(void *out) { return quire_feed_names(cache, out); }
static quire_status get_totals(void *out) { return quire_stats(cache, out); }
static quire_status get_evictions(void *out) { return quire_get_evictions(cache, out); }
static quire_status get_info(void *out) { return quire_feed_get_info(view, shown, out); }
static quire_status get_post(void *out) { return quire_post_get_info(view, sized(NULL, 0), text("p"), out); }
static quire_status get_window(void *out) { return quire_window_get_info(window, out); }
static quire_status get_difference(void *out) { return quire_window_update(window, view, out); }
static quire_status get_repair(void *out) { return quire_repair(path("sound.quire"), 0, NULL, NULL, out); }

static quire_status get_request(void *out)
{
    quire_place place = QUIRE_PLACE_INIT;
    return quire_plan(shown, NULL, &place, out);
}

static quire_status get_outcome(void *out)
{
    quire_answer answer = QUIRE_ANSWER_INIT;
    return quire_push(shown, NULL, &answer, NULL, sized(NULL, 0), out);
}

static quire_status get_pruned(void *out)
{
    quire_prune_policy policy = QUIRE_PRUNE_POLICY_INIT;
    return quire_prune(shown, NULL, &policy, out);
}

static quire_status get_view(void *out)
{
    quire_view *found;
    quire_status status = quire_view_find(shown, text("all"), &found);
    if (status == QUIRE_OK) status = quire_view_get_info(view, found, out);
    quire_view_close(found);
    return status;
}

static void free_list(void *out) { quire_list_free(out); }
static void free_request(void *out) { quire_request_free(out); }
static void free_outcome(void *out) { quire_outcome_free(out); }
static void free_report(void *out) { quire_repair_report_free(out); }

/* A result of `size` bytes, with other bytes around it. Those must stay. What is beyond what the library knows is zeroed. */
static void get(const char *what, quire_status (*call)(void *), void (*release)(void *), uint32_t known, uint32_t size)
{
    _Alignas(8) unsigned char around[6000];
    int is_kept = 1, is_zeroed = 1;
    memset(around, 0xA5, sizeof around);
    memcpy(around + 64, &size, sizeof size);
    expect(QUIRE_OK, call(around + 64), what);
    for (size_t i = 0; i < sizeof around; i++) {
        if (i < 64 || i >= 64 + (size_t)size) is_kept &= around[i] == 0xA5;
        else if (i >= 64 + (size_t)known) is_zeroed &= around[i] == 0;
    }
    require(is_kept && is_zeroed && memcmp(around + 64, &size, sizeof size) == 0, what);
    if (!release) return;
    release(around + 64);
    for (size_t i = 68; i < 64 + (size_t)size; i++) is_zeroed &= around[i] == 0;
    require(is_zeroed && around[64 + size] == 0xA5, what);
}

static void results(void)
{
    const struct {
        const char *what;
        quire_status (*call)(void *);
        void (*release)(void *);
        uint32_t size;
    } rows[] = {
        {"quire_error", get_error, NULL, sizeof(quire_error)},
        {"quire_list", get_names, free_list, sizeof(quire_list)},
        {"quire_statistics", get_totals, NULL, sizeof(quire_statistics)},
        {"quire_evictions", get_evictions, NULL, sizeof(quire_evictions)},
        {"quire_repair_report", get_repair, free_report, sizeof(quire_repair_report)},
        {"quire_request", get_request, free_request, sizeof(quire_request)},
        {"quire_outcome", get_outcome, free_outcome, sizeof(quire_outcome)},
        {"quire_prune_result", get_pruned, NULL, sizeof(quire_prune_result)},
        {"quire_feed_info", get_info, NULL, sizeof(quire_feed_info)},
        {"quire_post_info", get_post, NULL, sizeof(quire_post_info)},
        {"quire_window_info", get_window, NULL, sizeof(quire_window_info)},
        {"quire_difference", get_difference, NULL, sizeof(quire_difference)},
        {"quire_view_info", get_view, NULL, sizeof(quire_view_info)},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t size = rows[i].size;
        const uint32_t right[] = {size, size + 1, size + 72, 4096};
        const uint32_t wrong[] = {0, 4, size - 8, size - 1, 4097, UINT32_MAX};
        for (size_t j = 0; j < COUNT(right); j++)
            get(rows[i].what, rows[i].call, rows[i].release, size, right[j]);
        for (size_t j = 0; j < COUNT(wrong); j++) {
            _Alignas(8) uint32_t none[1500] = {wrong[j], 0xA5A5A5A5};
            const uint32_t before[1500] = {wrong[j], 0xA5A5A5A5};
            quire_status status = rows[i].call(none);
            require(status == QUIRE_BAD_ARGUMENT, rows[i].what);
            if (rows[i].release) rows[i].release(none);
            require(memcmp(none, before, sizeof none) == 0, rows[i].what);
        }
    }
}

void misuse_structs(void)
{
    quire_cache *sound;
    quire_list kept = QUIRE_LIST_INIT;
    int32_t done;
    EXPECT(QUIRE_OK, quire_open(path("sound.quire"), NULL, &sound));
    quire_close(sound);
    EXPECT(QUIRE_OK, quire_feed_open(cache, text("of results"), NULL, &shown));
    EXPECT(QUIRE_OK, quire_insert_local(shown, NULL, text("p"), text("p"), &done));
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    arguments();
    posts();
    EXPECT(QUIRE_OK, quire_window_open(view, shown, NULL, &window));
    quire_snapshot_end(view);
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view));
    results();
    quire_window_close(window);
    quire_snapshot_end(view);

    /* what says a size that it cannot have is not freed */
    EXPECT(QUIRE_OK, quire_feed_names(cache, &kept));
    kept.struct_size = 8;
    quire_list_free(&kept);
    REQUIRE(kept.count > 0 && kept.items[0].size > 0);
    kept.struct_size = sizeof kept;
    quire_list_free(&kept);
    REQUIRE(kept.count == 0 && kept.owner == NULL);
    EXPECT(QUIRE_OK, quire_feed_drop(shown, NULL));
    quire_feed_close(shown);
}
