/*
 * Replays Bindings/conformance.json through the C API.
 *
 *     conformance conformance.json FOLDER        (an empty folder for its caches)
 */
#include "lines.h"
#include "picture.h"
#include "words.h"

static char folder[256], case_id[64];
static int cases, failed_cases, line_number, has_failed;

static quire_cache *cache;
static struct { char name[32]; quire_feed *feed; } feeds[4];
static struct { char label[32]; uint64_t ticket; int is_refused; } tickets[64];
static struct { char label[32]; quire_crawl *crawl; } crawls[8];
static size_t feed_count, ticket_count, crawl_count;

/* ---- Comparing ------------------------------------------------------------------------------------- */

static void differ(const char *what, const char *seen, const char *expected)
{
    has_failed = 1;
    printf("case %s, line %d: %s is %s, expected %s\n", case_id, line_number, what, seen, expected);
}

static void compare_text(const struct line *line, const char *name, const char *seen)
{
    const struct member *expected = find(line, name);
    if (expected && strcmp(expected->text, seen) != 0) differ(name, seen, expected->text);
}

static void compare_number(const struct line *line, const char *name, long long seen)
{
    const struct member *expected = find(line, name);
    char texts[2][32];
    if (!expected || expected->number == seen) return;
    snprintf(texts[0], 32, "%lld", seen);
    snprintf(texts[1], 32, "%lld", expected->number);
    differ(name, texts[0], texts[1]);
}

/* Lists are compared as their items with a line break behind each. */
static void compare_lines(const struct line *line, const char *name, const char *seen)
{
    const struct member *expected = find(line, name);
    struct text joined = {"", 0};
    if (!expected) return;
    for (size_t i = 0; i < expected->count; i++) {
        append_string(&joined, expected->items[i]);
        append_string(&joined, "\n");
    }
    if (strcmp(joined.bytes, seen) != 0) differ(name, seen, joined.bytes);
}

static void compare_ids(const struct line *line, const char *name, quire_ids ids)
{
    struct text joined = {"", 0};
    for (size_t i = 0; i < ids.count; i++) {
        append(&joined, ids.items[i].data, ids.items[i].size);
        append_string(&joined, "\n");
    }
    compare_lines(line, name, joined.bytes);
}

/* Every one of the expected facts must be among those seen. */
static void compare_facts(const struct line *line, const char *name, const char *seen)
{
    const struct member *expected = find(line, name);
    for (size_t i = 0; expected && i < expected->count; i++) {
        struct text fact = {"", 0};
        append_string(&fact, "\n");
        append_string(&fact, expected->items[i]);
        append_string(&fact, "\n");
        if (!strstr(seen, fact.bytes)) differ(name, seen, expected->items[i]);
    }
}

/* ---- Looking --------------------------------------------------------------------------------------- */

static void look_at_pages(const struct line *line, quire_snapshot *snapshot, quire_feed *feed)
{
    static quire_page pages[32];
    static quire_row rows[128];
    struct text facts = {"", 0};
    size_t count, posts;
    if (!find(line, "=page_count")) return;
    append_string(&facts, "\n");
    must(quire_read_pages(snapshot, feed, 0, pages, 32, &count));
    compare_number(line, "=page_count", (long long)count);
    for (size_t i = 0; i < count; i++) {
        const quire_page *page = &pages[i];
        char text[512];
        snprintf(text, sizeof text,
                 "%zu number=%d\n%zu rank=%d\n%zu received=%d\n%zu added=%d\n%zu duplicates=%d\n"
                 "%zu duplicates_in_page=%d\n%zu is_full=%d\n%zu next=",
                 i, (int)page->number, i, (int)page->index, i, (int)page->received, i,
                 (int)page->added, i, (int)page->duplicates, i, (int)page->duplicates_in_page, i,
                 page->is_full, i);
        append_string(&facts, text);
        append_link(&facts, &page->next);
        snprintf(text, sizeof text, "\n%zu ids=", i);
        append_string(&facts, text);
        must(quire_read_page(snapshot, feed, page->number, 0, rows, 128, &posts));
        for (size_t j = 0; j < posts; j++) {
            if (j > 0) append_string(&facts, " ");
            append_id(&facts, &rows[j]);
        }
        append_string(&facts, "\n");
    }
    compare_facts(line, "=pages", facts.bytes);
}

/* What is stored about the posts of all feeds. */
static void look_at_posts(const struct line *line, quire_snapshot *snapshot)
{
    struct text fields = {"\n", 1}, references = {"\n", 1};
    quire_row rows[128];
    size_t count;
    for (size_t i = 0; i < feed_count; i++) {
        must(quire_read_after(snapshot, feeds[i].feed, NULL, rows, 128, &count));
        for (size_t j = 0; j < count; j++) {
            quire_post_info info = QUIRE_POST_INFO_INIT;
            char text[64], digits[QUIRE_DIGITS];
            if (rows[j].kind != QUIRE_ROW_POST) continue;
            must(quire_post_get_info(snapshot, bytes_of(""), quire_row_id(&rows[j], digits), &info));
            append_id(&references, &rows[j]);
            snprintf(text, sizeof text, " %d\n", (int)info.feeds);
            append_string(&references, text);
            for (size_t k = 0; k < info.field_count; k++) {
                append_id(&fields, &rows[j]);
                append_string(&fields, " ");
                append(&fields, info.fields[k].name.data, info.fields[k].name.size);
                append_string(&fields, "=");
                append(&fields, info.fields[k].value.data, info.fields[k].value.size);
                append_string(&fields, "\n");
            }
        }
    }
    compare_facts(line, "=fields", fields.bytes);
    compare_facts(line, "=references", references.bytes);
}

