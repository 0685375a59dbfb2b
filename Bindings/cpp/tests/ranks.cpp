// Which row has which rank, compared with a walk over all rows of a feed with a gap; and a budget.
#include <quire.hpp>

#include <vector>

void test_ranks(const std::string &path, void (*must)(bool, const char *));

namespace {

// Posts whose ids are their keys, from `first` down to `last`, as a page at the head.
void page(quire::feed &feed, int first, int last)
{
    std::vector<std::string> ids;
    for (int key = first; key >= last; key--) ids.push_back(std::to_string(key));
    quire::answer answer;
    for (const std::string &id : ids) answer.add({id, id, std::stoi(id)});
    const quire::request request = feed.plan(quire::place::head());
    feed.ingest(request.ticket(), answer.next(quire::link::token("next")));
}

} // namespace

void test_ranks(const std::string &path, void (*must)(bool, const char *))
{
    quire::cache cache(path);
    quire::feed_options options;
    options.order = quire::order::stable;
    quire::feed feed = cache.feed("f", options), keyless = cache.feed("keyless");
    page(feed, 100, 1);
    page(feed, 300, 201);

    const quire::snapshot snapshot = cache.snapshot();
    std::vector<quire::row> rows;
    for (const quire::row &row : snapshot.rows(feed)) rows.push_back(row);
    must(rows.size() == 201 && rows[100].is_gap(), "100 posts, a gap, 100 posts");
    must(snapshot.row_count(feed) == rows.size(), "row_count");
    for (std::size_t rank = 0; rank < rows.size(); rank++) {
        must(snapshot.rank_of_row(feed, rows[rank].position()) == rank, "rank_of_row");
        std::size_t at = rank;
        for (const quire::row &row : snapshot.rows_from_rank(feed, rank))
            must(row.id() == rows[at++].id() && row.is_gap() == (at == 101), "rows_from_rank");
        must(at == rows.size(), "down to the bottom");
        if (rows[rank].is_gap()) continue;
        must(snapshot.rank_of_post(feed, rows[rank].id()) == rank, "rank_of_post");
        must(snapshot.rank_of_key(feed, *rows[rank].key()) == rank, "rank_of_key");
    }
    must(snapshot.rank_of_key(feed, 150) == 101u && snapshot.rank_of_key(feed, 0) == 201u, "between, and below");
    for (const std::uint64_t rank : {std::uint64_t(201), UINT64_MAX})
        for (const quire::row &row : snapshot.rows_from_rank(feed, rank)) must(row.is_gap(), "no row is there");
    must(!snapshot.rank_of_post(feed, "absent"), "no such post");
    try {
        (void)snapshot.rank_of_key(keyless, 1);
        must(false, "a key of a feed without keys");
    } catch (const quire::error &error) {
        must(error.status() == quire::status::bad_argument, "no keys");
    }

    quire::cache_options limited;
    limited.budget = QUIRE_BUDGET_INIT;
    limited.budget->cache.posts = 150;
    quire::cache small(path + "-small", limited);
    quire::feed_options other;
    other.collection = "other"; // the same ids are other posts there
    quire::feed first = small.feed("first"), second = small.feed("second", other);
    page(first, 100, 1);
    first.set_visible({"7"});
    page(second, 100, 1);
    must(small.evictions().posts == 0 && first.contains({"7"})[0], "what is visible stays");
    first.set_visible({});
    second.insert_local("x", "body");
    must(small.evictions().posts_by_cache == 100 && small.stats().posts == 101, "the other feed gives");
}
