/*
 * libquire-profiles: what it parses, what it refuses, and that no response makes it crash: responses that are cut off
 * at every byte, and responses with random bytes changed.
 *
 *     profiles FOLDER [SEED]
 */
#include <quire_profiles.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REQUIRE(what) \
    do { \
        if (!(what)) { \
            quire_error error_ = QUIRE_ERROR_INIT; \
            quire_profiles_last_error(&error_); \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, error_.message ? error_.message : ""); \
            exit(1); \
        } \
    } while (0)

static quire_bytes text(const char *string)
{
    quire_bytes bytes = {string, strlen(string)};
    return bytes;
}

static int same(quire_bytes bytes, const char *string)
{
    return bytes.size == strlen(string) && memcmp(bytes.data, string, bytes.size) == 0;
}

static int error_says(const char *words)
{
    quire_error error = QUIRE_ERROR_INIT;
    quire_profiles_last_error(&error);
    return strstr(error.message, words) != NULL;
}

static quire_profile *open_profile(const char *name, const char *key)
{
    quire_profile *profile = NULL;
    quire_profile_options options = QUIRE_PROFILE_OPTIONS_INIT;
    options.key = text(key);
    REQUIRE(quire_profile_open(text(name), &options, &profile) == QUIRE_OK);
    return profile;
}

static const char github[] =
    "[{\"id\": 12, \"updated_at\": \"2024-01-02T03:04:05Z\", \"n\": \"\\u00e4\"},\n"
    " {\"id\": 11, \"updated_at\": \"2024-01-01T00:00:00Z\"}]";
static const char questions[] =
    "{\"items\": [{\"question_id\": 7, \"last_activity_date\": 1700000100},"
    " {\"question_id\": 5, \"last_activity_date\": 1700000000}],"
    " \"has_more\": true, \"quota_remaining\": 299, \"backoff\": 10, \"page\": 2}";
static const char own_profile[] =
    " {\"name\": \"mine\", \"items\": \"rows\", \"id\": {\"path\": \"key\"}, \"next\": {\"path\": \"cursor\"},"
    " \"sizes\": 25, \"paging\": \"page\", \"order\": \"stable\", \"first_page\": 0}";
static const char own[] = "{\"rows\": [{\"key\": \"a\"}, {\"key\": \"b\"}], \"cursor\": \"next-9\"}";
static const char recorded[] =
    "GET https://api.github.com/repos/a/b/issues?page=2\r\nHTTP/1.1 200 OK\r\n"
    "Link: <https://api.github.com/repos/a/b/issues?page=3>; rel=\"next\"\r\n\r\n[{\"id\": 3, \"updated_at\":"
    " \"2024-01-01T00:00:00Z\"}]";

static quire_feed *new_feed(quire_cache *cache, quire_profile *profile, const char *name)
{
    quire_feed *feed = NULL;
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    REQUIRE(quire_profile_get_feed_options(profile, &options) == QUIRE_OK);
    REQUIRE(quire_feed_open(cache, text(name), &options, &feed) == QUIRE_OK);
    return feed;
}

static int32_t ingest(quire_feed *feed, const quire_answer *answer)
{
    quire_place place = QUIRE_PLACE_INIT;
    quire_request request = QUIRE_REQUEST_INIT;
    quire_outcome outcome = QUIRE_OUTCOME_INIT;
    int32_t verdict;
    REQUIRE(quire_plan(feed, NULL, &place, &request) == QUIRE_OK);
    REQUIRE(quire_ingest(feed, NULL, request.ticket, answer, &outcome) == QUIRE_OK);
    verdict = outcome.verdict;
    quire_outcome_free(&outcome);
    quire_request_free(&request);
    return verdict;
}

