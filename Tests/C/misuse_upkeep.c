/* Misuse of what keeps a cache, or a file, in order. */
#include "misuse.h"

/* ---- Totals ---------------------------------------------------------------------------------------- */

static void totals(void)
{
    quire_statistics statistics = QUIRE_STATISTICS_INIT;
    statistics.struct_size = 0;
    quire_list list = QUIRE_LIST_INIT;
    uint64_t number;
    EXPECT(BAD, quire_stats(cache, NULL));
    EXPECT(BAD, quire_stats(cache, &statistics));
    EXPECT(BAD, quire_reclaim(cache, SIZE_MAX, &number));
    EXPECT(BAD, quire_feed_names(cache, NULL));
    EXPECT(QUIRE_OK, quire_feed_names(cache, &list));
    REQUIRE(list.count >= 4);
    quire_list copy = list;
    quire_list_free(&list);
    quire_list_free(&copy);
    quire_list_free(NULL);
    REQUIRE(quire_last_error(NULL) == QUIRE_BAD_ARGUMENT);
    REQUIRE(strcmp(quire_status_name(12345), "unknown") == 0);
    REQUIRE(strcmp(quire_verdict_name(INT32_MIN), "unknown") == 0);
    REQUIRE(strcmp(quire_refusal_name(0), "unknown") == 0);
    REQUIRE(strcmp(quire_finding_name(-1), "unknown") == 0);
    REQUIRE(quire_version_number() == QUIRE_VERSION_NUMBER);
    REQUIRE(strcmp(quire_version_string(), QUIRE_VERSION_STRING) == 0);
    EXPECT(QUIRE_OK, quire_generation(cache, &number));
    EXPECT(QUIRE_TIMEOUT, quire_wait(cache, UINT64_MAX, 0, &number));
    REQUIRE(number > 0);
    EXPECT(QUIRE_TIMEOUT, quire_wait(cache, number, 20, &number));
    EXPECT(QUIRE_OK, quire_wait(cache, 0, UINT32_MAX, &number));
    EXPECT(BAD, quire_wait(cache, 0, 0, NULL));
}

/* ---- Checks ---------------------------------------------------------------------------------------- */

/* What a search told. */
struct told {
    int findings, calls;
    double last;
    quire_status answer;
};

static void count_finding(void *context, const quire_finding *finding)
{
    size_t again;
    struct told *told = context;
    told->findings += finding->location.size > 0 && finding->message.size > 0;
    EXPECT(QUIRE_OK, quire_check(cache, QUIRE_CHECK_QUICK, 0, NULL, NULL, NULL, &again));
}

static quire_status hear(void *context, double done)
{
    quire_snapshot *view;
    struct told *told = context;
    REQUIRE(done >= 0 && done <= 1 && done >= told->last);
    EXPECT(QUIRE_OK, quire_snapshot_begin(cache, &view)); /* it may read */
    quire_snapshot_end(view);
    told->last = done;
    told->calls++;
    return told->answer;
}

static void checks(void)
{
    size_t count = 7;
    struct told told = {0, 0, 0, QUIRE_OK};
    EXPECT(BAD, quire_check(cache, 0, 0, NULL, NULL, NULL, NULL));
    EXPECT(BAD, quire_check(cache, 0, SIZE_MAX, NULL, NULL, NULL, &count));
    REQUIRE(count == 0);
    EXPECT(BAD, quire_check(cache, 2, 0, NULL, NULL, NULL, &count));
    EXPECT(BAD, quire_check(cache, UINT32_MAX, 0, NULL, NULL, NULL, &count));
    EXPECT(QUIRE_BAD_HANDLE, quire_check(closed_cache, 0, 0, NULL, hear, &told, &count));
    REQUIRE(told.calls == 0);
    EXPECT(QUIRE_OK, quire_check(cache, 0, 0, NULL, NULL, NULL, &count));
    REQUIRE(count == 0);
    EXPECT(QUIRE_OK, quire_check(cache, 0, SIZE_MAX / 2, count_finding, hear, &told, &count));
    REQUIRE(count == 0 && told.findings == 0 && told.calls > 4 && told.last > 0.5);
    told = (struct told){0, 0, 0, 77};
    for (uint32_t flags = 0; flags <= QUIRE_CHECK_QUICK; flags++) {
        told.last = 0;
        REQUIRE(quire_check(cache, flags, 0, count_finding, hear, &told, &count) == 77);
    }
    REQUIRE(count == 0 && told.findings == 0 && told.calls == 2);
    told = (struct told){0, 0, 0, QUIRE_OK};
    EXPECT(QUIRE_OK, quire_check(cache, QUIRE_CHECK_QUICK, 0, count_finding, hear, &told, &count));
    REQUIRE(count == 0 && told.calls > 0);
}

