// A walk through quire.hpp: a feed fills, a gap opens and closes, posts are read both ways.
//
//     c++ -std=c++17 walkthrough.cpp -Iinclude $(pkg-config --cflags --libs quire) && ./a.out walk.quire
//
// Prints the feed after each step; ends with an error if it is not what the comments say.
#include <quire.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

// Asks at a place and lets a server answer with one-letter posts.
static void page(quire::feed &feed, const quire::place &place, std::string_view letters, const char *next)
{
    quire::request request = feed.plan(place);
    if (!request) throw std::runtime_error(std::string("refused: ") + name(request.refusal()));

    std::vector<std::string> bodies;
    bodies.reserve(letters.size()); // an answer borrows: the bodies must not move
    quire::answer answer;
    for (std::size_t i = 0; i < letters.size(); i++) {
        bodies.push_back("body of " + std::string(letters.substr(i, 1)));
        answer.add(letters.substr(i, 1), bodies.back());
    }
    answer.next(quire::link::token(next));

    quire::outcome outcome = feed.ingest(request.ticket(), answer);
    std::printf("%-10s %zu new\n", name(outcome.verdict()), outcome.added().size());
}

// Prints the feed as one line, such as "a b c ~ x y", and compares it. Returns the first gap's number.
static std::uint64_t show(const quire::cache &cache, const quire::feed &feed, const std::string &expected)
{
    std::string line;
    std::uint64_t gap = 0;
    quire::snapshot snapshot = cache.snapshot();
    for (const quire::row &row : snapshot.rows(feed)) {
        if (!line.empty()) line += ' ';
        if (row.is_gap() && gap == 0) gap = row.gap();
        line += row.is_gap() ? "~" : row.id();
    }
    std::printf("           %s\n", line.c_str());
    if (line != expected) throw std::runtime_error("expected " + expected);
    return gap;
}

static void walk(const char *path)
{
    quire::cache cache(path);
    quire::feed feed = cache.feed("timeline");

    page(feed, quire::place::head(), "xyz", "page-2"); // the first page
    show(cache, feed, "x y z");

    page(feed, quire::place::head(), "abc", "page-2'"); // much later: posts may be missing in between
    const std::uint64_t gap = show(cache, feed, "a b c ~ x y z");

    page(feed, quire::place::gap(gap), "dex", "page-3"); // ask below the gap until it closes
    show(cache, feed, "a b c d e x y z");

    const std::vector<bool> held = feed.contains({"d", "q"});
    if (!held[0] || held[1]) throw std::runtime_error("contains");

    feed.evict({"d"}); // saves space, leaves a gap
    show(cache, feed, "a b c ~ e x y z");
    feed.erase("b"); // gone on the server: the neighbours close up
    show(cache, feed, "a c ~ e x y z");

    quire::feed archive = cache.feed("archive");
    quire::crawl crawl = archive.crawl_from_head(1);
    cache.batch([&](quire::batch batch) { // three pages of an old crawl in one commit
        for (int number = 1; number <= 3; number++) {
            const std::string first = std::to_string(100 - number * 2);
            const std::string second = std::to_string(99 - number * 2);
            quire::answer answer;
            answer.add(first).add(second);
            crawl.ingest(answer, QUIRE_PAGE_FOLLOWING, batch);
        }
    });
    show(cache, archive, "98 97 96 95 94 93");

    quire::snapshot snapshot = cache.snapshot();
    std::string upwards;
    for (const quire::row &row : snapshot.rows_upwards(archive)) upwards += row.id();
    if (upwards != "939495969798") throw std::runtime_error("upwards");
    if (const auto found = snapshot.find(feed, "e"); !found || found->body() != "body of e")
        throw std::runtime_error("find");

    try {
        quire::feed_options other;
        other.order = quire::order::ranked;
        cache.feed("timeline", other);
        throw std::runtime_error("opened with other options");
    } catch (const quire::error &error) {
        std::printf("%s: %s\n", name(error.status()), error.what());
    }
    const std::size_t findings = cache.check().size();
    std::printf("%zu findings\n", findings);
    if (findings != 0) throw std::runtime_error("the cache is not sound");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    try {
        walk(argv[1]);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
