// Replays conformance.json: every case in a cache of its own, every line through quire.hpp.
//
//     replay conformance.json DIRECTORY
#include "picture.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace {

class replay {
public:
    explicit replay(const std::string &path) : cache_(path) {}

    // Does what the line says; returns what differs from what it expects.
    std::vector<std::string> line(const json::object &line)
    {
        line_ = &line;
        seen_.clear();
        const std::string op = text("op");
        if (op == "feed")
            feeds_.insert_or_assign(text("feed"), cache_.feed(text("feed"), options()));
        else
            step(op, feeds_.at(text("feed")));
        return complaints(op);
    }

private:
    // Members of the line.
    bool has(const char *name) const { return line_->count(name) != 0; }
    const std::string &text(const char *name) const { return std::get<std::string>(line_->at(name)); }
    long long number(const char *name, long long otherwise = 0) const
    {
        return has(name) ? std::get<long long>(line_->at(name)) : otherwise;
    }
    bool flag(const char *name) const { return has(name) && std::get<bool>(line_->at(name)); }
    json::list texts(const char *name) const
    {
        return has(name) ? std::get<json::list>(line_->at(name)) : json::list();
    }

    quire::feed_options options() const
    {
        static const char *const orders[] = {"", "stable", "keyless", "bump", "append-only", "ranked"};
        static const char *const pagings[] = {"", "cursor", "keyset", "offset", "page", "ids", "pages"};
        static const char *const sizes[] = {"unknown", "free", "fixed"};
        const auto number_of = [](const auto &names, const std::string &name) {
            const auto found = std::find(std::begin(names), std::end(names), name);
            if (found == std::end(names)) throw std::runtime_error("unknown option " + name);
            return static_cast<std::int32_t>(found - std::begin(names));
        };
        quire::feed_options options;
        options.order = static_cast<quire::order>(number_of(orders, text("order")));
        options.paging = static_cast<quire::paging>(number_of(pagings, text("paging")));
        options.trusts_end = flag("trusts_end");
        options.is_strict = flag("strict");
        options.page_size = static_cast<std::uint32_t>(number("page_size"));
        options.minimum_run = static_cast<std::uint32_t>(number("minimum_run"));
        options.first_page = static_cast<std::uint32_t>(number("first_page"));
        options.sticky = texts("sticky");
        options.sizes = static_cast<quire::sizes>(number_of(sizes, text("sizes")));
        options.rows_per_page = static_cast<std::uint32_t>(number("rows_per_page"));
        return options;
    }

    void step(const std::string &op, quire::feed &feed)
    {
        if (op == "plan") {
            plan(feed);
        } else if (op == "ingest") {
            with_answer([&](const quire::answer &answer) {
                describe(feed.ingest(tickets_.at(text("ticket")), answer));
            });
        } else if (op == "push") {
            const std::string follows = has("follows") ? text("follows") : "";
            with_answer([&](const quire::answer &answer) { describe(feed.push(answer, message(), follows)); });
        } else if (op == "begin-live") {
            feed.begin_live(message());
        } else if (op == "end-live") {
            feed.end_live();
        } else if (op == "cancel") {
            feed.cancel(tickets_.at(text("ticket")));
        } else if (op == "drop-link") {
            describe(feed.drop_link(tickets_.at(text("ticket"))));
        } else if (op == "crawl") {
            crawls_.insert_or_assign(text("crawl"), feed.crawl_from_head(static_cast<std::uint64_t>(number("start"))));
            return;
        } else if (op == "crawl-ingest") {
            with_answer([&](const quire::answer &answer) {
                describe(crawls_.at(text("crawl")).ingest(answer, static_cast<std::uint64_t>(number("page"))));
            });
        } else {
            change(op, feed);
        }
        observe(feed);
    }

    std::optional<std::uint64_t> message() const
    {
        if (!has("number")) return {};
        return static_cast<std::uint64_t>(number("number"));
    }

    void change(const std::string &op, quire::feed &feed)
    {
        if (op == "delete") {
            feed.erase(text("id"));
        } else if (op == "evict") {
            feed.evict(texts("posts"));
        } else if (op == "evict-page") {
            feed.evict_page(static_cast<std::uint64_t>(number("index")));
        } else if (op == "prune") {
            prune(feed);
        } else if (op == "update") {
            const json::list names = texts("names"), values = texts("values");
            std::vector<quire::field> fields;
            for (std::size_t i = 0; i < names.size(); i++) fields.emplace_back(names[i], values.at(i));
            static const char *const results[] = {"", "changed", "same", "stale", "missing"};
            const auto result = cache_.update_fields(text("id"), fields, number("version"));
            seen_["result"] = std::string(results[static_cast<int>(result)]);
        } else if (op == "alias" || op == "confirm-local") {
            static const char *const results[] = {"", "united", "noted", "same", "missing"};
            const auto result = op == "alias" ? cache_.add_alias(text("alias"), text("id"))
                                              : feed.confirm_local(text("id"), text("server"));
            seen_["result"] = std::string(results[static_cast<int>(result)]);
        } else if (op == "pin") {
            feed.pin(text("id"));
        } else if (op == "unpin") {
            feed.unpin(text("id"));
        } else if (op == "insert-local") {
            feed.insert_local(text("id"), "");
        } else if (op == "remove-local") {
            feed.remove_local(text("id"));
        } else if (op == "reset") {
            feed.reset();
        } else if (op != "look") {
            throw std::runtime_error("unknown op " + op);
        }
    }

