// Windows and merged lists: what a screen holds of one feed, and several feeds as one list. Part of quire.hpp.
//
// EVERY VIEW AND LINK IN THIS FILE IS VALID UNTIL ITS SNAPSHOT IS DESTROYED, AND NO LONGER.
#ifndef QUIRE_WINDOW_HPP
#define QUIRE_WINDOW_HPP

#include "snapshot.hpp"

#include <functional>

namespace quire {
inline namespace QUIRE_MODE {

// Where a window opens, and how many rows it holds above and below the one that the reader looks at. Borrows ids.
class window_start {
public:
    // The first row: the window follows the head until window::look() names a row.
    static window_start head() { return window_start(QUIRE_START_HEAD); }
    // A post.
    static window_start post(std::string_view id) { return window_start(QUIRE_START_POST, {id}); }
    // The first of these posts that the feed holds, else the head: what window::nearest() gave once.
    static window_start nearest(quire::ids ids) { return window_start(QUIRE_START_NEAREST, std::move(ids)); }
    // The first post whose key is this one or lower, else the last row: a list that opens at a date.
    static window_start key(std::int64_t key)
    {
        window_start start(QUIRE_START_KEY);
        start.c_.key = key;
        return start;
    }
    // The row with this many rows above it, else the last row.
    static window_start rank(std::uint64_t rank)
    {
        window_start start(QUIRE_START_RANK);
        start.c_.rank = rank;
        return start;
    }

    // The largest number of rows held above and below, at most QUIRE_WINDOW_LIMIT; 50 and 50 unless told.
    window_start &holding(std::uint32_t above, std::uint32_t below)
    {
        c_.above = above;
        c_.below = below;
        return *this;
    }

    quire_window_start c() const
    {
        quire_window_start c = c_;
        c.ids = ids_.c();
        return c;
    }

private:
    explicit window_start(std::int32_t kind, quire::ids ids = {}) : ids_(std::move(ids)) { c_.kind = kind; }

    quire_window_start c_ = QUIRE_WINDOW_START_INIT;
    quire::ids ids_;
};

// What a window holds.
struct window_info {
    explicit window_info(const quire_window_info &c)
        : is_following_head(c.is_following_head != 0), generation(c.generation), row_count(c.row_count),
          rank(c.rank), count(c.count), anchor(c.anchor)
    {
    }

    // The window has no anchor and begins with the first row of the feed.
    bool is_following_head;
    // The commit that the rows show.
    std::uint64_t generation;
    // The number of rows of the feed, those above the window, and those in it.
    std::uint64_t row_count, rank, count;
    // The index of the anchor among the rows of the window; 0 while it follows the head.
    std::uint64_t anchor;
};

// What changed in the rows of a window, as lists want it. Remove the rows with the first indices, from the last to
// the first; insert rows of the window at the second, from the first to the last; draw the third anew. Each ascends.
struct difference {
    using indices = array_view<std::uint64_t, std::uint64_t>;

    explicit difference(const quire_difference &c)
        : removed(c.removed, c.removed_count), inserted(c.inserted, c.inserted_count),
          updated(c.updated, c.updated_count)
    {
    }
    indices removed, inserted, updated;
};

// Some consecutive rows of a feed. It opens anywhere and keeps its place while rows come and go elsewhere. The
// anchor is the row that the reader looks at: it stays the anchor however many rows come above it. A window keeps no
// snapshot open. One thread at a time may use it.
class window {
public:
    explicit window(quire_window *c) : c_(c) {}

    // Opens a window over the rows that the snapshot sees. Nothing if it is to open at a post that the feed lacks.
    static may<std::optional<window>> open(const snapshot &snapshot, const feed &feed,
                                           const window_start &start = window_start::head())
    {
        quire_window *window = nullptr;
        const quire_window_start from = start.c();
        const auto code = quire_window_open(snapshot.c(), feed.c(), &from, &window);
        return detail::finish_unless(QUIRE_NOT_FOUND, code, quire::window(window));
    }

    may<window_info> info() const
    {
        quire_window_info info = QUIRE_WINDOW_INFO_INIT;
        const auto code = quire_window_get_info(c(), &info);
        return detail::finish(code, window_info(info));
    }

    // The reader looks at the row of the window with this index; or at no row, and the window follows the head. The
    // next update() reads the rows around it.
    may<void> look(std::uint64_t index, std::uint32_t above = 50, std::uint32_t below = 50)
    {
        return detail::finish(quire_window_look(c(), index, above, below));
    }
    may<void> follow_head(std::uint32_t above = 50, std::uint32_t below = 50)
    {
        return look(UINT64_MAX, above, below);
    }

    // Follows the feed to the commit that the snapshot sees. After a failure the window is as before.
    may<quire::difference> update(const snapshot &snapshot)
    {
        quire_difference difference = QUIRE_DIFFERENCE_INIT;
        const auto code = quire_window_update(c(), snapshot.c(), &difference);
        return detail::finish(code, quire::difference(difference));
    }

    // Rows of the window from an index on. status::resync if the snapshot sees another commit: update() first.
    may<std::vector<row>> rows(const snapshot &snapshot, std::uint64_t index = 0,
                               std::size_t limit = QUIRE_WINDOW_LIMIT) const
    {
        quire_window_info info = QUIRE_WINDOW_INFO_INIT;
        auto code = quire_window_get_info(c(), &info);
        const std::uint64_t rest = info.count > index ? info.count - index : 0;
        std::vector<quire_row> items(static_cast<std::size_t>(rest < limit ? rest : limit));
        std::size_t count = 0;
        if (code == QUIRE_OK)
            code = quire_window_read(c(), snapshot.c(), index, items.data(), items.size(), &count);
        std::vector<row> rows;
        for (std::size_t i = 0; i < count; i++) rows.emplace_back(items[i]);
        return detail::finish(code, std::move(rows));
    }

    // The ids of its posts, nearest to the anchor first: stored, they are a place to open at
    // (window_start::nearest), even if the anchor has left by then.
    may<std::vector<std::string>> nearest() const
    {
        quire_list list = QUIRE_LIST_INIT;
        const auto code = quire_window_nearest(c(), &list);
        std::vector<std::string> ids;
        for (std::string_view id : id_list(list.items, list.count)) ids.emplace_back(id);
        quire_list_free(&list);
        return detail::finish(code, std::move(ids));
    }

    quire_window *c() const { return c_.get(); }

private:
    detail::handle<quire_window, quire_window_close> c_;
};

// A row of several feeds that are read as one list.
class merged_row {
public:
    merged_row(const quire_row &c, std::size_t source) : source(source), c_(c) {}

    // The index of its feed among those that are merged.
    const std::size_t source;

    // Not a post: posts may be missing here, and such a post may belong above all rows that follow. It is a gap of the
    // feed, or one of its ends: is_head() if posts may be missing above its first one, is_tail() below its last.
    bool is_frontier() const noexcept { return c_.kind != QUIRE_ROW_POST; }
    bool is_head() const noexcept { return c_.kind == QUIRE_ROW_HEAD; }
    bool is_tail() const noexcept { return c_.kind == QUIRE_ROW_TAIL; }
    // The post or the gap. Of a head only up() means something, of a tail only down().
    quire::row row() const { return quire::row(c_); }

private:
    quire_row c_;
};

// Several feeds read as one list, the highest key first: the timeline of all accounts. A post that several of them
// hold is shown once, where its key is highest. One thread at a time may use it.
class merge {
public:
    using feeds = std::vector<std::reference_wrapper<const feed>>;

    explicit merge(quire_merge *c) : c_(c) {}

    // Begins at the top, or with the rows of this key or a lower one. The feeds must be in the order of keys, and
    // none may be named twice.
    static may<merge> begin(const snapshot &snapshot, const feeds &feeds,
                            std::optional<std::int64_t> from_key = {})
    {
        std::vector<quire_feed *> handles;
        for (const feed &feed : feeds) handles.push_back(feed.c());
        quire_merge *merge = nullptr;
        const auto code = quire_merge_begin(snapshot.c(), handles.data(), handles.size(),
                                            from_key ? &*from_key : nullptr, &merge);
        return detail::finish(code, quire::merge(merge));
    }

    // The next rows, at most `limit`. Ends at a frontier; the next call goes on below it. Empty at the end.
    may<std::vector<merged_row>> read(std::size_t limit = row_range::screenful)
    {
        std::vector<quire_row> items(limit);
        std::vector<std::uint32_t> sources(limit);
        std::size_t count = 0;
        const auto code = quire_merge_read(c(), items.data(), sources.data(), limit, &count);
        std::vector<merged_row> rows;
        for (std::size_t i = 0; i < count; i++) rows.emplace_back(items[i], sources[i]);
        return detail::finish(code, std::move(rows));
    }

    quire_merge *c() const { return c_.get(); }

private:
    detail::handle<quire_merge, quire_merge_end> c_;
};

} // namespace QUIRE_MODE
} // namespace quire

#endif
