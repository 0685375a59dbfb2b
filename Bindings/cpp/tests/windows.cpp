// A window keeps its place while posts come above it, and several feeds are one list down to the first frontier.
#include <quire.hpp>

#include <vector>

void test_windows(const std::string &path, void (*must)(bool, const char *));

namespace {

using texts = std::vector<std::string>;

// Posts whose ids are their keys, in this order, as a page at the head.
void page(quire::feed &feed, const std::vector<int> &keys, quire::link next = quire::link::token("next"))
{
    texts ids;
    for (const int key : keys) ids.push_back(std::to_string(key));
    quire::answer answer;
    for (std::size_t i = 0; i < ids.size(); i++) answer.add({ids[i], ids[i], keys[i]});
    const quire::request request = feed.plan(quire::place::head());
    feed.ingest(request.ticket(), answer.next(next));
}

texts ids(const std::vector<quire::row> &rows)
{
    texts ids;
    for (const quire::row &row : rows) ids.push_back(row.is_gap() ? "~" : row.id());
    return ids;
}

std::vector<std::uint64_t> list(const quire::difference::indices &indices)
{
    return {indices.begin(), indices.end()};
}

void keeps_place(quire::cache &cache, quire::feed &feed, void (*must)(bool, const char *))
{
    using quire::window, quire::window_start;
    page(feed, {9, 8, 7, 6, 5, 4, 3, 2, 1});
    std::optional<window> opened = window::open(
        cache.snapshot(), feed, window_start::post("5").holding(1, 1));
    must(opened.has_value(), "the feed holds it");
    window &window = *opened;
    {
        const quire::snapshot snapshot = cache.snapshot();
        must(ids(window.rows(snapshot)) == texts{"6", "5", "4"}, "around the post");
        must(ids(window.rows(snapshot, 2)) == texts{"4"} && window.rows(snapshot, 3).empty(), "from an index on");
        must(window.nearest() == texts{"5", "4", "6"}, "nearest first");
        must(window.update(snapshot).removed.empty(), "nothing has changed");
    }

    page(feed, {20, 19});
    const quire::snapshot snapshot = cache.snapshot();
    bool isOld = false;
    try {
        window.rows(snapshot);
    } catch (const quire::error &error) {
        isOld = error.status() == quire::status::resync;
    }
    must(isOld, "another commit");
    const quire::difference above = window.update(snapshot);
    must(above.removed.empty() && above.inserted.empty(), "three rows above change nothing in the list");
    quire::window_info info = window.info();
    must(info.rank == 6 && info.anchor == 1 && info.count == 3 && info.row_count == 12, "but the rank");

    window.look(0, 3, 0);
    const quire::difference moved = window.update(snapshot);
    must(list(moved.removed) == std::vector<std::uint64_t>{1, 2}, "what is below leaves");
    must(list(moved.inserted) == std::vector<std::uint64_t>{0, 1, 2}, "three rows more above");
    must(ids(window.rows(snapshot)) == texts{"9", "8", "7", "6"}, "4 rows");
    window.follow_head(0, 1);
    window.update(snapshot);
    must(window.info().is_following_head && ids(window.rows(snapshot)) == texts{"20", "19"}, "the head");

    must(!window::open(snapshot, feed, window_start::post("absent")), "no such post");
    const auto first = [&](const window_start &start) {
        const std::optional<quire::window> window = quire::window::open(snapshot, feed, start);
        return ids(window->rows(snapshot, 0, 1));
    };
    must(first(window_start::rank(2).holding(0, 0)) == texts{"~"}, "a rank, of the gap");
    must(first(window_start::key(8).holding(0, 0)) == texts{"8"}, "a key");
    must(first(window_start::nearest({"absent", "3"}).holding(0, 0)) == texts{"3"}, "the first that is there");
}

void merges(quire::cache &cache, quire::feed &upper, quire::feed &lower, void (*must)(bool, const char *))
{
    page(upper, {30, 28, 26});
    page(lower, {29, 27, 20}, quire::link::end());
    const quire::snapshot snapshot = cache.snapshot();
    quire::merge merge = quire::merge::begin(snapshot, {upper, lower});
    std::vector<quire::merged_row> rows = merge.read();
    must(rows.size() == 6 && rows[1].source == 1 && rows[1].row().id() == "29", "in the order of keys");
    must(rows[5].is_tail() && rows[5].source == 0 && rows[5].is_frontier(), "the upper feed goes on");
    must(rows[5].row().down().text == "next", "with this link");
    rows = merge.read();
    must(rows.size() == 1 && rows[0].row().id() == "20", "what is below the frontier");
    must(merge.read().empty(), "the end");
    quire::merge rest = quire::merge::begin(snapshot, {upper, lower}, 27);
    must(rest.read(1)[0].row().id() == "27", "from a key on");
}

} // namespace

void test_windows(const std::string &path, void (*must)(bool, const char *))
{
    quire::cache cache(path);
    quire::feed_options options;
    options.order = quire::order::stable;
    quire::feed feed = cache.feed("f", options), upper = cache.feed("upper", options),
                lower = cache.feed("lower", options);
    keeps_place(cache, feed, must);
    merges(cache, upper, lower, must);
}
