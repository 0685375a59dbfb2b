// What goes in and what comes out: ids, links, places, answers, requests, outcomes. Part of quire.hpp.
#ifndef QUIRE_VALUES_HPP
#define QUIRE_VALUES_HPP

#include "result.hpp"

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <vector>

namespace quire {
inline namespace QUIRE_MODE {

namespace detail {

inline std::uint32_t flag(bool is_set, std::uint32_t value) { return is_set ? value : 0; }

inline quire_bytes to_c(std::string_view text) { return {text.data(), text.size()}; }

inline std::string_view view(const quire_bytes &bytes)
{
    return {static_cast<const char *>(bytes.data), bytes.size};
}

} // namespace detail

// A borrowed range of bytes: what std::span<const std::byte> is in C++20.
class byte_span {
public:
    byte_span() = default;
    explicit byte_span(const quire_bytes &bytes)
        : data_(static_cast<const std::byte *>(bytes.data)), size_(bytes.size)
    {
    }

    const std::byte *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    const std::byte *begin() const noexcept { return data_; }
    const std::byte *end() const noexcept { return data_ + size_; }
    std::byte operator[](std::size_t index) const { return data_[index]; }

private:
    const std::byte *data_ = nullptr;
    std::size_t size_ = 0;
};

// A borrowed array of the C API, seen as values of C++. Copies nothing.
template <class C, class Value>
class array_view {
public:
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Value;
        using difference_type = std::ptrdiff_t;
        using pointer = const Value *;
        using reference = Value;

        explicit iterator(const C *at) : at_(at) {}
        Value operator*() const { return array_view::convert(*at_); }
        iterator &operator++()
        {
            ++at_;
            return *this;
        }
        iterator operator++(int) { return iterator(at_++); }
        bool operator==(const iterator &other) const { return at_ == other.at_; }
        bool operator!=(const iterator &other) const { return at_ != other.at_; }

    private:
        const C *at_;
    };

    array_view() = default;
    array_view(const C *items, std::size_t count) : items_(items), count_(count) {}

    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    Value operator[](std::size_t index) const { return convert(items_[index]); }
    iterator begin() const { return iterator(items_); }
    iterator end() const { return iterator(items_ + count_); }

private:
    static Value convert(const C &item)
    {
        if constexpr (std::is_same_v<C, quire_bytes>)
            return detail::view(item);
        else
            return Value(item);
    }

    const C *items_ = nullptr;
    std::size_t count_ = 0;
};

using id_list = array_view<quire_bytes, std::string_view>;

// Ids as an argument: {"a", "b"}, or any container of what converts to std::string_view. Borrows them.
class ids {
public:
    ids(std::initializer_list<std::string_view> list) : ids(list.begin(), list.end()) {}
    template <class Container, class = decltype(std::string_view(*std::begin(std::declval<const Container &>())))>
    ids(const Container &container) : ids(std::begin(container), std::end(container))
    {
    }

    std::size_t size() const noexcept { return items_.size(); }
    quire_ids c() const { return {items_.data(), items_.size()}; }

private:
    template <class Iterator>
    ids(Iterator from, Iterator to)
    {
        for (; from != to; ++from) items_.push_back(detail::to_c(std::string_view(*from)));
    }

    std::vector<quire_bytes> items_;
};

// A named value of a post. Borrows both.
struct field {
    field(std::string_view name, std::string_view value) : name(name), value(value) {}
    explicit field(const quire_field &c) : field(detail::view(c.name), detail::view(c.value)) {}
    std::string_view name, value;
};

using field_list = array_view<quire_field, field>;

enum class link_kind : std::int32_t {
    unknown = QUIRE_LINK_UNKNOWN,
    end = QUIRE_LINK_END,
    confirm_end = QUIRE_LINK_CONFIRM_END,
    head = QUIRE_LINK_HEAD,
    more = QUIRE_LINK_MORE,
    token = QUIRE_LINK_TOKEN,
    below = QUIRE_LINK_BELOW,
    above = QUIRE_LINK_ABOVE
};

// What is known about continuing at an open place of a feed. Borrows its text.
struct link {
    link() = default;
    explicit link(link_kind kind, std::string_view text = {}) : kind(kind), text(text) {}
    explicit link(const quire_link &c)
        : kind(static_cast<link_kind>(c.kind)), text(detail::view(c.text)),
          is_overlapping(c.is_overlapping != 0)
    {
    }

    static link end() { return link(link_kind::end); }
    static link token(std::string_view text) { return link(link_kind::token, text); }
    static link below(std::string_view id) { return link(link_kind::below, id); }
    static link above(std::string_view id) { return link(link_kind::above, id); }

    quire_link c() const { return {static_cast<std::int32_t>(kind), 0, detail::to_c(text)}; }

    link_kind kind = link_kind::unknown;
    std::string_view text;
    // Results only: the answer to it starts above the post at the border, not directly beyond it.
    bool is_overlapping = false;
};

// Where a page is asked for. Borrows the target, the posts and the link.
class place {
public:
    static place head() { return place(QUIRE_PLACE_HEAD); }
    static place tail() { return place(QUIRE_PLACE_TAIL); }
    static place open_head() { return place(QUIRE_PLACE_OPEN_HEAD); }
    static place gap(std::uint64_t number) { return place(QUIRE_PLACE_GAP, number); }
    static place above_gap(std::uint64_t number) { return place(QUIRE_PLACE_ABOVE_GAP, number); }
    static place around(std::string_view target)
    {
        place around(QUIRE_PLACE_AROUND);
        around.c_.target = detail::to_c(target);
        return around;
    }
    // Those of these posts whose bodies are missing, not full, or outdated, wherever they stand.
    static place bodies(const ids &posts)
    {
        place bodies(QUIRE_PLACE_BODIES);
        bodies.c_.posts = posts.c();
        return bodies;
    }

