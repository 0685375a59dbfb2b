// Responses to answers, and opening for reading only.
#include <quire_profiles.hpp>

#include <cstdio>
#include <cstring>
#include <string>

static int passed = 0;

static void check(bool holds, const char *what)
{
    if (!holds) {
        std::printf("failed: %s\n", what);
        std::exit(1);
    }
    passed++;
}
#define CHECK(condition) check(condition, #condition)

template <class Call>
static bool fails(quire::status status, const char *words, Call &&call)
{
    try {
        call();
    } catch (const quire::error &error) {
        return error.status() == status && std::strstr(error.what(), words) != nullptr;
    }
    return false;
}

static void ingest(quire::cache &cache)
{
    const quire::profile github("github");
    quire::feed feed = cache.feed("issues", github.feed_options());
    const std::string body = R"([{"id": 12, "updated_at": "2024-01-02T03:04:05Z"}, {"id": 11}])";
    quire::response response;
    response.body(body).status(200).request("https://api.github.com/repos/a/b/issues");
    response.header("Link", "<https://api.github.com/repos/a/b/issues?page=2>; rel=\"next\"");
    response.header("Retry-After", "3");
    quire::parsed parsed = github.parse(response);
    CHECK(parsed.size() == 2 && parsed.asked() == quire::asked::head && parsed.page() == 1u);
    CHECK(parsed.next().text == "https://api.github.com/repos/a/b/issues?page=2");
    CHECK(parsed.backoff() == std::chrono::seconds(3) && !parsed.total() && !parsed.quota_renewal());
    quire::request request = feed.plan(quire::place::head());
    CHECK(feed.ingest(request.ticket(), parsed.answer()).added().size() == 2);
    quire::parsed other = std::move(parsed);
    CHECK(other.size() == 2 && other.answer().size() == 2);
}

// An answer as a newer library makes it: it is larger, and so are its posts. The copy is one of this header.
static void newer(quire::cache &cache)
{
    struct {
        quire_post known;
        std::uint64_t more;
    } posts[2] = {};
    posts[0].known.id = {"first", 5};
    posts[1].known.id = {"second", 6};
    quire_answer c = QUIRE_ANSWER_INIT;
    c.struct_size += 64;
    c.post_size = sizeof *posts;
    c.posts = &posts[0].known;
    c.count = 2;
    const quire::answer copy(c);
    CHECK(copy.c().struct_size == sizeof c && copy.c().post_size == sizeof(quire_post));
    quire::feed feed = cache.feed("newer");
    const quire::outcome outcome = feed.ingest(feed.plan(quire::place::head()).ticket(), copy);
    CHECK(outcome.added().size() == 2);
}

static void refuse()
{
    CHECK(quire::profile::names().size() >= 27);
    CHECK(fails(quire::status::not_found, "mastodon", [] { quire::profile("mastdon"); }));
    CHECK(fails(quire::status::bad_argument, "itemz", [] { quire::profile("{\"itemz\": 1}"); }));
    quire::profile_options options;
    options.key = "score";
    const quire::profile stack("stackexchange", options);
    quire::response response;
    response.body("{\"items\": [{\"question_id\": 1}]}");
    CHECK(fails(quire::status::bad_response, "response: item 1: no score", [&] { (void)stack.parse(response); }));
    const quire::profile own(R"({"name": "own", "id": {"path": "k"}, "paging": "page", "sizes": 25})");
    CHECK(own.feed_options().sizes == quire::sizes::fixed && own.feed_options().rows_per_page == 25);
}

static void read_only(const std::string &path)
{
    quire::cache_options options;
    options.is_read_only = true;
    CHECK(fails(quire::status::io, "no such file", [&] { quire::cache(path + ".none", options); }));
    quire::cache cache(path, options);
    auto feed = cache.find_feed("issues");
    CHECK(feed.has_value());
    CHECK(fails(quire::status::no_permission, "reading only", [&] { (void)feed->plan(quire::place::head()); }));
}

int main(int count, char **arguments)
{
    if (count < 2) return 64;
    const std::string path = std::string(arguments[1]) + "/profiles.quire";
    {
        quire::cache cache(path);
        ingest(cache);
        newer(cache);
    }
    refuse();
    read_only(path);
    std::printf("%d passed, 0 failed, 0 skipped\n", passed);
    return 0;
}
