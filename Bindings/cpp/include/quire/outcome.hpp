// What to ask, and what an answer did. Part of quire.hpp.
#ifndef QUIRE_OUTCOME_HPP
#define QUIRE_OUTCOME_HPP

#include "values.hpp"

namespace quire {
inline namespace QUIRE_MODE {

enum class request_kind : std::int32_t {
    none = QUIRE_REQUEST_NONE,
    link = QUIRE_REQUEST_LINK,
    position = QUIRE_REQUEST_POSITION,
    page = QUIRE_REQUEST_PAGE,
    around = QUIRE_REQUEST_AROUND,
    snapshot = QUIRE_REQUEST_SNAPSHOT,
    bodies = QUIRE_REQUEST_BODIES,
    delta = QUIRE_REQUEST_DELTA
};

enum class refusal : std::int32_t {
    none = 0,
    empty = QUIRE_REFUSAL_EMPTY,
    end = QUIRE_REFUSAL_END,
    closed = QUIRE_REFUSAL_CLOSED,
    no_link = QUIRE_REFUSAL_NO_LINK,
    no_such_gap = QUIRE_REFUSAL_NO_SUCH_GAP,
    fill_first = QUIRE_REFUSAL_FILL_FIRST,
    unsupported = QUIRE_REFUSAL_UNSUPPORTED,
    no_such_join = QUIRE_REFUSAL_NO_SUCH_JOIN
};

// What helps after an answer that changed no posts, or where nothing can be asked.
enum class help : std::int32_t {
    none = 0,
    retry = QUIRE_HELP_RETRY,
    plan_again = QUIRE_HELP_PLAN_AGAIN,
    refresh = QUIRE_HELP_REFRESH,
    fill_first = QUIRE_HELP_FILL_FIRST,
    reset = QUIRE_HELP_RESET,
    check_options = QUIRE_HELP_CHECK_OPTIONS,
    look_again = QUIRE_HELP_LOOK_AGAIN
};

inline const char *name(help help) noexcept { return quire_help_name(static_cast<std::int32_t>(help)); }

// Who chooses how many rows a page has, in feeds paged by offset or number.
enum class sizes : std::int32_t {
    // Not known: the same size is asked for again and again, and what comes back is learned.
    unknown = QUIRE_SIZES_UNKNOWN,
    // The server grants any size up to the limit that is asked for.
    free = QUIRE_SIZES_FREE,
    // The server fixes the size, whatever is asked for.
    fixed = QUIRE_SIZES_FIXED
};

inline const char *name(refusal why) noexcept
{
    return quire_refusal_name(static_cast<std::int32_t>(why));
}

// The request to send to the server. Its views live as long as it does.
class request : public detail::owned<quire_request, quire_request_free> {
public:
    request() : owned(QUIRE_REQUEST_INIT) {}

    // False if there is nothing to ask; refusal() says why.
    explicit operator bool() const noexcept { return c_.kind != QUIRE_REQUEST_NONE; }
    request_kind kind() const noexcept { return static_cast<request_kind>(c_.kind); }
    quire::refusal refusal() const noexcept { return static_cast<quire::refusal>(c_.refusal); }
    // What helps against the refusal.
    quire::help help() const noexcept { return static_cast<quire::help>(c_.help); }
    // The answer starts above the post at the border, not directly beyond it.
    bool is_overlapping() const noexcept { return c_.is_overlapping != 0; }
    // What the answer must be ingested with. Outlives this object, and the process.
    std::uint64_t ticket() const noexcept { return c_.ticket; }
    std::uint64_t position() const noexcept { return c_.position; }
    // How many posts to ask for; 0: name no size.
    std::uint64_t limit() const noexcept { return c_.limit; }
    quire::link link() const { return quire::link(c_.link); }
    id_list ids() const { return {c_.ids.items, c_.ids.count}; }
    // Bounded requests: stop at this post; else empty. The end that the answer claims is that of the range.
    std::string_view until() const { return detail::view(c_.until); }
};

enum class verdict : std::int32_t {
    ok = QUIRE_VERDICT_OK,
    joined = QUIRE_VERDICT_JOINED,
    gap = QUIRE_VERDICT_GAP,
    confirm_end = QUIRE_VERDICT_CONFIRM_END,
    drift = QUIRE_VERDICT_DRIFT,
    replan = QUIRE_VERDICT_REPLAN,
    error = QUIRE_VERDICT_ERROR,
    stale = QUIRE_VERDICT_STALE,
    contradiction = QUIRE_VERDICT_CONTRADICTION,
    discontinuity = QUIRE_VERDICT_DISCONTINUITY,
    no_progress = QUIRE_VERDICT_NO_PROGRESS,
    empty = QUIRE_VERDICT_EMPTY,
    empty_confirm = QUIRE_VERDICT_EMPTY_CONFIRM,
    island = QUIRE_VERDICT_ISLAND
};

inline const char *name(verdict verdict) noexcept
{
    return quire_verdict_name(static_cast<std::int32_t>(verdict));
}

// What an ingest did. Its views live as long as it does.
class outcome : public detail::owned<quire_outcome, quire_outcome_free> {
public:
    outcome() : owned(QUIRE_OUTCOME_INIT) {}

    quire::verdict verdict() const noexcept { return static_cast<quire::verdict>(c_.verdict); }
    bool is_unchanged() const noexcept { return c_.is_unchanged != 0; }
    // What helps, if the answer changed no posts.
    quire::help help() const noexcept { return static_cast<quire::help>(c_.help); }
    // Number of the page stored; 0 if none was.
    std::uint64_t page() const noexcept { return c_.page; }
    std::uint64_t duplicates_in_page() const noexcept { return c_.duplicates_in_page; }
    std::uint64_t opaque_rows() const noexcept { return c_.opaque_rows; }
    std::uint64_t gaps_closed() const noexcept { return c_.gaps_closed; }
    std::uint64_t gaps_opened() const noexcept { return c_.gaps_opened; }
    std::uint64_t updated() const noexcept { return c_.updated; }
    // verdict::stale: "used", "other-feed", "reset", "edge-changed", "feed-changed", "sizes-changed", "repeated",
    // "no-such-gap"; else empty.
    std::string_view reason() const { return detail::view(c_.reason); }
    id_list added() const { return list(c_.added); }
    id_list duplicates() const { return list(c_.duplicates); }
    id_list moved() const { return list(c_.moved); }
    id_list removed() const { return list(c_.removed); }
    id_list kept() const { return list(c_.kept); }
    id_list displaced() const { return list(c_.displaced); }
    id_list ignored() const { return list(c_.ignored); }
    id_list sticky() const { return list(c_.sticky); }
    // Known posts in another order than the feed's class allows: evidence that the server does not keep it.
    id_list disorder() const { return list(c_.disorder); }
    // Posts received that are neither cached afterwards nor in another of these lists.
    id_list unplaced() const { return list(c_.unplaced); }
    // The feed's sizes if this answer disproved them, and the rows of a page that `fixed` stated.
    std::optional<sizes> disproved_sizes() const
    {
        return c_.disproved_sizes != 0 ? std::optional(static_cast<sizes>(c_.disproved_sizes)) : std::nullopt;
    }
    std::uint32_t disproved_rows() const noexcept { return c_.disproved_rows; }

private:
    static id_list list(const quire_ids &ids) { return {ids.items, ids.count}; }
};

enum class update_result : std::int32_t {
    changed = QUIRE_UPDATE_CHANGED,
    same = QUIRE_UPDATE_SAME,
    stale = QUIRE_UPDATE_STALE,
    missing = QUIRE_UPDATE_MISSING
};

// The result of joining two ids of one post.
enum class alias_result : std::int32_t {
    united = QUIRE_ALIAS_UNITED,
    noted = QUIRE_ALIAS_NOTED,
    same = QUIRE_ALIAS_SAME,
    missing = QUIRE_ALIAS_MISSING
};

enum class order : std::int32_t {
    stable = QUIRE_ORDER_STABLE,
    keyless = QUIRE_ORDER_KEYLESS,
    bump = QUIRE_ORDER_BUMP,
    append_only = QUIRE_ORDER_APPEND_ONLY,
    ranked = QUIRE_ORDER_RANKED
};

enum class paging : std::int32_t {
    cursor = QUIRE_PAGING_CURSOR,
    keyset = QUIRE_PAGING_KEYSET,
    offset = QUIRE_PAGING_OFFSET,
    page = QUIRE_PAGING_PAGE,
    ids = QUIRE_PAGING_IDS,
    // Links come with each page and are positions ("page=2"): posts slide over them.
    pages = QUIRE_PAGING_PAGES
};

// What a feed is, fixed when it is first opened. Owns a copy of the sticky ids.
struct feed_options {
    quire::order order = quire::order::keyless;
    quire::paging paging = quire::paging::cursor;
    bool trusts_end = false;
    bool is_strict = false;
    std::uint32_t page_size = 20;
    std::uint32_t minimum_run = 2;
    std::uint32_t first_page = 1;
    std::vector<std::string> sticky = {};
    // The collection that its posts belong to: shared within it, never across.
    std::string collection = {};
    // Who chooses the size of a page; `fixed` goes with the rows of a page, the others with 0.
    quire::sizes sizes = quire::sizes::unknown;
    std::uint32_t rows_per_page = 0;

    // `sticky_ids` must hold `sticky`; it and the options must outlive the result.
    quire_feed_options c(const ids &sticky_ids) const
    {
        quire_feed_options c = QUIRE_FEED_OPTIONS_INIT;
        c.order = static_cast<std::int32_t>(order);
        c.paging = static_cast<std::int32_t>(paging);
        c.flags = detail::flag(trusts_end, QUIRE_FEED_TRUSTS_END) |
                  detail::flag(is_strict, QUIRE_FEED_STRICT);
        c.page_size = page_size;
        c.minimum_run = minimum_run;
        c.first_page = first_page;
        c.sticky = sticky_ids.c();
        c.collection = detail::to_c(collection);
        c.sizes = static_cast<std::int32_t>(sizes);
        c.rows_per_page = rows_per_page;
        return c;
    }
};

// What to forget; an absent limit does not apply. Borrows the visible ids.
struct prune_policy {
    bool out_of_sequence = false;
    // Milliseconds; with `now`, the caller's clock since 1970.
    std::optional<std::int64_t> maximum_age = {};
    std::int64_t now = 0;
    std::optional<std::uint64_t> maximum_posts = {};
    std::optional<std::uint64_t> maximum_pages = {};
    std::optional<std::uint64_t> maximum_bytes = {};
    ids visible = {};
    // Stop after this many posts; 0 is 10,000.
    std::uint64_t budget = 0;
    // Say what would be done, without doing it.
    bool dry_run = false;

    quire_prune_policy c() const
    {
        quire_prune_policy c = QUIRE_PRUNE_POLICY_INIT;
        c.flags = detail::flag(out_of_sequence, QUIRE_PRUNE_OUT_OF_SEQUENCE) |
                  detail::flag(maximum_age.has_value(), QUIRE_PRUNE_BY_AGE) |
                  detail::flag(maximum_posts.has_value(), QUIRE_PRUNE_BY_POSTS) |
                  detail::flag(maximum_pages.has_value(), QUIRE_PRUNE_BY_PAGES) |
                  detail::flag(maximum_bytes.has_value(), QUIRE_PRUNE_BY_BYTES) |
                  detail::flag(dry_run, QUIRE_PRUNE_DRY_RUN);
        c.maximum_age = maximum_age.value_or(0);
        c.now = now;
        c.maximum_posts = maximum_posts.value_or(0);
        c.maximum_pages = maximum_pages.value_or(0);
        c.maximum_bytes = maximum_bytes.value_or(0);
        c.visible = visible.c();
        c.budget = budget;
        return c;
    }
};

struct prune_result {
    // The policy is met, or nothing more may leave. False: call again.
    bool is_done;
    std::uint64_t pages, posts;
};

// One thing that check() found. Owns its texts.
struct finding {
    explicit finding(const quire_finding &c)
        : code(c.code), location(detail::view(c.location)), message(detail::view(c.message))
    {
    }
    const char *name() const noexcept { return quire_finding_name(code); }

    std::int32_t code;
    std::string location, message;
};

// What a repair left of one feed; see quire_repaired_feed.
struct repaired_feed {
    explicit repaired_feed(const quire_repaired_feed &c)
        : name(detail::view(c.name)), posts(c.posts), lost_posts(c.lost_posts), lost_bodies(c.lost_bodies),
          gaps(c.gaps), new_gaps(c.new_gaps), is_lost(c.is_lost != 0)
    {
    }

    std::string name;
    std::uint64_t posts, lost_posts, lost_bodies, gaps, new_gaps;
    bool is_lost;
};

// What a repair found, kept and lost. Owns its texts.
struct repair_report {
    explicit repair_report(const quire_repair_report &c)
        : is_sound(c.is_sound != 0), damaged_records(c.damaged_records), kept_file(detail::view(c.kept_file))
    {
        for (std::size_t at = 0; at < c.count; ++at) feeds.emplace_back(c.feeds[at]);
    }

    bool is_sound;
    std::uint64_t damaged_records;
    // Where the damaged file is now; empty if nothing was changed.
    std::string kept_file;
    std::vector<repaired_feed> feeds;
};

} // namespace QUIRE_MODE
} // namespace quire

#endif
