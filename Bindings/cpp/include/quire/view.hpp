// Views: a part of a feed that the cache keeps. Part of quire.hpp.
//
// EVERY VIEW AND LINK IN THIS FILE IS VALID UNTIL ITS SNAPSHOT IS DESTROYED, AND NO LONGER.
#ifndef QUIRE_VIEW_HPP
#define QUIRE_VIEW_HPP

#include "window.hpp"

#include <functional>
#include <memory>

namespace quire {
inline namespace QUIRE_MODE {

enum class view_order : std::int32_t { feed = QUIRE_VIEW_FEED, keys = QUIRE_VIEW_KEYS };

// Where a view shows a post: the section that counts it, and the place in a view ordered by keys.
struct view_entry {
    std::string section, key;
};

struct view_section {
    explicit view_section(const quire_view_section &c)
        : name(detail::view(c.name)), posts(c.posts), rank(c.rank)
    {
    }
    std::string_view name;
    // The number of its posts, and of those in the sections before it; of a post, of those above it.
    std::uint64_t posts, rank;
};

// The posts of a feed that a function chooses, kept in the cache: Docs/views.md. It goes on being kept when this
// object is destroyed, until the process closes the cache.
class view {
public:
    // Decides whether a view shows a post, of which the row has id, key, flags and body. It runs inside commits and
    // checks, on any thread, must depend on nothing but the post, and must not use the cache. If it throws, the post
    // is not shown.
    using function = std::function<std::optional<view_entry>(const row &)>;

    explicit view(quire_view *c) : c_(c) {}

    // Opens a view, and makes it if there is none. Another function needs another version.
    static may<view> open(const feed &feed, std::string_view name, function choose,
                          view_order order = view_order::feed, std::uint64_t version = 1)
    {
        quire_view *view = nullptr;
        quire_view_options options = QUIRE_VIEW_OPTIONS_INIT;
        options.order = static_cast<std::int32_t>(order);
        options.version = version;
        options.release = [](void *context) { delete static_cast<function *>(context); };
        const auto code = quire_view_open(feed.c(), detail::to_c(name), &options, call,
                                          new function(std::move(choose)), &view);
        return detail::finish(code, quire::view(view));
    }

    // Opens a view for reading, even if another process keeps it; nothing if the feed has none of this name.
    static may<std::optional<view>> find(const feed &feed, std::string_view name)
    {
        quire_view *view = nullptr;
        const auto code = quire_view_find(feed.c(), detail::to_c(name), &view);
        return detail::finish_unless(QUIRE_NOT_FOUND, code, quire::view(view));
    }

    // False if the feed has none of this name.
    static may<bool> remove(const feed &feed, std::string_view name)
    {
        std::int32_t done = 0;
        const auto code = quire_view_remove(feed.c(), detail::to_c(name), &done);
        return detail::finish(code, done != 0);
    }

    // quire_view_info says what each number is.
    may<quire_view_info> info(const snapshot &snapshot) const
    {
        quire_view_info info = QUIRE_VIEW_INFO_INIT;
        const auto code = quire_view_get_info(snapshot.c(), c(), &info);
        return detail::finish(code, info);
    }

    // Up to `limit` rows: from the top, or below one that this snapshot has read of the view.
    may<std::vector<row>> rows(const snapshot &snapshot, std::size_t limit,
                               std::optional<position> after = {}) const
    {
        std::vector<quire_row> rows(limit);
        std::size_t count = 0;
        const auto code = quire_view_read_after(snapshot.c(), c(), after ? &*after : nullptr, rows.data(),
                                                limit, &count);
        return detail::finish(code, std::vector<row>(rows.begin(), rows.begin() + static_cast<long>(count)));
    }

    // From the post on that has this many posts of the view above it.
    may<std::vector<row>> rows_from_rank(const snapshot &snapshot, std::uint64_t rank, std::size_t limit) const
    {
        std::vector<quire_row> rows(limit);
        std::size_t count = 0;
        const auto code =
            quire_view_read_from_rank(snapshot.c(), c(), rank, rows.data(), limit, &count);
        return detail::finish(code, std::vector<row>(rows.begin(), rows.begin() + static_cast<long>(count)));
    }

    // The section of a post, and its rank in the view; nothing if the view does not show it.
    may<std::optional<view_section>> place(const snapshot &snapshot, std::string_view id) const
    {
        quire_view_section place = {};
        const auto code = quire_view_find_post(snapshot.c(), c(), detail::to_c(id), &place);
        return detail::finish_unless(QUIRE_NOT_FOUND, code, view_section(place));
    }

    // The sections by their bytes, without the first `skip`.
    may<std::vector<view_section>> sections(const snapshot &snapshot, std::size_t limit,
                                            std::uint64_t skip = 0) const
    {
        std::vector<quire_view_section> sections(limit);
        std::size_t count = 0;
        const auto code = quire_view_sections(snapshot.c(), c(), skip, sections.data(), limit, &count);
        sections.resize(count);
        return detail::finish(code, std::vector<view_section>(sections.begin(), sections.end()));
    }

    quire_view *c() const { return c_.get(); }

private:
    static std::int32_t call(void *context, const quire_row *post, quire_view_entry *out_entry)
    {
        // what the library borrows until this thread asks again
        thread_local std::optional<view_entry> entry;
        const auto &choose = *static_cast<function *>(context);
#ifdef QUIRE_NO_EXCEPTIONS
        entry = choose(row(*post));
#else
        try {
            entry = choose(row(*post));
        } catch (...) {
            entry.reset();
        }
#endif
        if (!entry) return 0;
        out_entry->section = detail::to_c(entry->section);
        out_entry->key = detail::to_c(entry->key);
        return 1;
    }

    detail::handle<quire_view, quire_view_close> c_;
};

} // namespace QUIRE_MODE
} // namespace quire

#endif