/* A Link header and an address: GitHub. */
static void headers(quire_cache *cache)
{
    quire_profile *profile = open_profile("github", "");
    quire_field fields[2] = {
        {QUIRE_LITERAL("LINK"),
            QUIRE_LITERAL("<https://api.github.com/repos/a/b/issues?page=2>; rel=\"next\", <x>; rel=\"last\"")},
        {QUIRE_LITERAL("Retry-After"), QUIRE_LITERAL("1.5")}};
    quire_response response = QUIRE_RESPONSE_INIT;
    quire_parsed parsed = QUIRE_PARSED_INIT;
    response.body = text(github);
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_OK);
    REQUIRE(parsed.answer->next.kind == QUIRE_LINK_UNKNOWN && parsed.asked == QUIRE_ASKED_UNKNOWN);
    quire_parsed_free(&parsed);

    response.status = 200;
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_OK);
    REQUIRE(parsed.answer->next.kind == QUIRE_LINK_END);
    quire_parsed_free(&parsed);

    response.request = text("https://api.github.com/repos/a/b/issues?state=all");
    response.headers = fields;
    response.header_count = 2;
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_OK);
    REQUIRE(parsed.answer->count == 2 && parsed.answer->struct_size == sizeof(quire_answer));
    REQUIRE(same(parsed.answer->posts[0].id, "12") && same(parsed.answer->posts[1].id, "11"));
    REQUIRE(parsed.answer->posts[0].flags == (QUIRE_POST_HAS_VERSION | QUIRE_POST_HAS_DETAIL));
    REQUIRE(parsed.answer->posts[0].version == INT64_C(1704164645000000));
    REQUIRE(memcmp(parsed.answer->posts[1].body.data, "{\"id\": 11", 9) == 0);
    REQUIRE(parsed.answer->next.kind == QUIRE_LINK_TOKEN);
    REQUIRE(same(parsed.answer->next.text, "https://api.github.com/repos/a/b/issues?page=2"));
    REQUIRE(parsed.asked == QUIRE_ASKED_HEAD && parsed.page == 1);
    REQUIRE(parsed.flags == (QUIRE_PARSED_HAS_PAGE | QUIRE_PARSED_HAS_BACKOFF) && parsed.backoff_ms == 1500);
    REQUIRE(same(parsed.own.text, "https://api.github.com/repos/a/b/issues?state=all"));
    quire_feed *feed = new_feed(cache, profile, "github");
    REQUIRE(ingest(feed, parsed.answer) == QUIRE_VERDICT_OK);
    quire_profile_close(profile); /* what it has parsed stays */
    REQUIRE(ingest(feed, parsed.answer) == QUIRE_VERDICT_OK);
    quire_parsed_free(&parsed);
    REQUIRE(parsed.answer == NULL && parsed.struct_size == sizeof parsed);
    quire_parsed_free(&parsed);
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_BAD_HANDLE && error_says("profile"));
    quire_feed_close(feed);
}

/* What a client must know of a response that is no page, or whose end is doubtful. */
static void refusals(void)
{
    quire_field pause = {QUIRE_LITERAL("Retry-After"), QUIRE_LITERAL("30")};
    quire_response response = QUIRE_RESPONSE_INIT;
    quire_parsed parsed = QUIRE_PARSED_INIT;
    quire_profile *profile = open_profile("slack", "");
    response.status = 200;
    response.body = text("{\"ok\": false, \"error\": \"invalid_cursor\"}");
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_BAD_RESPONSE && error_says("invalid_cursor"));
    REQUIRE(parsed.flags == QUIRE_PARSED_LINK_IS_REFUSED && parsed.answer == NULL);
    response.headers = &pause;
    response.header_count = 1;
    response.body = text("{\"ok\": false, \"error\": \"ratelimited\"}");
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_BAD_RESPONSE);
    REQUIRE(parsed.flags == (QUIRE_PARSED_ERROR_PASSES | QUIRE_PARSED_HAS_BACKOFF) && parsed.backoff_ms == 30000);
    response.body = text("{\"ok\": false, \"error\": \"channel_not_found\"}");
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_BAD_RESPONSE);
    REQUIRE(parsed.flags == QUIRE_PARSED_HAS_BACKOFF);
    quire_parsed_free(&parsed);
    quire_profile_close(profile);

    quire_response page = QUIRE_RESPONSE_INIT;
    profile = open_profile("reddit", "");
    page.request = text("https://oauth.reddit.com/new?after=t3_a");
    page.body = text("{\"kind\": \"Listing\", \"data\": {\"children\": [], \"after\": null}}");
    REQUIRE(quire_parse(profile, &page, &parsed) == QUIRE_OK);
    REQUIRE(parsed.flags == QUIRE_PARSED_END_IS_DOUBTFUL && parsed.answer->next.kind == QUIRE_LINK_UNKNOWN);
    quire_parsed_free(&parsed);
    page.request = text("https://oauth.reddit.com/new");
    REQUIRE(quire_parse(profile, &page, &parsed) == QUIRE_OK);
    REQUIRE(parsed.flags == 0 && parsed.answer->next.kind == QUIRE_LINK_END);
    quire_parsed_free(&parsed);
    quire_profile_close(profile);
}

