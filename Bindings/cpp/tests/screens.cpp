// Windows, merged lists and views, compared with all rows of their feeds.
#include <quire.hpp>

#include <vector>

void test_screens(const std::string &path, void (*must)(bool, const char *));

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

void windows(quire::cache &cache, quire::feed &feed, void (*must)(bool, const char *))
{
    std::vector<std::string> list, saved;
    std::optional<quire::window> window;
    {
        const quire::snapshot snapshot = cache.snapshot();
        window = quire::window::open(snapshot, feed, quire::window_start::key(50).rows(2, 3));
        for (const quire::row &row : window->rows(snapshot)) list.push_back(row.id());
        must(names(window->rows(snapshot)) == "52 51 50 49 48 47", "opens at a date");
        must(window->info().rank == 48 && window->info().anchor == 2, "the place");
        saved = window->nearest();
        must(saved.size() == 6 && saved[0] == "50" && saved[1] == "49", "the saved place");
    }
    page(feed, 300, 261);
    feed.erase("50");
    const quire::snapshot snapshot = cache.snapshot();
    try {
        (void)window->rows(snapshot);
        must(false, "rows of another commit");
    } catch (const quire::error &failure) {
        must(failure.status() == quire::status::resync, "rows of another commit");
    }
    const quire::difference difference = window->update(snapshot);
    const std::vector<quire::row> rows = window->rows(snapshot);
    for (std::size_t i = difference.removed.size(); i-- > 0;)
        list.erase(list.begin() + static_cast<long>(difference.removed[i]));
    for (const std::uint64_t at : difference.inserted) {
        const auto index = static_cast<std::size_t>(at);
        list.insert(list.begin() + static_cast<long>(at), rows[index].id());
    }
    must(names(rows) == "52 51 49 48 47 46" && list.size() == rows.size(), "keeps its place");
    for (std::size_t i = 0; i < rows.size(); i++) must(list[i] == rows[i].id(), "the differences give the rows");
    must(window->info().rank == 48 + 41, "40 posts and a gap came above");
    window->look({}, 0, 1);
    (void)window->update(snapshot);
    must(names(window->rows(snapshot)) == "300 299" && window->info().is_following_head == 1, "follows the head");
    const quire::window reopened =
        quire::window::open(snapshot, feed, quire::window_start::nearest(saved).rows(0, 0));
    must(names(reopened.rows(snapshot)) == "49", "the anchor has left: the nearest post");
    must(names(quire::window::open(snapshot, feed, quire::window_start::rank(40).rows(1, 1)).rows(snapshot)) ==
             "261 ~ 100", "opens at a rank");
}

void merges(quire::cache &cache, void (*must)(bool, const char *))
{
    quire::feed_options options;
    options.order = quire::order::stable;
    options.collection = "a";
    quire::feed a = cache.feed("a", options);
    options.collection = "b";
    quire::feed b = cache.feed("b", options);
    page(a, 9, 7, quire::link::end());
    page(b, 8, 8);
    const quire::snapshot snapshot = cache.snapshot();
    quire::merge merge = quire::merge::begin(snapshot, {&a, &b});
    std::string list;
    for (int reads = 0; reads < 3; reads++) {
        for (const quire::merged_row &row : merge.read(10))
            list += (row.source == 0 ? " a" : " b") + (row.is_frontier() ? "|" : row.row.id());
    }
    must(list == " a9 a8 b8 b| a7", "two feeds as one list");
    quire::merge below = quire::merge::begin(snapshot, {&b, &a}, 8);
    must(below.read(1)[0].row.id() == "8", "from a key on");
}

void views(quire::cache &cache, quire::feed &feed, void (*must)(bool, const char *))
{
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
    must(view.info(snapshot).posts == 3 + 20 + 48 && view.info(snapshot).is_current == 1, "counts");
    const std::optional<quire::view> keys = quire::view::find(feed, "keys");
    must(keys && keys->info(snapshot).version == 7, "for reading");
    must(names(keys->rows(snapshot, 3)) == "10 100 12", "by keys");
    const std::vector<quire::view_section> sections = keys->sections(snapshot, 99, 1);
    must(sections[0].name == "2" && sections[0].rank == keys->sections(snapshot, 1)[0].posts, "sections");
    const std::optional<quire::view_section> place = view.place(snapshot, "306");
    must(place && place->rank == 2 && place->name == "3" && !view.place(snapshot, "305"), "the place of a post");
    must(quire::view::remove(feed, "keys") && !quire::view::remove(feed, "keys"), "removes");
    must(!quire::view::find(feed, "keys"), "it is gone");
}

} // namespace

void test_screens(const std::string &path, void (*must)(bool, const char *))
{
    quire::cache cache(path);
    quire::feed_options options;
    options.order = quire::order::stable;
    quire::feed feed = cache.feed("f", options);
    page(feed, 100, 1, quire::link::end());
    windows(cache, feed, must);
    merges(cache, must);
    views(cache, feed, must);
    must(cache.check().empty(), "the cache is sound");
}