    void prune(quire::feed &feed)
    {
        const json::list visible = texts("visible");
        quire::prune_policy policy;
        policy.visible = visible;
        policy.out_of_sequence = flag("out_of_sequence");
        if (has("maximum_posts")) policy.maximum_posts = number("maximum_posts");
        if (has("maximum_age")) policy.maximum_age = number("maximum_age");
        policy.now = number("now");
        policy.budget = static_cast<std::uint64_t>(number("budget"));
        seen_["done"] = feed.prune(policy).is_done;
    }

    void plan(quire::feed &feed)
    {
        const json::list names = texts("posts");
        const quire::ids posts(names);
        std::string below;
        quire::place place = this->place(feed, posts, below);
        place.limit(static_cast<std::uint32_t>(number("limit"))).bounded(flag("bounded"));
        if (has("link")) place.from(picture::link(text("link")));
        const quire::request request = feed.plan(place);

        static const char *const kinds[] = {"none", "link", "position", "page", "around", "snapshot", "bodies",
                                            "delta"};
        seen_["request"] = std::string(kinds[static_cast<int>(request.kind())]);
        seen_["refusal"] = std::string(request ? "" : name(request.refusal()));
        if (!request) seen_["help"] = std::string(name(request.help()));
        if (!request) return;
        const quire::link link = request.link();
        const bool is_text =
            request.kind() == quire::request_kind::around || request.kind() == quire::request_kind::delta;
        seen_["link"] = is_text ? std::string(link.text) : picture::word(link);
        seen_["overlapping"] = request.is_overlapping();
        seen_["position"] = static_cast<long long>(request.position());
        seen_["limit"] = static_cast<long long>(request.limit());
        seen_["ticket"] = static_cast<long long>(request.ticket() % (1u << 28));  // in its feed
        seen_["ids"] = json::list(request.ids().begin(), request.ids().end());
        seen_["until"] = std::string(request.until());
        tickets_[text("as")] = request.ticket();
    }

    // `below` is what a join borrows.
    quire::place place(const quire::feed &feed, const quire::ids &posts, std::string &below) const
    {
        const std::string &place = text("place");
        if (place == "head") return quire::place::head();
        if (place == "tail") return quire::place::tail();
        if (place == "delta") return quire::place::delta();
        if (place == "open-head") return quire::place::open_head();
        if (place == "around") return quire::place::around(text("target"));
        if (place == "bodies") return quire::place::bodies(posts);
        if (place == "page") return quire::place::page(static_cast<std::uint64_t>(number("page")));
        std::uint64_t gap = UINT64_MAX; // of a gap that is not there
        long long rank = 0;
        const quire::snapshot snapshot = cache_.snapshot();
        if (place == "join") {
            below = "?";
            for (const quire::row &row : snapshot.rows(feed))
                if (row.is_unverified() && rank++ == number("join")) below = row.id();
            return quire::place::join(below);
        }
        for (const quire::row &row : snapshot.gaps(feed))
            if (rank++ == number("gap")) gap = row.gap();
        return place == "above-gap" ? quire::place::above_gap(gap) : quire::place::gap(gap);
    }

    // Builds the answer of the line; it borrows, so it is used inside.
    template <class Use>
    void with_answer(Use use)
    {
        const json::list posts = texts("posts"), keys = texts("keys"), gone = texts("deleted");
        const quire::ids deleted(gone);
        std::vector<std::string> bodies(posts.size());
        quire::answer answer;
        std::uint64_t opaque = 0;
        for (std::size_t i = 0; i < posts.size(); i++) {
            bodies[i] = "{\"id\":\"" + posts[i] + "\"}";
            quire::post post{posts[i], bodies[i]};
            if (!keys.empty() && !keys.at(i).empty()) post.key = std::stoll(keys[i]);
            if (posts[i].empty())
                opaque++;
            else
                answer.add(post);
        }
        answer.opaque_rows(opaque).fetched_at(number("at"));
        if (has("next")) answer.next(picture::link(text("next")));
        if (has("total")) answer.total(static_cast<std::uint64_t>(number("total")));
        if (has("since")) answer.since(text("since"));
        answer.deleted(deleted);
        if (has("previous")) answer.previous(picture::link(text("previous")));
        use(answer);
    }

