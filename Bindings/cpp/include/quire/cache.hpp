// The cache: one file. Part of quire.hpp.
#ifndef QUIRE_CACHE_HPP
#define QUIRE_CACHE_HPP

#include "snapshot.hpp"

#include <chrono>
#include <functional>

namespace quire {
inline namespace QUIRE_MODE {

struct cache_options {
    // True: a commit is on disk when the call returns. False: a power failure may lose the last commits; a
    // commit costs half as much.
    bool is_durable = true;
    // Address space reserved for the file; 0 is 64 GiB.
    std::uint64_t map_size = 0;
    // How long a write waits for other writers, in milliseconds; 0 is 30,000, UINT32_MAX is for ever.
    std::uint32_t write_timeout_ms = 0;
    // Number of later commits after which a snapshot expires; 0 is 100,000, UINT32_MAX is no limit.
    std::uint32_t maximum_snapshot_age = 0;
    // Tests the whole file first, as cache::verify() does. Use it for a file that you did not write.
    bool verifies_on_open = false;
    // Opens a cache that exists for reading only, without the right to write. QUIRE_READ_ONLY in quire.h says what is
    // seen of another process's writes.
    bool is_read_only = false;
    // How large the cache may become; Docs/budget.md says what leaves, and when.
    std::optional<quire_budget> budget;
};

// How much cache::check() tests.
enum class check_level : std::uint32_t {
    // Every record and every invariant.
    full = 0,
    // Only the records of the cache and of its feeds; see QUIRE_CHECK_QUICK.
    quick = QUIRE_CHECK_QUICK
};

using statistics = quire_statistics;
using evictions = quire_evictions;

class cache {
public:
    // Opens the cache at a path, creating it if there is none.
    static may<cache> open(const std::string &path, const cache_options &options = {})
    {
        if (has_nul(path)) return detail::fail<cache>(bad_path());
        quire_cache_options c_options = QUIRE_CACHE_OPTIONS_INIT;
        c_options.durability = options.is_durable ? QUIRE_DURABILITY_FULL : QUIRE_DURABILITY_RELAXED;
        c_options.map_size = options.map_size;
        c_options.write_timeout_ms = options.write_timeout_ms;
        c_options.maximum_snapshot_age = options.maximum_snapshot_age;
        c_options.flags = detail::flag(options.verifies_on_open, QUIRE_VERIFY_ON_OPEN) |
                          detail::flag(options.is_read_only, QUIRE_READ_ONLY);
        quire_cache *c = nullptr;
        const auto code = options.budget
                              ? quire_open_with_budget(path.c_str(), &c_options, &*options.budget, &c)
                              : quire_open(path.c_str(), &c_options, &c);
        return detail::finish(code, cache(c));
    }
#ifndef QUIRE_NO_EXCEPTIONS
    explicit cache(const std::string &path, const cache_options &options = {})
        : cache(open(path, options))
    {
    }
#endif
    explicit cache(quire_cache *c) : c_(c) {}

    // The feed with this name. It is created with the defaults if there is none.
    may<quire::feed> feed(std::string_view name) { return open_feed(name, nullptr); }
    // status::options_differ if it exists and was created with others.
    may<quire::feed> feed(std::string_view name, const feed_options &options)
    {
        const ids sticky(options.sticky);
        const quire_feed_options c_options = options.c(sticky);
        return open_feed(name, &c_options);
    }
    // The feed with this name if it exists.
    may<std::optional<quire::feed>> find_feed(std::string_view name)
    {
        quire_feed *found = nullptr;
        const auto code = quire_feed_find(c(), detail::to_c(name), &found);
        return detail::finish_unless(QUIRE_NOT_FOUND, code, quire::feed(found));
    }
    // The names of all feeds, in order of their bytes.
    may<std::vector<std::string>> feed_names() const
    {
        quire_list list = QUIRE_LIST_INIT;
        const auto code = quire_feed_names(c(), &list);
        std::vector<std::string> names;
        for (std::string_view name : id_list(list.items, list.count)) names.emplace_back(name);
        quire_list_free(&list);
        return detail::finish(code, std::move(names));
    }

    // The state after the last commit.
    may<quire::snapshot> snapshot() const
    {
        quire_snapshot *snapshot = nullptr;
        const auto code = quire_snapshot_begin(c(), &snapshot);
        return detail::finish(code, quire::snapshot(snapshot));
    }

    // Many writes in one commit. Calls `write(quire::batch)` on this thread, inside a write transaction; only
    // one process at a time has one. To undo all of it, throw, or return a failure if you use results.
    // `write` may be called a second time: then the first call was undone, because the file had to grow or
    // another writer that shared its commit failed. Functions may report status::again before that; pass it
    // on. Do not wait in `write` for the writes of another thread.
    template <class Write>
    may<void> batch(Write &&write)
    {
        struct state {
            Write &write;
            detail::callback_guard guard;
        } state{write, {}};
        const auto code = quire_batch_run(
            c(),
            [](void *context, quire_batch *c) {
                auto &mine = *static_cast<struct state *>(context);
                return mine.guard.run([&] { return status_of(mine.write, quire::batch(c)); });
            },
            &state);
        if (code != QUIRE_OK) state.guard.rethrow();
        return detail::finish(code);
    }

    // Replaces the body of a post in every feed that shows it, unless the stored one has a larger version
    // or is of more detail.
    may<update_result> update_body(std::string_view id, std::string_view body,
                                   std::optional<std::int64_t> version = {}, quire::batch in = own_commit,
                                   std::string_view collection = {},
                                   std::uint32_t level = QUIRE_DETAIL_FULL)
    {
        std::int32_t result = 0;
        const auto code = quire_update_body(c(), in.c(), detail::to_c(collection), detail::to_c(id),
                                            detail::to_c(body), version ? &*version : nullptr, level, &result);
        return detail::finish(code, static_cast<update_result>(result));
    }
    // Sets named values of a post. A value is not overwritten by one with a smaller version.
    may<update_result> update_fields(std::string_view id, const std::vector<field> &fields,
                                     std::int64_t version, quire::batch in = own_commit,
                                     std::string_view collection = {})
    {
        std::vector<quire_field> c_fields;
        for (const field &field : fields)
            c_fields.push_back({detail::to_c(field.name), detail::to_c(field.value)});
        std::int32_t result = 0;
        const auto code = quire_update_fields(c(), in.c(), detail::to_c(collection), detail::to_c(id),
                                              c_fields.data(), c_fields.size(), version, &result);
        return detail::finish(code, static_cast<update_result>(result));
    }
    // `alias` is another id of the post `id`. If both are cached, they become one post, called `id`.
    may<alias_result> add_alias(std::string_view alias, std::string_view id, quire::batch in = own_commit,
                                std::string_view collection = {})
    {
        std::int32_t result = 0;
        const auto code = quire_add_alias(c(), in.c(), detail::to_c(collection), detail::to_c(alias),
                                          detail::to_c(id), &result);
        return detail::finish(code, static_cast<alias_result>(result));
    }

    // Number of commits made so far, by all processes.
    may<std::uint64_t> generation() const
    {
        std::uint64_t generation = 0;
        const auto code = quire_generation(c(), &generation);
        return detail::finish(code, generation);
    }
    // Waits until all processes together have made more than `since` commits, or until the time is over.
    // Returns the number of commits. After a timeout it is not larger than `since`.
    may<std::uint64_t> wait(std::uint64_t since, std::chrono::milliseconds timeout) const
    {
        const auto most = static_cast<std::chrono::milliseconds::rep>(UINT32_MAX);
        const auto bounded = timeout.count() < 0 ? 0 : timeout.count() > most ? most : timeout.count();
        std::uint64_t now = 0;
        const auto code = quire_wait(c(), since, static_cast<std::uint32_t>(bounded), &now);
        return detail::finish(code == QUIRE_TIMEOUT ? QUIRE_OK : code, now);
    }

    may<quire::statistics> stats() const
    {
        quire_statistics statistics = QUIRE_STATISTICS_INIT;
        const auto code = quire_stats(c(), &statistics);
        return detail::finish(code, statistics);
    }

    // What the budget has taken, and whether it was missed.
    may<quire::evictions> evictions() const
    {
        quire_evictions evictions = QUIRE_EVICTIONS_INIT;
        const auto code = quire_get_evictions(c(), &evictions);
        return detail::finish(code, evictions);
    }

    // Receives the progress of an operation, from 0 to 1. If it returns false or throws, the operation ends and
    // has changed nothing. It must not write to the cache.
    using progress = std::function<bool(double)>;

    // Tests the cache. Others may read and write meanwhile. The cache is sound if the result is empty. It stops
    // after `limit` findings (0: 100).
    may<std::vector<finding>> check(
        check_level level = check_level::full, std::size_t limit = 0, const progress &progress = nullptr) const
    {
        collector found{{progress, {}, false}, {}, false};
        std::size_t count = 0;
        const auto code = quire_check(
            c(), static_cast<std::uint32_t>(level), limit, collector::collect, collector::tell, &found, &count);
        return found.finish(code);
    }

    // Tests a file that no program uses, without trust in any byte of it. The file is safe to open if the
    // result is empty. limit, progress: as for check().
    static may<std::vector<finding>> verify(
        const std::string &path, std::size_t limit = 0, const progress &progress = nullptr)
    {
        if (has_nul(path)) return detail::fail<std::vector<finding>>(bad_path());
        collector found{{progress, {}, false}, {}, false};
        std::size_t count = 0;
        const auto code = quire_verify(
            path.c_str(), limit, collector::collect, collector::tell, &found, &count);
        return found.finish(code);
    }

    // Repairs a damaged file, and keeps the damaged one beside it; see quire_repair().
    static may<repair_report> repair(
        const std::string &path, bool dry_run = false, const progress &progress = nullptr)
    {
        if (has_nul(path)) return detail::fail<repair_report>(bad_path());
        quire_repair_report report = QUIRE_REPAIR_REPORT_INIT;
        teller teller{progress, {}, false};
        const auto code = quire_repair(
            path.c_str(), dry_run ? std::uint32_t{QUIRE_REPAIR_DRY_RUN} : 0u, teller::tell, &teller, &report);
        repair_report result(report);
        quire_repair_report_free(&report);
        teller.guard.rethrow();
        if (teller.is_stopped) return detail::fail<repair_report>(stopped());
        return detail::finish(code, std::move(result));
    }

    // Rewrites the cache without free space and deleted bodies. No process may have it open. Returns the number
    // of bytes by which the file became smaller.
    static may<std::uint64_t> compact(const std::string &path, const progress &progress = nullptr)
    {
        if (has_nul(path)) return detail::fail<std::uint64_t>(bad_path());
        std::uint64_t freed = 0;
        teller teller{progress, {}, false};
        const auto code = quire_compact(path.c_str(), teller::tell, &teller, &freed);
        teller.guard.rethrow();
        if (teller.is_stopped) return detail::fail<std::uint64_t>(stopped());
        return detail::finish(code, freed);
    }

    // Writes a compact copy. No file may exist at the path.
    may<void> copy_to(const std::string &path) const
    {
        if (has_nul(path)) return detail::fail<void>(bad_path());
        return detail::finish(quire_copy(c(), path.c_str()));
    }
    // Moves bodies together. Returns the number of bytes that became free; 0 if nothing is left to do.
    may<std::uint64_t> reclaim(std::size_t budget = 0)
    {
        std::uint64_t freed = 0;
        const auto code = quire_reclaim(c(), budget, &freed);
        return detail::finish(code, freed);
    }

    quire_cache *c() const { return c_.get(); }

private:
    struct teller {
        const cache::progress &progress;
        detail::callback_guard guard;
        bool is_stopped = false;

        static quire_status tell(void *context, double done)
        {
            auto &mine = *static_cast<teller *>(context);
            if (!mine.progress) return QUIRE_OK;
            return mine.guard.run([&]() -> quire_status {
                mine.is_stopped = !mine.progress(done);
                return mine.is_stopped ? QUIRE_BAD_ARGUMENT : QUIRE_OK;
            });
        }
    };
    static error stopped() { return {status::bad_argument, 0, "was stopped"}; }

    struct collector {
        cache::teller teller;
        std::vector<finding> findings;
        bool has_ended = false;

        static quire_status tell(void *context, double done)
        {
            auto &mine = *static_cast<collector *>(context);
            const auto answer = cache::teller::tell(&mine.teller, done);
            mine.has_ended = answer != QUIRE_OK;
            return answer;
        }
        static void collect(void *context, const quire_finding *found)
        {
            auto &mine = *static_cast<collector *>(context);
            if (mine.has_ended) return;
            mine.has_ended = QUIRE_OK != mine.teller.guard.run([&]() -> quire_status {
                mine.findings.emplace_back(*found);
                return QUIRE_OK;
            });
        }
        may<std::vector<finding>> finish(quire_status code)
        {
            teller.guard.rethrow();
            if (teller.is_stopped) return detail::fail<std::vector<finding>>(stopped());
            return detail::finish(code, std::move(findings));
        }
    };

    // Text that holds a NUL cannot be a path: it would name another file.
    static bool has_nul(const std::string &path) { return path.find('\0') != std::string::npos; }
    static error bad_path() { return {status::bad_argument, 0, "the path holds a NUL byte"}; }

    may<quire::feed> open_feed(std::string_view name, const quire_feed_options *options)
    {
        quire_feed *feed = nullptr;
        const auto code = quire_feed_open(c(), detail::to_c(name), options, &feed);
        return detail::finish(code, quire::feed(feed));
    }

    // What a callback has returned, as a status.
    template <class Write>
    static quire_status status_of(Write &write, quire::batch batch)
    {
        using returned = decltype(write(batch));
        if constexpr (std::is_void_v<returned>) {
            write(batch);
            return QUIRE_OK;
        } else {
            static_assert(std::is_same_v<returned, result<void>>, "return void or quire::result<void>");
            const result<void> result = write(batch);
            return result ? QUIRE_OK : static_cast<quire_status>(result.error().status());
        }
    }

    detail::handle<quire_cache, quire_close> c_;
};

} // namespace QUIRE_MODE
} // namespace quire

#endif
