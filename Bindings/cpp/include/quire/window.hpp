// Windows: the rows that a screen holds; and several feeds as one list. Part of quire.hpp.
//
// EVERY VIEW AND LINK IN THIS FILE IS VALID UNTIL ITS SNAPSHOT IS DESTROYED, AND NO LONGER.
#ifndef QUIRE_WINDOW_HPP
#define QUIRE_WINDOW_HPP

#include "snapshot.hpp"

namespace quire {
inline namespace QUIRE_MODE {

// Where a window opens, and how many rows it holds around that one.
class window_start {
public:
    static window_start head() { return window_start(QUIRE_START_HEAD); }
    static window_start post(std::string_view id) { return window_start(QUIRE_START_POST, {std::string(id)}); }
    // The first of these that the feed holds, else the head: what window::nearest() gave once.
    static window_start nearest(std::vector<std::string> ids)
    {
        return window_start(QUIRE_START_NEAREST, std::move(ids));
    }
    // The first post whose key is this one or lower: a date.
    static window_start key(std::int64_t key)
    {
        window_start start(QUIRE_START_KEY);
        start.c_.key = key;
        return start;
    }
    static window_start rank(std::uint64_t rank)
    {
        window_start start(QUIRE_START_RANK);
        start.c_.rank = rank;
        return start;
    }
    window_start &rows(std::uint32_t above, std::uint32_t below)
    {
        c_.above = above;
        c_.below = below;
        return *this;
    }

    const std::vector<std::string> &ids() const { return ids_; }
    quire_window_start c() const { return c_; }

private:
    explicit window_start(std::int32_t kind, std::vector<std::string> ids = {}) : ids_(std::move(ids))
    {
        c_.kind = kind;
    }

    quire_window_start c_ = QUIRE_WINDOW_START_INIT;
    std::vector<std::string> ids_;
};

// What changed in the rows of a window, as lists want it: remove `removed` from the last to the first, insert
// `inserted` from the first to the last, draw `updated` anew. The first are indices into the rows before.
struct difference {
    using indices = array_view<std::uint64_t, std::uint64_t>;

    explicit difference(const quire_difference &c)
        : removed(c.removed, c.removed_count), inserted(c.inserted, c.inserted_count),
          updated(c.updated, c.updated_count)
    {
    }
    indices removed, inserted, updated;
};

// Some consecutive rows of a feed around the one that the reader looks at. It opens anywhere and keeps its place
// while rows come and go elsewhere. One thread at a time; keeps no snapshot open.
class window {
public:
    explicit window(quire_window *c) : c_(c) {}

    static may<window> open(const snapshot &snapshot, const feed &feed,
                            const window_start &start = window_start::head())
    {
        quire_window *window = nullptr;
        const quire::ids ids(start.ids());
        quire_window_start given = start.c();
        given.ids = ids.c();
        const auto code = quire_window_open(snapshot.c(), feed.c(), &given, &window);
        return detail::finish(code, quire::window(window));
    }

    // quire_window_info says what each number is.
    may<quire_window_info> info() const
    {
        quire_window_info info = QUIRE_WINDOW_INFO_INIT;
        const auto code = quire_window_get_info(c(), &info);
        return detail::finish(code, info);
    }

    // The reader looks at the row with this index; nothing follows the head. update() reads the rows.
    may<void> look(std::optional<std::uint64_t> index, std::uint32_t above, std::uint32_t below)
    {
        return detail::finish(quire_window_look(c(), index.value_or(UINT64_MAX), above, below));
    }

    // Follows the feed to the commit that the snapshot sees.
    may<difference> update(const snapshot &snapshot)
    {
        quire_difference difference = QUIRE_DIFFERENCE_INIT;
        const auto code = quire_window_update(c(), snapshot.c(), &difference);
        return detail::finish(code, quire::difference(difference));
    }

    // The rows from an index on, of the commit that update() was called with; another one is status::resync.
    may<std::vector<row>> rows(const snapshot &snapshot, std::uint64_t index = 0) const
    {
        quire_window_info info = QUIRE_WINDOW_INFO_INIT;
        auto code = quire_window_get_info(c(), &info);
        std::vector<quire_row> rows(static_cast<std::size_t>(info.count));
        std::size_t count = 0;
        if (code == QUIRE_OK)
            code = quire_window_read(c(), snapshot.c(), index, rows.data(), rows.size(), &count);
        rows.resize(count);
        return detail::finish(code, std::vector<row>(rows.begin(), rows.end()));
    }

    // The ids of its posts, nearest to the anchor first: stored, they are a place to open at.
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

// A row of several feeds read as one list: a post of the feed with index `source`, or where that feed may get posts.
struct merged_row {
    enum class kind { post, gap, head, tail };

    merged_row(const quire_row &c, std::uint32_t source)
        : what(c.kind == QUIRE_ROW_POST  ? kind::post
               : c.kind == QUIRE_ROW_GAP ? kind::gap
               : c.kind == QUIRE_ROW_HEAD ? kind::head
                                          : kind::tail),
          row(c), source(source)
    {
    }
    bool is_frontier() const noexcept { return what != kind::post; }

    kind what;
    quire::row row;
    std::uint32_t source;
};

// Several feeds as one list, highest key first. read() stops behind a frontier, below which all is preliminary;
// the next call goes on below it.
class merge {
public:
    explicit merge(quire_merge *c) : c_(c) {}

    static may<merge> begin(const snapshot &snapshot, std::initializer_list<const feed *> feeds,
                            std::optional<std::int64_t> key = {})
    {
        std::vector<quire_feed *> handles;
        for (const feed *feed : feeds) handles.push_back(feed->c());
        quire_merge *merge = nullptr;
        const auto code = quire_merge_begin(snapshot.c(), handles.data(), handles.size(),
                                            key ? &*key : nullptr, &merge);
        return detail::finish(code, quire::merge(merge));
    }

    // Up to `limit` rows; none at the end.
    may<std::vector<merged_row>> read(std::size_t limit)
    {
        std::vector<quire_row> rows(limit);
        std::vector<std::uint32_t> sources(limit);
        std::size_t count = 0;
        const auto code = quire_merge_read(c(), rows.data(), sources.data(), limit, &count);
        std::vector<merged_row> merged;
        for (std::size_t i = 0; i < count; i++) merged.emplace_back(rows[i], sources[i]);
        return detail::finish(code, std::move(merged));
    }

    quire_merge *c() const { return c_.get(); }

private:
    detail::handle<quire_merge, quire_merge_end> c_;
};

} // namespace QUIRE_MODE
} // namespace quire

#endif