/* ---- Files that are not open ----------------------------------------------------------------------- */

static quire_status stop(void *context, double done)
{
    (void)context;
    return done > 0.1 ? 77 : QUIRE_OK;
}

static void files(void)
{
    size_t count = 7;
    uint64_t freed = 7;
    quire_repair_report report = QUIRE_REPAIR_REPORT_INIT;
    char name[1024];
    struct told told = {0, 0, 0, QUIRE_OK};
    quire_cache *tested;
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    options.flags = QUIRE_VERIFY_ON_OPEN;

    EXPECT(BAD, quire_verify(NULL, 0, NULL, NULL, NULL, &count));
    EXPECT(BAD, quire_verify(path("text"), SIZE_MAX, NULL, NULL, NULL, &count));
    EXPECT(BAD, quire_verify(path("text"), 0, NULL, NULL, NULL, NULL));
    EXPECT(QUIRE_NOT_A_CACHE, quire_verify(path("text"), 0, NULL, NULL, NULL, &count));
    EXPECT(BAD, quire_repair(NULL, 0, NULL, NULL, &report));
    EXPECT(BAD, quire_repair(path("text"), 2, NULL, NULL, &report));
    EXPECT(BAD, quire_repair(path("text"), 0, NULL, NULL, NULL));
    EXPECT(QUIRE_NOT_A_CACHE, quire_repair(path("text"), 0, NULL, NULL, &report));
    EXPECT(BAD, quire_compact(NULL, NULL, NULL, &freed));
    EXPECT(BAD, quire_compact(path("text"), NULL, NULL, NULL));
    EXPECT(QUIRE_NOT_A_CACHE, quire_compact(path("text"), NULL, NULL, &freed));

    snprintf(name, sizeof name, "%s", path("closed.quire"));
    EXPECT(QUIRE_OK, quire_copy(cache, name));
    EXPECT(QUIRE_OK, quire_verify(name, 0, count_finding, hear, &told, &count));
    REQUIRE(count == 0 && told.findings == 0 && told.calls > 2 && told.last > 0.5);
    told = (struct told){0, 0, 0, 78};
    REQUIRE(quire_verify(name, 0, count_finding, hear, &told, &count) == 78);
    REQUIRE(count == 0 && told.calls == 1);
    EXPECT(QUIRE_OK, quire_open(name, &options, &tested));
    EXPECT(BAD, quire_verify(name, 0, NULL, NULL, NULL, &count));
    quire_close(tested);
    REQUIRE(quire_compact(name, stop, NULL, &freed) == 77);
    EXPECT(QUIRE_OK, quire_compact(name, NULL, NULL, &freed));
    EXPECT(QUIRE_OK, quire_repair(name, 0, NULL, NULL, &report));
    REQUIRE(report.is_sound && report.count == 0 && report.kept_file.size == 0);
    quire_repair_report_free(&report);
    EXPECT(QUIRE_NOT_A_CACHE, quire_open(path("text"), &options, &tested));

    /* the tree's root and all behind it are gone */
    FILE *file = fopen(name, "r+b");
    static const char zeros[8 * 4096];
    fseek(file, 2 * 4096, SEEK_SET);
    fwrite(zeros, 1, sizeof zeros, file);
    fclose(file);
    EXPECT(QUIRE_OK, quire_verify(name, 0, count_finding, NULL, &told, &count));
    REQUIRE(count > 1 && told.findings == (int)count);
    EXPECT(QUIRE_OK, quire_verify(name, 1, NULL, NULL, NULL, &count));
    REQUIRE(count == 1);
    EXPECT(QUIRE_CORRUPT, quire_open(name, &options, &tested));
    REQUIRE(tested == NULL);
    EXPECT(QUIRE_CORRUPT, quire_compact(name, NULL, NULL, &freed));
    REQUIRE(quire_repair(name, 0, stop, NULL, &report) == 77);
    EXPECT(QUIRE_OK, quire_repair(name, QUIRE_REPAIR_DRY_RUN, NULL, NULL, &report));
    REQUIRE(!report.is_sound && report.kept_file.size == 0);
    quire_repair_report_free(&report);
    EXPECT(QUIRE_OK, quire_repair(name, 0, NULL, NULL, &report));
    REQUIRE(!report.is_sound && report.kept_file.size > 0);
    quire_repair_report copy = report;
    quire_repair_report_free(&report);
    quire_repair_report_free(&copy);
    quire_repair_report_free(NULL);
    EXPECT(QUIRE_OK, quire_verify(name, 0, NULL, NULL, NULL, &count));
    REQUIRE(count == 0);
}

void misuse_upkeep(void)
{
    totals();
    checks();
    files();
}