static void other_ways(quire_cache *cache)
{
    quire_response response = QUIRE_RESPONSE_INIT;
    quire_parsed parsed = QUIRE_PARSED_INIT;
    quire_profile *profile = open_profile("stackexchange", "last_activity_date");
    response.body = text(questions);
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_OK);
    REQUIRE(parsed.answer->posts[0].key == 1700000100 && (parsed.answer->posts[0].flags & QUIRE_POST_HAS_KEY));
    REQUIRE(parsed.quota == 299 && parsed.backoff_ms == 10000 && parsed.page == 2);
    REQUIRE(parsed.asked == QUIRE_ASKED_BELOW && parsed.answer->next.kind == QUIRE_LINK_MORE);
    quire_parsed_free(&parsed);
    quire_profile_close(profile);

    profile = open_profile(own_profile, "");
    response.body = text(own);
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_OK);
    REQUIRE(same(parsed.answer->posts[1].id, "b") && same(parsed.answer->next.text, "next-9"));
    quire_feed_options options = QUIRE_FEED_OPTIONS_INIT;
    REQUIRE(quire_profile_get_feed_options(profile, &options) == QUIRE_OK);
    REQUIRE(options.order == QUIRE_ORDER_STABLE && options.paging == QUIRE_PAGING_PAGE && options.first_page == 0);
    REQUIRE(options.sizes == QUIRE_SIZES_FIXED && options.rows_per_page == 25 && options.page_size == 20);
    quire_parsed_free(&parsed);
    quire_profile_close(profile);

    profile = open_profile("github", "");
    response.body = text(recorded);
    REQUIRE(quire_parse(profile, &response, &parsed) == QUIRE_OK);
    REQUIRE(parsed.asked == QUIRE_ASKED_BELOW && parsed.page == 2);
    REQUIRE(same(parsed.answer->next.text, "https://api.github.com/repos/a/b/issues?page=3"));
    quire_feed *feed = new_feed(cache, profile, "recorded");
    REQUIRE(ingest(feed, parsed.answer) == QUIRE_VERDICT_OK);
    quire_feed_close(feed);
    quire_parsed_free(&parsed);
    quire_profile_close(profile);
}

static void names(void)
{
    quire_list list = QUIRE_LIST_INIT;
    REQUIRE(quire_profile_names(&list) == QUIRE_OK && list.count >= 27);
    for (size_t at = 0; at < list.count; at++) {
        quire_profile *profile = NULL;
        REQUIRE(quire_profile_open(list.items[at], NULL, &profile) == QUIRE_OK);
        quire_profile_close(profile);
        quire_profile_close(profile);
    }
    printf("%d profiles from " QUIRE_BYTES_FMT " to " QUIRE_BYTES_FMT ", ", (int)list.count,
        QUIRE_BYTES_ARG(list.items[0]), QUIRE_BYTES_ARG(list.items[list.count - 1]));
    quire_profile_names_free(&list);
    quire_profile_names_free(&list);
    quire_profile_names_free(NULL);
}