    // Feeds paged by number: the page with this number, wherever it belongs.
    static place page(std::uint64_t number)
    {
        place page(QUIRE_PLACE_PAGE);
        page.c_.page = number;
        return page;
    }
    // The join above this post, if only the numbering claims it: asks for the page above it again.
    static place join(std::string_view below)
    {
        place join(QUIRE_PLACE_JOIN);
        join.c_.target = detail::to_c(below);
        return join;
    }

    // What has changed since the newest token that an answer brought.
    static place delta() { return place(QUIRE_PLACE_DELTA); }

    // How many posts to ask for; 0 is the feed's page size.
    place &limit(std::uint32_t count) { return c_.limit = count, *this; }
    // Stop at the far side of the gap, or at the first cached post.
    place &bounded(bool is_bounded = true) { return c_.is_bounded = is_bounded, *this; }
    // For head(): the link to the first page, if the server gave one.
    place &from(const link &link) { return c_.link = link.c(), *this; }

    const quire_place *c() const { return &c_; }

private:
    explicit place(std::int32_t kind, std::uint64_t gap = 0)
    {
        c_.kind = kind;
        c_.gap = gap;
    }

    quire_place c_ = QUIRE_PLACE_INIT;
};

// Why posts may be missing at a gap, or why nothing proves that a post follows the one above it.
enum class doubt : std::int32_t {
    none = 0,
    unfetched = QUIRE_DOUBT_UNFETCHED,
    evicted = QUIRE_DOUBT_EVICTED,
    end_in_doubt = QUIRE_DOUBT_END_IN_DOUBT,
    jump = QUIRE_DOUBT_JUMP,
    missing_page = QUIRE_DOUBT_MISSING_PAGE,
    contradiction = QUIRE_DOUBT_CONTRADICTION,
    drift = QUIRE_DOUBT_DRIFT,
    numbering = QUIRE_DOUBT_NUMBERING,
    disorder = QUIRE_DOUBT_DISORDER,
    unplaced = QUIRE_DOUBT_UNPLACED,
    missed = QUIRE_DOUBT_MISSED,
    damage = QUIRE_DOUBT_DAMAGE
};

inline const char *name(doubt why) noexcept { return quire_doubt_name(static_cast<std::int32_t>(why)); }

// One post of an answer. Borrows the id and the body.
struct post {
    std::string_view id;
    std::string_view body = {};
    std::optional<std::int64_t> key = {};
    std::optional<std::int64_t> version = {};
    // How much of the post the body holds. It never gives way to one of less detail.
    std::uint32_t level = QUIRE_DETAIL_FULL;
};

// What a server answered. Borrows everything that is put in.
class answer {
public:
    answer() = default;
    // The same answer, as quire_parse() makes one. A newer library knows more of it: the copy has what this header has.
    explicit answer(const quire_answer &c) : c_(c)
    {
        c_.struct_size = sizeof c_;
        c_.post_size = sizeof(quire_post);
        posts_.reserve(c.count);
        for (std::size_t i = 0; i < c.count; i++) {
            const auto *const at = reinterpret_cast<const char *>(c.posts) + i * c.post_size;
            posts_.push_back(*reinterpret_cast<const quire_post *>(at));
        }
    }

    // The posts in the server's order.
    answer &add(const post &post)
    {
        quire_post c = {};
        c.id = detail::to_c(post.id);
        c.body = detail::to_c(post.body);
        c.key = post.key.value_or(0);
        c.version = post.version.value_or(0);
        c.flags = detail::flag(post.key.has_value(), QUIRE_POST_HAS_KEY) |
                  detail::flag(post.version.has_value(), QUIRE_POST_HAS_VERSION) | QUIRE_POST_HAS_DETAIL;
        c.detail = post.level;
        posts_.push_back(c);
        return *this;
    }
    answer &add(std::string_view id, std::string_view body = {}) { return add(post{id, body, {}, {}, QUIRE_DETAIL_FULL}); }
    answer &opaque_rows(std::uint64_t count) { return c_.opaque_rows = count, *this; }
    answer &next(const link &link) { return c_.next = link.c(), *this; }
    answer &previous(const link &link) { return c_.previous = link.c(), *this; }
    // The number of rows of the whole list, if the server says it.
    answer &total(std::uint64_t rows) { return c_.has_total = 1, c_.total = rows, *this; }
    // A later request with this token asks what has changed since this answer.
    answer &since(std::string_view token) { return c_.since = detail::to_c(token), *this; }
    // The answer to a delta: posts that are gone on the server.
    answer &deleted(const ids &posts) { return c_.deleted = posts.c(), *this; }
    // Milliseconds since 1970.
    answer &fetched_at(std::int64_t time) { return c_.fetched_at = time, *this; }

    std::size_t size() const noexcept { return posts_.size(); }
    quire_answer c() const
    {
        quire_answer c = c_;
        c.posts = posts_.data();
        c.count = posts_.size();
        return c;
    }

private:
    quire_answer c_ = QUIRE_ANSWER_INIT;
    std::vector<quire_post> posts_;
};

namespace detail {

// A struct of the library that owns memory.
template <class C, void (*Free)(C *)>
class owned {
public:
    owned(owned &&other) noexcept : c_(other.c_) { other.c_.owner = nullptr; }
    owned &operator=(owned &&other) noexcept
    {
        std::swap(c_, other.c_);
        return *this;
    }
    ~owned()
    {
        if (c_.owner != nullptr) Free(&c_);
    }
    C *out() { return &c_; }

protected:
    explicit owned(const C &empty) : c_(empty) {}
    C c_;
};

} // namespace detail
} // namespace QUIRE_MODE
} // namespace quire

#include "outcome.hpp"

#endif
