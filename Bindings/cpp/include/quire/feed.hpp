// Feeds, crawls, batches: everything that writes into a feed. Part of quire.hpp.
#ifndef QUIRE_FEED_HPP
#define QUIRE_FEED_HPP

#include "outcome.hpp"

#include <memory>

namespace quire {
inline namespace QUIRE_MODE {

namespace detail {

template <class C, void (*Release)(C *)>
struct releaser {
    void operator()(C *handle) const noexcept { Release(handle); }
};

template <class C, void (*Release)(C *)>
using handle = std::unique_ptr<C, releaser<C, Release>>;

} // namespace detail

// Names the commit that a write belongs to: the one of cache::batch(), or own_commit. A name only: copy it
// as you like, use it inside the callback and on its thread.
class batch {
public:
    constexpr batch() = default;
    explicit constexpr batch(quire_batch *c) : c_(c) {}
    quire_batch *c() const { return c_; }

private:
    quire_batch *c_ = nullptr;
};

inline constexpr batch own_commit{};

// A crawl: pages fetched before, without tickets.
class crawl {
public:
    explicit crawl(quire_crawl *c) : c_(c) {}

    // Takes in the page with this number, by default the one after the page before.
    may<outcome> ingest(const answer &answer, std::uint64_t page = QUIRE_PAGE_FOLLOWING,
                        batch in = own_commit)
    {
        outcome outcome;
        const quire_answer c = answer.c();
        const auto code = quire_crawl_ingest(c_.get(), in.c(), page, &c, outcome.out());
        return detail::finish(code, std::move(outcome));
    }

    quire_crawl *c() const { return c_.get(); }

private:
    detail::handle<quire_crawl, quire_crawl_end> c_;
};

// One server list in a cache. Writes are commits of their own unless a batch is passed.
class feed {
public:
    explicit feed(quire_feed *c) : c_(c) {}

    // The request for a place. If none is possible, it is false and has the reason. That is no error.
    may<request> plan(const place &place, batch in = own_commit)
    {
        request request;
        const auto code = quire_plan(c(), in.c(), place.c(), request.out());
        return detail::finish(code, std::move(request));
    }

    // Call this if the request failed, or if its answer is no longer wanted.
    may<void> cancel(std::uint64_t ticket, batch in = own_commit)
    {
        return detail::finish(quire_cancel(c(), in.c(), ticket));
    }

    // Call this if the server refuses the link of the request for good: its cursor has expired, or names a post that
    // is gone. The link is forgotten, all posts stay, and the next plan begins further up; see quire_drop_link().
    may<outcome> drop_link(std::uint64_t ticket, batch in = own_commit)
    {
        outcome outcome;
        const auto code = quire_drop_link(c(), in.c(), ticket, outcome.out());
        return detail::finish(code, std::move(outcome));
    }

    // Judges the answer and takes it in: the whole page or nothing. A verdict against it is no error.
    may<outcome> ingest(std::uint64_t ticket, const answer &answer, batch in = own_commit)
    {
        outcome outcome;
        const quire_answer c_answer = answer.c();
        const auto code = quire_ingest(c(), in.c(), ticket, &c_answer, outcome.out());
        return detail::finish(code, std::move(outcome));
    }

    // Takes in posts that the server says are on top now, unasked; see quire_push(). `number` is that of the
    // message, `follows` the post directly below the last one.
    may<outcome> push(const answer &answer, std::optional<std::uint64_t> number = {},
                      std::string_view follows = {}, batch in = own_commit)
    {
        outcome outcome;
        const quire_answer c_answer = answer.c();
        const auto code = quire_push(c(), in.c(), &c_answer, number ? &*number : nullptr,
                                     detail::to_c(follows), outcome.out());
        return detail::finish(code, std::move(outcome));
    }
    // From now on the server pushes every new post, in messages after this number. Refresh after this call.
    may<void> begin_live(std::optional<std::uint64_t> after = {}, batch in = own_commit)
    {
        return detail::finish(quire_begin_live(c(), in.c(), after ? &*after : nullptr));
    }
    // The server no longer pushes new posts: the connection has ended.
    may<void> end_live(batch in = own_commit) { return detail::finish(quire_end_live(c(), in.c())); }

    // Recorded crawls: the page with this number is a refresh; below the last post; below a gap.
    may<crawl> crawl_from_head(std::uint64_t page) { return begin_crawl(QUIRE_CRAWL_HEAD, page); }
    may<crawl> crawl_from_tail() { return begin_crawl(QUIRE_CRAWL_TAIL, 0); }
    may<crawl> crawl_from_gap(std::uint64_t gap) { return begin_crawl(QUIRE_CRAWL_GAP, gap); }

    // Which of these posts the feed holds, in the order asked.
    may<std::vector<bool>> contains(const ids &ids) const
    {
        std::vector<std::uint8_t> flags(ids.size());
        const auto code = quire_contains(c(), ids.c(), flags.data());
        return detail::finish(code, std::vector<bool>(flags.begin(), flags.end()));
    }

    // Removes a post that is gone on the server: the neighbours close up.
    may<void> erase(std::string_view id, batch in = own_commit)
    {
        return detail::finish(quire_delete(c(), in.c(), detail::to_c(id)));
    }

    // Forgets posts to save space: a gap opens in their place. Returns how many left.
    may<std::uint64_t> evict(const ids &ids, batch in = own_commit)
    {
        std::uint64_t count = 0;
        const auto code = quire_evict(c(), in.c(), ids.c(), &count);
        return detail::finish(code, count);
    }

    // Evicts the page with this index, 0 is the topmost; always a commit of its own.
    may<std::uint64_t> evict_page(std::uint64_t index)
    {
        std::uint64_t count = 0;
        const auto code = quire_evict_page(c(), index, &count);
        return detail::finish(code, count);
    }

    // The posts on the screen of this process: the budget takes no page with one of them. They replace those named
    // before.
    may<void> set_visible(const ids &ids) { return detail::finish(quire_set_visible(c(), ids.c())); }

    // A pinned post is never evicted or removed by an answer. False: the feed lacks the post.
    may<bool> pin(std::string_view id, batch in = own_commit)
    {
        return finish_pin(quire_pin(c(), in.c(), detail::to_c(id)));
    }
    may<bool> unpin(std::string_view id, batch in = own_commit)
    {
        return finish_pin(quire_unpin(c(), in.c(), detail::to_c(id)));
    }

    // Puts an optimistic post on top. False: the feed holds it already.
    may<bool> insert_local(std::string_view id, std::string_view body, batch in = own_commit)
    {
        std::int32_t done = 0;
        const auto code =
            quire_insert_local(c(), in.c(), detail::to_c(id), detail::to_c(body), &done);
        return detail::finish(code, done != 0);
    }

    // Takes an optimistic post away. False: the feed has no such local post.
    may<bool> remove_local(std::string_view id, batch in = own_commit)
    {
        std::int32_t done = 0;
        const auto code = quire_remove_local(c(), in.c(), detail::to_c(id), &done);
        return detail::finish(code, done != 0);
    }

    // The server has accepted an optimistic post and calls it `server`: its place, pin, body and fields stay.
    may<alias_result> confirm_local(std::string_view id, std::string_view server, batch in = own_commit)
    {
        std::int32_t result = 0;
        const auto code = quire_confirm_local(c(), in.c(), detail::to_c(id), detail::to_c(server), &result);
        return detail::finish(code, static_cast<alias_result>(result));
    }

    // Remembers a value about the feed under a name, such as an ETag; nothing forgets it. The engine gives
    // these no meaning, and reset() keeps them.
    may<void> set_attribute(std::string_view name, std::optional<std::string_view> value,
                            batch in = own_commit)
    {
        const quire_bytes bytes = detail::to_c(value.value_or(std::string_view()));
        return detail::finish(
            quire_set_attribute(c(), in.c(), detail::to_c(name), value ? &bytes : nullptr));
    }

    // Forgets everything in the feed; every outstanding ticket becomes stale.
    may<void> reset(batch in = own_commit) { return detail::finish(quire_reset(c(), in.c())); }

    // Removes the feed from the cache; posts that other feeds of its collection hold stay there.
    may<void> drop(batch in = own_commit) { return detail::finish(quire_feed_drop(c(), in.c())); }

    // Gives the feed another name. No feed may have it already.
    may<void> rename(std::string_view name, batch in = own_commit)
    {
        return detail::finish(quire_feed_rename(c(), in.c(), detail::to_c(name)));
    }

    // Gives a feed without posts other options. The feed begins anew; this object then refers to a dropped feed.
    may<feed> set_options(const feed_options &options)
    {
        const ids sticky(options.sticky);
        const quire_feed_options c_options = options.c(sticky);
        quire_feed *made = nullptr;
        const auto code = quire_feed_set_options(c(), &c_options, &made);
        return detail::finish(code, feed(made));
    }

    // Forgets pages until the policy is met or its budget is spent.
    may<prune_result> prune(const prune_policy &policy, batch in = own_commit)
    {
        quire_prune_result result = QUIRE_PRUNE_RESULT_INIT;
        const quire_prune_policy c_policy = policy.c();
        const auto code = quire_prune(c(), in.c(), &c_policy, &result);
        return detail::finish(code, prune_result{result.is_done != 0, result.pages, result.posts});
    }

    quire_feed *c() const { return c_.get(); }

private:
    may<crawl> begin_crawl(std::int32_t kind, std::uint64_t start)
    {
        quire_crawl *crawl = nullptr;
        const auto code = quire_crawl_begin(c(), kind, start, &crawl);
        return detail::finish(code, quire::crawl(crawl));
    }

    static may<bool> finish_pin(quire_status code)
    {
        return detail::finish(code == QUIRE_NOT_FOUND ? QUIRE_OK : code, code == QUIRE_OK);
    }

    detail::handle<quire_feed, quire_feed_close> c_;
};

} // namespace QUIRE_MODE
} // namespace quire

#endif
