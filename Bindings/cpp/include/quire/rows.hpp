// Rows and pages, and the ranges that fetch them by the screenful. Part of quire.hpp.
//
// EVERY VIEW AND LINK IN THIS FILE IS VALID UNTIL ITS SNAPSHOT IS DESTROYED, AND NO LONGER.
#ifndef QUIRE_ROWS_HPP
#define QUIRE_ROWS_HPP

#include "feed.hpp"

#include <array>

namespace quire {
inline namespace QUIRE_MODE {

// Where a row stands in one snapshot. It means nothing in another one.
using position = quire_position;

// A row of a feed: a post, or a gap. A cheap copy; its views borrow from the snapshot.
class row {
public:
    explicit row(const quire_row &c) : c_(c) {}

    bool is_post() const noexcept { return c_.kind == QUIRE_ROW_POST; }
    bool is_gap() const noexcept { return c_.kind == QUIRE_ROW_GAP; }
    quire::position position() const noexcept { return c_.position; }

    // Posts. The body is what was received, in the memory-mapped file.
    std::string id() const
    {
        char digits[QUIRE_DIGITS];
        return std::string(detail::view(quire_row_id(&c_, digits)));
    }
    // The id if it is the decimal text of a number below 2^64, as most are: costs nothing.
    std::optional<std::uint64_t> number() const { return optional(QUIRE_ROW_NUMERIC_ID, c_.id_number); }
    std::string_view body() const { return detail::view(c_.body); }
    byte_span body_bytes() const { return byte_span(c_.body); }
    std::optional<std::int64_t> key() const { return optional(QUIRE_ROW_HAS_KEY, c_.key); }
    // Number of the page that last delivered it.
    std::optional<std::uint64_t> page() const { return optional(QUIRE_ROW_HAS_PAGE, c_.page); }
    bool is_detached() const noexcept { return has(QUIRE_ROW_DETACHED); }
    bool is_pinned() const noexcept { return has(QUIRE_ROW_PINNED); }
    bool is_placeholder() const noexcept { return has(QUIRE_ROW_PLACEHOLDER); }
    // A newer version was seen, but only with less detail: ask for its body (place::bodies).
    bool is_outdated() const noexcept { return has(QUIRE_ROW_OUTDATED); }
    // The body is not all of the post; post_info::detail says how much it is.
    bool is_partial() const noexcept { return has(QUIRE_ROW_PARTIAL); }
    // Nothing proves that it follows the post above; why() says what speaks against it.
    bool is_unverified() const noexcept { return has(QUIRE_ROW_UNVERIFIED); }
    // The page above such a join was asked for again and ended there as before; see place::join().
    bool is_checked() const noexcept { return has(QUIRE_ROW_CHECKED); }
    // Gaps, and posts that are unverified.
    doubt why() const noexcept { return static_cast<doubt>(c_.why); }

    // Gaps: the number, what continues below the post above, and above the post below.
    std::uint64_t gap() const noexcept { return c_.gap; }
    link down() const { return link(c_.down); }
    link up() const { return link(c_.up); }
    std::uint64_t posts_above() const noexcept { return c_.posts_above; }
    // Gaps: the clock of the change that opened it, larger is later.
    std::uint64_t since() const noexcept { return c_.since; }

private:
    bool has(std::uint32_t flag) const noexcept { return (c_.flags & flag) != 0; }
    template <class Number>
    std::optional<Number> optional(std::uint32_t flag, Number number) const
    {
        return has(flag) ? std::optional<Number>(number) : std::nullopt;
    }

    quire_row c_;
};

// A page as stored: one accepted response.
struct page {
    explicit page(const quire_page &c)
        : number(c.number), index(c.index), own(c.own), next(c.next), previous(c.previous),
          received(c.received), added(c.added), duplicates(c.duplicates),
          duplicates_in_page(c.duplicates_in_page), posts(c.posts), fetched_at(c.fetched_at),
          is_full(c.is_full != 0)
    {
    }

    // `index` is the rank in this snapshot, 0 is the topmost; `posts` is how many it still has.
    std::uint64_t number, index;
    link own, next, previous;
    std::uint64_t received, added, duplicates, duplicates_in_page, posts;
    std::int64_t fetched_at;
    bool is_full;
};

// Rows or pages, fetched a screenful at a time while a range-for walks. Walk it once; the snapshot and the
// feed must outlive it. Where errors are returned, a failure ends the walk: look at failure() then.
template <class Item, class C>
class screenfuls {
public:
    static constexpr std::size_t screenful = 64;

    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Item;
        using difference_type = std::ptrdiff_t;
        using pointer = const Item *;
        using reference = Item;

        iterator() = default;
        explicit iterator(screenfuls *range) : range_(range) {}
        Item operator*() const { return Item(range_->items_[range_->at_]); }
        iterator &operator++()
        {
            range_->advance();
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(const iterator &other) const { return is_done() == other.is_done(); }
        bool operator!=(const iterator &other) const { return !(*this == other); }

    private:
        bool is_done() const { return range_ == nullptr || range_->at_ == range_->count_; }
        screenfuls *range_ = nullptr;
    };

    // One call of the C API: `last` is the last item before, `done` how many there were.
    using fetcher = quire_status (*)(const screenfuls &range, const C *last, C *items, std::size_t *count);

    screenfuls(quire_snapshot *snapshot, quire_feed *feed, fetcher fetch, std::uint64_t argument = 0,
               std::optional<quire::position> start = {})
        : snapshot(snapshot), feed(feed), argument(argument), start(start), fetch_(fetch)
    {
    }
    screenfuls(const screenfuls &) = delete;
    screenfuls &operator=(const screenfuls &) = delete;

    iterator begin()
    {
        if (done == 0 && count_ == 0) fetch(nullptr);
        return iterator(this);
    }
    iterator end() { return iterator(); }
    // Nothing, unless a read failed.
    const std::optional<error> &failure() const { return failure_; }

    quire_snapshot *const snapshot;
    quire_feed *const feed;
    const std::uint64_t argument;
    const std::optional<quire::position> start;
    std::uint64_t done = 0;

private:
    void advance()
    {
        if (++at_ < count_ || count_ < screenful) return;
        const C last = items_[screenful - 1];
        fetch(&last);
    }

    void fetch(const C *last)
    {
        done += count_;
        at_ = count_ = 0;
        const quire_status code = fetch_(*this, last, items_.data(), &count_);
        if (code == QUIRE_OK) return;
        count_ = 0;
        failure_ = error::last(code);
#ifndef QUIRE_NO_EXCEPTIONS
        throw *failure_;
#endif
    }

    fetcher fetch_;
    std::size_t at_ = 0, count_ = 0;
    std::array<C, screenful> items_;
    std::optional<error> failure_;
};

using row_range = screenfuls<row, quire_row>;
using page_range = screenfuls<page, quire_page>;

} // namespace QUIRE_MODE
} // namespace quire

#endif
