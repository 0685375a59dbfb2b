// A view keeps what a function chooses, in the order of its feed with the feed's gaps, or in one of its own.
#include <quire.hpp>

#include <vector>

void test_views(const std::string &path, void (*must)(bool, const char *));

namespace {

// Posts whose ids and bodies are their keys, from `first` down to `last`, as a page at the head.
void page(quire::feed &feed, int first, int last, quire::link next = quire::link::token("next"))
{
    std::vector<std::string> ids;
    for (int key = first; key >= last; key--) ids.push_back(std::to_string(key));
    quire::answer answer;
    for (const std::string &id : ids) answer.add({id, id, std::stoi(id)});
    const quire::request request = feed.plan(quire::place::head());
    feed.ingest(request.ticket(), answer.next(next));
}

std::string names(const std::vector<quire::row> &rows)
{
    std::string names;
    for (const quire::row &row : rows) names += (names.empty() ? "" : " ") + (row.is_gap() ? "~" : row.id());
    return names;
}

} // namespace

void test_views(const std::string &path, void (*must)(bool, const char *))
{
    quire::cache cache(path);
    quire::feed_options options;
    options.order = quire::order::stable;
    quire::feed feed = cache.feed("f", options);
    page(feed, 100, 1, quire::link::end());
    page(feed, 300, 261);
    auto even = [](const quire::row &post) -> std::optional<quire::view_entry> {
        if (*post.number() % 2 != 0) return {};
        if (*post.number() == 2) throw 2;
        return quire::view_entry{std::string(post.body().substr(0, 1)), std::string(post.body())};
    };
    const quire::view view = quire::view::open(feed, "even", even);
    quire::view::open(feed, "keys", even, quire::view_order::keys, 7);
    page(feed, 310, 305);
    const quire::snapshot snapshot = cache.snapshot();
    const std::vector<quire::row> rows = view.rows(snapshot, 6);
    must(names(rows) == "310 308 306 ~ 300 298", "shows the gaps of the feed");
    must(names(view.rows(snapshot, 2, rows[2].position())) == "~ 300", "reads on");
    must(names(view.rows_from_rank(snapshot, 3, 1)) == "300", "by rank");
    must(view.info(snapshot).posts == 3 + 20 + 49 && view.info(snapshot).is_current == 1, "counts");
    const std::optional<quire::view> keys = quire::view::find(feed, "keys");
    must(keys && keys->info(snapshot).version == 7, "for reading");
    must(names(keys->rows(snapshot, 3)) == "10 100 12", "by keys");
    const std::vector<quire::view_section> sections = keys->sections(snapshot, 99, 1);
    must(sections[0].name == "2" && sections[0].rank == keys->sections(snapshot, 1)[0].posts, "sections");
    const std::optional<quire::view_section> place = view.place(snapshot, "306");
    must(place && place->rank == 2 && place->name == "3" && !view.place(snapshot, "305"), "the place of a post");
    must(quire::view::remove(feed, "keys") && !quire::view::remove(feed, "keys"), "removes");
    must(!quire::view::find(feed, "keys"), "it is gone");
    must(cache.check().empty(), "the cache is sound");
}