#define REFUSED(status, words, call) REQUIRE((call) == (status) && error_says(words))

static void misuse(void)
{
    quire_profile *profile = NULL, *mine = open_profile("github", "");
    quire_profile_options options = QUIRE_PROFILE_OPTIONS_INIT;
    quire_response response = QUIRE_RESPONSE_INIT;
    quire_parsed parsed = QUIRE_PARSED_INIT;
    quire_feed_options feed_options = QUIRE_FEED_OPTIONS_INIT;
    quire_bytes none = {NULL, 4}, empty = {NULL, 0};
    REFUSED(QUIRE_BAD_ARGUMENT, "out parameter", quire_profile_open(text("github"), NULL, NULL));
    REFUSED(QUIRE_NOT_FOUND, "stackexchange", quire_profile_open(text("githbu"), NULL, &profile));
    REFUSED(QUIRE_NOT_FOUND, "", quire_profile_open(empty, NULL, &profile));
    REFUSED(QUIRE_BAD_ARGUMENT, "NULL", quire_profile_open(none, NULL, &profile));
    REFUSED(QUIRE_BAD_ARGUMENT, "itemz", quire_profile_open(text("{\"itemz\": 3}"), NULL, &profile));
    REFUSED(QUIRE_BAD_ARGUMENT, "profile: ", quire_profile_open(text("{"), NULL, &profile));
    REQUIRE(profile == NULL);
    options.struct_size = 4;
    REFUSED(QUIRE_BAD_ARGUMENT, "struct_size", quire_profile_open(text("github"), &options, &profile));
    options.struct_size = sizeof options;
    options.id = text("a..b");
    REFUSED(QUIRE_BAD_ARGUMENT, "empty key", quire_profile_open(text("github"), &options, &profile));
    options.id = empty;
    options.maximum_size = UINT64_MAX;
    REFUSED(QUIRE_BAD_ARGUMENT, "maximum_size", quire_profile_open(text("github"), &options, &profile));

    REFUSED(QUIRE_BAD_HANDLE, "NULL", quire_parse(NULL, &response, &parsed));
    REFUSED(QUIRE_BAD_HANDLE, "not valid", quire_parse((quire_profile *)&parsed, &response, &parsed));
    REFUSED(QUIRE_BAD_ARGUMENT, "response is NULL", quire_parse(mine, NULL, &parsed));
    REFUSED(QUIRE_BAD_ARGUMENT, "out parameter", quire_parse(mine, &response, NULL));
    response.body = none;
    REFUSED(QUIRE_BAD_ARGUMENT, "NULL", quire_parse(mine, &response, &parsed));
    response.body = text(github);
    response.status = 7;
    REFUSED(QUIRE_BAD_ARGUMENT, "status", quire_parse(mine, &response, &parsed));
    response.status = 503;
    REFUSED(QUIRE_BAD_RESPONSE, "503", quire_parse(mine, &response, &parsed));
    response.status = 200;
    response.header_count = SIZE_MAX;
    REFUSED(QUIRE_BAD_ARGUMENT, "headers", quire_parse(mine, &response, &parsed));
    response.header_count = 1;
    REFUSED(QUIRE_BAD_ARGUMENT, "headers", quire_parse(mine, &response, &parsed));
    response.header_count = 0;
    response.request = text("\xff");
    REFUSED(QUIRE_BAD_ARGUMENT, "address", quire_parse(mine, &response, &parsed));
    response.request = empty;
    response.body = text("{\"message\": \"Not \x1b[2J Found\"}");
    REFUSED(QUIRE_BAD_RESPONSE, "response: ", quire_parse(mine, &response, &parsed));
    response.body = text("[{\"id\": 1}, {\"no\": 2}]");
    REFUSED(QUIRE_BAD_RESPONSE, "response: item 2: no id", quire_parse(mine, &response, &parsed));
    REQUIRE(parsed.answer == NULL && parsed.owner == NULL);
    REFUSED(QUIRE_BAD_ARGUMENT, "out parameter", quire_profile_get_feed_options(mine, NULL));
    REFUSED(QUIRE_BAD_HANDLE, "NULL", quire_profile_get_feed_options(NULL, &feed_options));
    REFUSED(QUIRE_BAD_ARGUMENT, "out parameter", quire_profile_names(NULL));
    quire_parsed_free(NULL);
    quire_profile_close(NULL);
    quire_profile_close((quire_profile *)&parsed);

    options.maximum_size = 10;
    quire_profile_close(mine);
    REQUIRE(quire_profile_open(text("github"), &options, &mine) == QUIRE_OK);
    response.body = text(github);
    REFUSED(QUIRE_BAD_RESPONSE, "limit", quire_parse(mine, &response, &parsed));
    quire_profile_close(mine);
}

