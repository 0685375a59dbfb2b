// Reading: feeds, rows, pages, posts, changes of one consistent state. Part of quire.hpp.
//
// EVERY VIEW AND LINK IN THIS FILE IS VALID UNTIL ITS SNAPSHOT IS DESTROYED, AND NO LONGER.
#ifndef QUIRE_SNAPSHOT_HPP
#define QUIRE_SNAPSHOT_HPP

#include "rows.hpp"

namespace quire {
inline namespace QUIRE_MODE {

// What a feed is and holds.
class feed_info {
public:
    explicit feed_info(const quire_feed_info &c) : c_(c) {}

    // The number by which a change names the feed.
    std::uint32_t number() const noexcept { return c_.number; }
    std::string_view name() const { return detail::view(c_.name); }
    feed_options options() const
    {
        feed_options options;
        options.order = static_cast<quire::order>(c_.order);
        options.paging = static_cast<quire::paging>(c_.paging);
        options.trusts_end = (c_.flags & QUIRE_FEED_TRUSTS_END) != 0;
        options.is_strict = (c_.flags & QUIRE_FEED_STRICT) != 0;
        options.page_size = c_.page_size;
        options.minimum_run = c_.minimum_run;
        options.first_page = c_.first_page;
        for (std::string_view id : id_list(c_.sticky.items, c_.sticky.count))
            options.sticky.emplace_back(id);
        options.collection = std::string(detail::view(c_.collection));
        options.sizes = static_cast<quire::sizes>(c_.sizes);
        options.rows_per_page = c_.rows_per_page;
        return options;
    }
    std::uint64_t posts() const noexcept { return c_.posts; }
    std::uint64_t detached() const noexcept { return c_.detached; }
    std::uint64_t placeholders() const noexcept { return c_.placeholders; }
    std::uint64_t pages() const noexcept { return c_.pages; }
    std::uint64_t gaps() const noexcept { return c_.gaps; }
    std::uint64_t unverified_joins() const noexcept { return c_.unverified_joins; }
    std::uint64_t body_bytes() const noexcept { return c_.body_bytes; }
    // link_kind::end if nothing lies above the first post; what continues below the last.
    link head() const { return link(c_.head); }
    link tail() const { return link(c_.tail); }
    bool is_in_sequence() const noexcept { return c_.is_in_sequence != 0; }
    // The server did not say that the feed ends here: that was concluded from what it answered.
    bool is_end_assumed() const noexcept { return c_.is_end_assumed != 0; }
    // Answers that showed known posts in another order than the feed's class allows.
    std::uint64_t answers_against_order() const noexcept { return c_.answers_against_order; }
    // The policy that holds, and the rows of a server's page: stated or learned, 0 if not known.
    quire::sizes sizes_now() const noexcept { return static_cast<quire::sizes>(c_.sizes_now); }
    std::uint32_t rows_known() const noexcept { return c_.rows_known; }

private:
    quire_feed_info c_;
};

// What is stored about a post, however many feeds hold it.
class post_info {
public:
    explicit post_info(const quire_post_info &c) : c_(c) {}

    std::optional<std::int64_t> version() const
    {
        return c_.has_version != 0 ? std::optional<std::int64_t>(c_.version) : std::nullopt;
    }
    std::uint64_t feeds() const noexcept { return c_.feeds; }
    std::string_view body() const { return detail::view(c_.body); }
    byte_span body_bytes() const { return byte_span(c_.body); }
    field_list fields() const { return {c_.fields, c_.field_count}; }

private:
    quire_post_info c_;
};

enum class change_kind : std::int32_t {
    inserted = QUIRE_CHANGE_INSERTED,
    removed = QUIRE_CHANGE_REMOVED,
    updated = QUIRE_CHANGE_UPDATED,
    reset = QUIRE_CHANGE_RESET
};

// A post by its id, or a gap by its number; neither is the top of the feed, or the row of a reset.
struct row_name {
    row_name(std::int32_t kind, const quire_bytes &id, std::uint64_t gap)
        : is_post(kind == QUIRE_ROW_POST), is_gap(kind == QUIRE_ROW_GAP), id(detail::view(id)), gap(gap)
    {
    }
    bool is_post, is_gap;
    std::string_view id;
    std::uint64_t gap;
};

// One difference between two states of a feed; `row` is now directly below `below` if it was inserted.
struct change {
    explicit change(const quire_change &c)
        : generation(c.generation), feed(c.feed), kind(static_cast<change_kind>(c.kind)),
          row(c.row_kind, c.id, c.gap), below(c.below_kind, c.below_id, c.below_gap)
    {
    }
    std::uint64_t generation;
    std::uint32_t feed;
    change_kind kind;
    row_name row, below;
};

using change_list = array_view<quire_change, change>;

// One consistent state of the whole cache, whatever others write meanwhile. Do not keep it for long.
class snapshot {
public:
    explicit snapshot(quire_snapshot *c) : c_(c) {}

    // Rows from the top, or below a position; from the bottom upwards, or above one; the gaps alone.
    row_range rows(const feed &feed, std::optional<position> after = {}) const
    {
        return {c(), feed.c(), directed<quire_read_after>, 0, after};
    }
    row_range rows_upwards(const feed &feed, std::optional<position> before = {}) const
    {
        return {c(), feed.c(), directed<quire_read_before>, 0, before};
    }
    row_range gaps(const feed &feed, std::optional<position> after = {}) const
    {
        return {c(), feed.c(), directed<quire_read_gaps>, 0, after};
    }

    // The rank of a row is the number of rows above it, gaps included: its index in a list of them all. The
    // page index of the cache finds it in a time that hardly grows with the feed.
    //
    // Rows from the one with this rank on; the number of all.
    row_range rows_from_rank(const feed &feed, std::uint64_t rank) const
    {
        return {c(), feed.c(), from_rank, rank};
    }
    may<std::uint64_t> row_count(const feed &feed) const
    {
        std::uint64_t count = 0;
        const auto code = quire_row_count(c(), feed.c(), &count);
        return detail::finish(code, count);
    }
    // The rank of a row of this snapshot; of a post, nothing if the feed lacks it.
    may<std::uint64_t> rank_of_row(const feed &feed, const position &position) const
    {
        std::uint64_t rank = 0;
        const auto code = quire_rank_of_row(c(), feed.c(), &position, &rank);
        return detail::finish(code, rank);
    }
    may<std::optional<std::uint64_t>> rank_of_post(const feed &feed, std::string_view id) const
    {
        std::uint64_t rank = 0;
        const auto code = quire_rank_of_post(c(), feed.c(), detail::to_c(id), &rank);
        return detail::finish_unless(QUIRE_NOT_FOUND, code, rank);
    }
    // The rank of the first post whose key is this one or lower. Use it to open a list at a date. It
    // is row_count() if all keys are larger; bad_argument if the feed's order is not that of keys.
    may<std::uint64_t> rank_of_key(const feed &feed, std::int64_t key) const
    {
        std::uint64_t rank = 0;
        const auto code = quire_rank_of_key(c(), feed.c(), key, &rank);
        return detail::finish(code, rank);
    }

    // Pages by their rank, from `index` on; the posts that page `number` still has.
    page_range pages(const feed &feed, std::uint64_t index = 0) const
    {
        return {c(), feed.c(), from_index, index};
    }
    row_range page(const feed &feed, std::uint64_t number) const
    {
        return {c(), feed.c(), of_page, number};
    }

    // The post in its place; what is stored about it. Nothing if the feed, or every feed, lacks it.
    may<std::optional<row>> find(const feed &feed, std::string_view id) const
    {
        quire_row row = {};
        const auto code = quire_find(c(), feed.c(), detail::to_c(id), &row);
        return detail::finish_unless(QUIRE_NOT_FOUND, code, quire::row(row));
    }
    may<std::optional<post_info>> post(std::string_view id, std::string_view collection = {}) const
    {
        quire_post_info info = QUIRE_POST_INFO_INIT;
        const auto code = quire_post_get_info(c(), detail::to_c(collection), detail::to_c(id), &info);
        return detail::finish_unless(QUIRE_NOT_FOUND, code, post_info(info));
    }

    may<feed_info> info(const feed &feed) const
    {
        quire_feed_info info = QUIRE_FEED_INFO_INIT;
        const auto code = quire_feed_get_info(c(), feed.c(), &info);
        return detail::finish(code, feed_info(info));
    }

    // What feed::set_attribute() remembered.
    may<std::optional<std::string_view>> attribute(const feed &feed, std::string_view name) const
    {
        quire_bytes value = {};
        const auto code = quire_get_attribute(c(), feed.c(), detail::to_c(name), &value);
        return detail::finish_unless(QUIRE_NOT_FOUND, code, detail::view(value));
    }

    // Number of commits that the snapshot sees.
    may<std::uint64_t> generation() const
    {
        std::uint64_t generation = 0;
        const auto code = quire_snapshot_generation(c(), &generation);
        return detail::finish(code, generation);
    }

    // What each commit after `since` changed, oldest first. Nothing if the log does not reach back that
    // far: read the feeds anew.
    may<std::optional<change_list>> changes_since(std::uint64_t since) const
    {
        const quire_change *changes = nullptr;
        std::size_t count = 0;
        const auto code = quire_changes_since(c(), since, &changes, &count);
        return detail::finish_unless(QUIRE_RESYNC, code, change_list(changes, count));
    }

    quire_snapshot *c() const { return c_.get(); }

private:
    using reader = quire_status (*)(quire_snapshot *, quire_feed *, const quire_position *, quire_row *,
                                    std::size_t, std::size_t *);

    template <reader Read>
    static quire_status directed(const row_range &range, const quire_row *last, quire_row *rows,
                                 std::size_t *count)
    {
        const quire_position *from =
            last != nullptr ? &last->position : range.start ? &*range.start : nullptr;
        return Read(range.snapshot, range.feed, from, rows, row_range::screenful, count);
    }

    static quire_status from_rank(const row_range &range, const quire_row *last, quire_row *rows,
                                  std::size_t *count)
    {
        if (last != nullptr) return directed<quire_read_after>(range, last, rows, count);
        return quire_read_from_rank(range.snapshot, range.feed, range.argument, rows, row_range::screenful,
                                    count);
    }

    static quire_status of_page(const row_range &range, const quire_row *, quire_row *rows,
                                std::size_t *count)
    {
        return quire_read_page(range.snapshot, range.feed, range.argument,
                               static_cast<std::size_t>(range.done), rows, row_range::screenful, count);
    }

    static quire_status from_index(const page_range &range, const quire_page *, quire_page *pages,
                                   std::size_t *count)
    {
        return quire_read_pages(range.snapshot, range.feed, range.argument + range.done, pages,
                                page_range::screenful, count);
    }

    detail::handle<quire_snapshot, quire_snapshot_end> c_;
};

} // namespace QUIRE_MODE
} // namespace quire

#endif
