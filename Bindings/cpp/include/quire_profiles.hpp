// quire_profiles.hpp - Responses to answers, by profile, for C++17. The manual is quire_profiles.h.
//
//     quire::profile github("github");
//     quire::feed feed = cache.feed("issues", github.feed_options());
//
//     quire::request request = feed.plan(quire::place::head());
//     quire::response response;                                        (what the server sent)
//     response.body(body).status(200).header("Link", links);
//     quire::parsed parsed = github.parse(response);
//     quire::outcome outcome = feed.ingest(request.ticket(), parsed.answer());
//
// A response borrows what is put into it until it was parsed. What parsed shows, its answer too, is valid until that
// object is destroyed. Errors are as in quire.hpp. A profile may be used from any thread. Link with -lquire-profiles.
#ifndef QUIRE_PROFILES_HPP
#define QUIRE_PROFILES_HPP

#include "quire.hpp"

#include <quire_profiles.h>

#include <chrono>
#include <memory>

namespace quire {
inline namespace QUIRE_MODE {

namespace detail {

// The failure of a call into quire-profiles, which has a last error of its own.
inline quire::error profiles_error(quire_status code)
{
    quire_error what = QUIRE_ERROR_INIT;
    if (quire_profiles_last_error(&what) == QUIRE_OK && what.status == code && what.message != nullptr)
        return {static_cast<quire::status>(code), what.os_error, what.message};
    return quire::error(static_cast<quire::status>(code));
}

template <class T>
may<T> finish_profiles(quire_status code, T value)
{
    if (code != QUIRE_OK) return fail<T>(profiles_error(code));
    return may<T>(std::move(value));
}

} // namespace detail

// What is to be read from other places than the profile says. Empty texts change nothing.
struct profile_options {
    std::string items = {};
    std::string id = {};
    std::string key = {};
    // The largest response, in bytes; 0 is 16 MiB.
    std::uint64_t maximum_size = 0;
};

// What a server sent. Borrows everything.
class response {
public:
    response &body(std::string_view bytes) { return c_.body = detail::to_c(bytes), *this; }
    // The status of HTTP. All but 200 to 299 are refused.
    response &status(int code) { return c_.status = code, *this; }
    // The address that was asked for.
    response &request(std::string_view address) { return c_.request = detail::to_c(address), *this; }
    response &header(std::string_view name, std::string_view value)
    {
        return headers_.push_back({detail::to_c(name), detail::to_c(value)}), *this;
    }
    quire_response c() const
    {
        quire_response c = c_;
        c.headers = headers_.data();
        c.header_count = headers_.size();
        return c;
    }

private:
    quire_response c_ = QUIRE_RESPONSE_INIT;
    std::vector<quire_field> headers_;
};

enum class asked : std::int32_t {
    unknown = QUIRE_ASKED_UNKNOWN,
    head = QUIRE_ASKED_HEAD,
    newer = QUIRE_ASKED_NEWER,
    below = QUIRE_ASKED_BELOW,
    above = QUIRE_ASKED_ABOVE,
    around = QUIRE_ASKED_AROUND
};

// A parsed response; owns what it shows.
class parsed : public detail::owned<quire_parsed, quire_parsed_free> {
public:
    parsed() : owned(QUIRE_PARSED_INIT) {}

    // For feed::ingest() and its kin.
    quire::answer answer() const { return quire::answer(*c_.answer); }
    std::size_t size() const noexcept { return c_.answer->count; }
    quire::asked asked() const noexcept { return static_cast<quire::asked>(c_.asked); }
    std::string_view asked_id() const { return detail::view(c_.asked_id); }
    // The link to what follows, and the one that led to this response.
    link next() const { return link(c_.answer->next); }
    link own() const { return link(c_.own); }
    // The end that a page without posts reports is not certain: perhaps the post is gone that the link of the request
    // names. Call feed::drop_link(); if the link is asked for again after that, and its page is empty again, it is
    // the end.
    bool is_end_doubtful() const noexcept { return (c_.flags & QUIRE_PARSED_END_IS_DOUBTFUL) != 0; }
    std::optional<std::uint64_t> page() const { return number(c_.page, QUIRE_PARSED_HAS_PAGE); }
    std::optional<std::uint64_t> pages() const { return number(c_.pages, QUIRE_PARSED_HAS_PAGES); }
    std::optional<std::uint64_t> total() const { return number(c_.total, QUIRE_PARSED_HAS_TOTAL); }
    std::optional<std::uint64_t> quota() const { return number(c_.quota, QUIRE_PARSED_HAS_QUOTA); }
    // How long the server asks to wait, and in how much time it permits new requests.
    std::optional<std::chrono::milliseconds> backoff() const { return time(c_.backoff_ms, QUIRE_PARSED_HAS_BACKOFF); }
    std::optional<std::chrono::milliseconds> quota_renewal() const
    {
        return time(c_.quota_renewal_ms, QUIRE_PARSED_HAS_QUOTA_RENEWAL);
    }

private:
    std::optional<std::uint64_t> number(std::uint64_t value, std::uint32_t flag) const
    {
        if ((c_.flags & flag) == 0) return std::nullopt;
        return value;
    }
    std::optional<std::chrono::milliseconds> time(std::uint64_t value, std::uint32_t flag) const
    {
        if ((c_.flags & flag) == 0) return std::nullopt;
        return std::chrono::milliseconds(value);
    }
};

// One profile, and a parser for it.
class profile {
public:
    // One that comes with the library, by its name, or one as JSON.
    static may<profile> open(std::string_view name_or_json, const profile_options &options = {})
    {
        quire_profile_options c_options = QUIRE_PROFILE_OPTIONS_INIT;
        c_options.items = detail::to_c(options.items);
        c_options.id = detail::to_c(options.id);
        c_options.key = detail::to_c(options.key);
        c_options.maximum_size = options.maximum_size;
        quire_profile *c = nullptr;
        const auto code = quire_profile_open(detail::to_c(name_or_json), &c_options, &c);
        return detail::finish_profiles(code, profile(c));
    }
#ifndef QUIRE_NO_EXCEPTIONS
    explicit profile(std::string_view name_or_json, const profile_options &options = {})
        : profile(open(name_or_json, options))
    {
    }
#endif
    explicit profile(quire_profile *c) : c_(c) {}

    // The names of those that come with the library.
    static may<std::vector<std::string>> names()
    {
        quire_list list = QUIRE_LIST_INIT;
        const auto code = quire_profile_names(&list);
        std::vector<std::string> names;
        for (std::string_view name : id_list(list.items, list.count)) names.emplace_back(name);
        quire_profile_names_free(&list);
        return detail::finish_profiles(code, std::move(names));
    }

    // The options for a feed of this API.
    may<quire::feed_options> feed_options() const
    {
        quire_feed_options c = QUIRE_FEED_OPTIONS_INIT;
        const auto code = quire_profile_get_feed_options(c_.get(), &c);
        quire::feed_options options;
        options.order = static_cast<quire::order>(c.order);
        options.paging = static_cast<quire::paging>(c.paging);
        options.first_page = c.first_page;
        options.sizes = static_cast<quire::sizes>(c.sizes);
        options.rows_per_page = c.rows_per_page;
        return detail::finish_profiles(code, std::move(options));
    }

    // status::bad_response if it is not what the profile describes; the sentence names the place.
    may<quire::parsed> parse(const response &response) const
    {
        const quire_response given = response.c();
        quire::parsed parsed;
        const auto code = quire_parse(c_.get(), &given, parsed.out());
        return detail::finish_profiles(code, std::move(parsed));
    }

private:
    struct close {
        void operator()(quire_profile *c) const { quire_profile_close(c); }
    };
    std::unique_ptr<quire_profile, close> c_;
};

} // namespace QUIRE_MODE
} // namespace quire

#endif