static unsigned parsed_count, refused_count;

/* A copy on the heap of exactly these bytes, so that a checker sees each read beyond them. */
static void parse_any(quire_profile *profile, const char *bytes, size_t size)
{
    quire_response response = QUIRE_RESPONSE_INIT;
    quire_parsed parsed = QUIRE_PARSED_INIT;
    char *copy = malloc(size + (size == 0));
    memcpy(copy, bytes, size);
    response.body.data = copy;
    response.body.size = size;
    response.request = text("https://api.example.com/list?page=2");
    quire_status status = quire_parse(profile, &response, &parsed);
    free(copy);
    if (status == QUIRE_OK) {
        unsigned sum = 0;
        for (size_t at = 0; at < parsed.answer->count; at++) {
            quire_post post = parsed.answer->posts[at];
            REQUIRE(post.id.size > 0);
            for (size_t byte = 0; byte < post.body.size; byte++) sum += ((const unsigned char *)post.body.data)[byte];
        }
        parsed_count += 1 + (sum & 0);
    } else {
        REQUIRE(status == QUIRE_BAD_RESPONSE && error_says("response"));
        refused_count++;
    }
    quire_parsed_free(&parsed);
}

static void damage(uint32_t seed)
{
    static const struct { const char *profile, *key, *bytes; } samples[] = {
        {"github", "", github}, {"stackexchange", "last_activity_date", questions}, {own_profile, "", own},
        {"github", "", recorded}};
    for (size_t sample = 0; sample < sizeof samples / sizeof *samples; sample++) {
        quire_profile *profile = open_profile(samples[sample].profile, samples[sample].key);
        size_t size = strlen(samples[sample].bytes);
        for (size_t cut = 0; cut <= size; cut++) parse_any(profile, samples[sample].bytes, cut);
        for (int round = 0; round < 500; round++) {
            char changed[1024];
            memcpy(changed, samples[sample].bytes, size);
            for (int change = 0; change < 3; change++) {
                seed = seed * 1664525 + 1013904223;
                changed[seed % size] = (char)(seed >> 24);
            }
            parse_any(profile, changed, size);
        }
        quire_profile_close(profile);
    }
    printf("%u parsed, %u refused\n", parsed_count, refused_count);
    REQUIRE(parsed_count > 20 && refused_count > 500);
}

int main(int count, char **arguments)
{
    char path[4096];
    quire_cache *cache = NULL;
    uint32_t seed = count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : (uint32_t)time(NULL);
    if (count < 2) return 64;
    printf("seed %u\n", seed);
    snprintf(path, sizeof path, "%s/profiles.quire", arguments[1]);
    REQUIRE(quire_open(path, NULL, &cache) == QUIRE_OK);
    headers(cache);
    refusals();
    other_ways(cache);
    names();
    misuse();
    damage(seed);
    quire_close(cache);
    return 0;
}