static void look_at_joins(const struct line *line, quire_snapshot *snapshot, quire_feed *feed)
{
    struct text joins = {"", 0}, checked = {"", 0}, doubts = {"", 0};
    quire_row rows[128];
    const quire_row *above = NULL;
    size_t count;
    must(quire_read_after(snapshot, feed, NULL, rows, 128, &count));
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind != QUIRE_ROW_POST || rows[i].flags & QUIRE_ROW_DETACHED) continue;
        if (rows[i].flags & QUIRE_ROW_UNVERIFIED && above) {
            append_id(&joins, above);
            append_string(&joins, " ");
            append_id(&joins, &rows[i]);
            append_string(&joins, "\n");
            append_string(&doubts, quire_doubt_name(rows[i].why));
            append_string(&doubts, "\n");
        }
        if (rows[i].flags & QUIRE_ROW_CHECKED && above) {
            append_id(&checked, above);
            append_string(&checked, " ");
            append_id(&checked, &rows[i]);
            append_string(&checked, "\n");
        }
        above = &rows[i];
    }
    compare_lines(line, "=unverified", joins.bytes);
    compare_lines(line, "=checked", checked.bytes);
    compare_lines(line, "=joins", doubts.bytes);
}

static void look_at_gaps(const struct line *line, quire_snapshot *snapshot, quire_feed *feed)
{
    struct text doubts = {"", 0}, times = {"", 0};
    quire_row gaps[128];
    size_t count;
    must(quire_read_gaps(snapshot, feed, NULL, gaps, 128, &count));
    for (size_t i = 0; i < count; i++) {
        char time[32];
        snprintf(time, sizeof time, "%lld\n", (long long)gaps[i].since);
        append_string(&times, time);
        append_string(&doubts, quire_doubt_name(gaps[i].why));
        append_string(&doubts, "\n");
    }
    compare_lines(line, "=why", doubts.bytes);
    compare_lines(line, "=since", times.bytes);
}

static void append_policy(struct text *text, int32_t sizes, uint32_t rows)
{
    static const char *const words[] = {"unknown", "free", "fixed"};
    char number[16];
    append_string(text, words[sizes]);
    if (sizes != QUIRE_SIZES_FIXED) return;
    snprintf(number, sizeof number, " %d", (int)rows);
    append_string(text, number);
}

/* What every step may expect of the feed after it. */
static void look(const struct line *line, quire_feed *feed)
{
    quire_snapshot *snapshot;
    quire_feed_info info = QUIRE_FEED_INFO_INIT;
    struct text picture, policy = {"", 0};
    size_t findings;
    must(quire_check(cache, 0, 0, NULL, NULL, NULL, &findings));
    if (findings > 0) differ("check", "findings", "none");
    must(quire_snapshot_begin(cache, &snapshot));
    draw(snapshot, feed, &picture);
    compare_text(line, "=picture", picture.bytes);
    must(quire_feed_get_info(snapshot, feed, &info));
    compare_number(line, "=in_sequence", info.is_in_sequence);
    compare_number(line, "=assumed_end", info.is_end_assumed);
    compare_number(line, "=against_order", (long long)info.answers_against_order);
    compare_number(line, "=size", info.rows_known);
    append_policy(&policy, info.sizes_now, info.rows_known);
    compare_text(line, "=policy", policy.bytes);
    look_at_joins(line, snapshot, feed);
    look_at_gaps(line, snapshot, feed);
    look_at_pages(line, snapshot, feed);
    look_at_posts(line, snapshot);
    quire_snapshot_end(snapshot);
}

#include "steps.h"

/* ---- The file -------------------------------------------------------------------------------------- */

static void finish_case(void)
{
    for (size_t i = 0; i < feed_count; i++) quire_feed_close(feeds[i].feed);
    for (size_t i = 0; i < crawl_count; i++) quire_crawl_end(crawls[i].crawl);
    quire_close(cache);
    feed_count = ticket_count = crawl_count = 0;
    failed_cases += has_failed;
    has_failed = 0;
}

static void start_case(const struct line *line)
{
    quire_cache_options options = QUIRE_CACHE_OPTIONS_INIT;
    char path[400];
    if (cases > 0) finish_case();
    cases++;
    snprintf(case_id, sizeof case_id, "%s", text_of(line, "id"));
    snprintf(path, sizeof path, "%s/%s.quire", folder, case_id);
    options.durability = QUIRE_DURABILITY_RELAXED;
    options.map_size = 1 << 24;
    must(quire_open(path, &options, &cache));
}

int main(int argc, char **argv)
{
    static char buffer[65536];
    static struct line line;
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: %s conformance.json FOLDER\n", argv[0]);
        return 2;
    }
    snprintf(folder, sizeof folder, "%s", argv[2]);
    while (fgets(buffer, sizeof buffer, file)) {
        line_number++;
        read_line(buffer, &line);
        if (strcmp(text_of(&line, "op"), "case") == 0) {
            start_case(&line);
        } else {
            take(&line);
        }
    }
    fclose(file);
    finish_case();
    printf("%d cases, %d failed\n", cases, failed_cases);
    return failed_cases == 0 && cases > 0 ? 0 : 1;
}