    void describe(const quire::outcome &outcome)
    {
        const auto ids = [&](const char *name, const quire::id_list &ids) {
            seen_[name] = json::list(ids.begin(), ids.end());
        };
        seen_["outcome"] = std::string(name(outcome.verdict()));
        seen_["reason"] = std::string(outcome.reason());
        seen_["page"] = static_cast<long long>(outcome.page());
        seen_["duplicates_in_page"] = static_cast<long long>(outcome.duplicates_in_page());
        seen_["opaque_rows"] = static_cast<long long>(outcome.opaque_rows());
        seen_["gaps_closed"] = static_cast<long long>(outcome.gaps_closed());
        seen_["gaps_opened"] = static_cast<long long>(outcome.gaps_opened());
        ids("added", outcome.added());
        ids("duplicates", outcome.duplicates());
        ids("moved", outcome.moved());
        ids("removed", outcome.removed());
        ids("kept", outcome.kept());
        ids("displaced", outcome.displaced());
        ids("ignored", outcome.ignored());
        ids("sticky", outcome.sticky());
        ids("disorder", outcome.disorder());
        ids("unplaced", outcome.unplaced());
        seen_["help"] = std::string(outcome.help() == quire::help::none ? "" : name(outcome.help()));
        const auto disproved = outcome.disproved_sizes();
        seen_["disproved"] = disproved ? picture::policy(*disproved, outcome.disproved_rows()) : std::string();
    }

    void observe(const quire::feed &feed)
    {
        const quire::snapshot snapshot = cache_.snapshot();
        const quire::feed_info info = snapshot.info(feed);
        seen_["picture"] = picture::show(snapshot, feed);
        seen_["in_sequence"] = info.is_in_sequence();
        seen_["page_count"] = static_cast<long long>(info.pages());
        seen_["assumed_end"] = info.is_end_assumed();
        seen_["against_order"] = static_cast<long long>(info.answers_against_order());
        seen_["size"] = static_cast<long long>(info.rows_known());
        seen_["policy"] = picture::policy(info.sizes_now(), info.rows_known());
        picture::doubts(snapshot, feed, seen_);
        seen_["pages"] = picture::pages(snapshot, feed);
        picture::posts(snapshot, cache_, seen_);
        picture::cross_check(snapshot, feed);
        const auto findings = cache_.check();
        if (!findings.empty()) throw std::runtime_error("unsound: " + findings[0].message);
    }

    std::vector<std::string> complaints(const std::string &op) const
    {
        std::vector<std::string> complaints;
        for (const auto &[name, expected] : *line_) {
            if (name[0] != '=') continue;
            const auto found = seen_.find(name.substr(1));
            if (found == seen_.end())
                complaints.push_back(op + ": nothing is known of " + name);
            else if (!matches(name, expected, found->second))
                complaints.push_back(op + ": " + name.substr(1) + " is " + json::show(found->second) +
                                     ", expected " + json::show(expected));
        }
        return complaints;
    }

    // Of pages, fields and references, a line names only those it is about.
    static bool matches(const std::string &name, const json::value &expected, const json::value &seen)
    {
        if (name != "=pages" && name != "=fields" && name != "=references") return expected == seen;
        const auto &all = std::get<json::list>(seen);
        const auto &some = std::get<json::list>(expected);
        return std::all_of(some.begin(), some.end(), [&](const std::string &one) {
            return std::find(all.begin(), all.end(), one) != all.end();
        });
    }

    quire::cache cache_;
    std::map<std::string, quire::feed> feeds_;
    std::map<std::string, quire::crawl> crawls_;
    std::map<std::string, std::uint64_t> tickets_;
    const json::object *line_ = nullptr;
    json::object seen_;
};

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s conformance.json DIRECTORY\n", argv[0]);
        return 2;
    }
    std::ifstream file(argv[1]);
    const std::string path = std::string(argv[2]) + "/replay.quire";
    std::optional<replay> current;
    std::string name;
    int passed = 0, failed = 0, lines = 0;
    bool is_broken = false; // the case has failed: its later lines mean nothing
    const auto finish = [&] {
        if (!name.empty()) (is_broken ? failed : passed)++;
    };
    for (std::string text; std::getline(file, text);) {
        if (text.empty()) continue;
        std::vector<std::string> complaints;
        try {
            const json::object line = json::reader(text).line();
            if (std::get<std::string>(line.at("op")) == "case") {
                finish();
                current.reset();
                std::filesystem::remove(path);
                std::filesystem::remove(path + "-lock");
                current.emplace(path);
                is_broken = false;
                name = std::get<std::string>(line.at("id")) + " " + std::get<std::string>(line.at("title"));
            } else if (current && !is_broken) {
                lines++;
                complaints = current->line(line);
            }
        } catch (const std::exception &failure) {
            complaints.push_back(failure.what());
        }
        for (const std::string &complaint : complaints)
            std::printf("FAIL %s\n     %s\n     %s\n", name.c_str(), complaint.c_str(), text.c_str());
        is_broken = is_broken || !complaints.empty();
    }
    finish();
    std::printf("replayed %d lines\n%d passed, %d failed, 0 skipped\n", lines, passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
