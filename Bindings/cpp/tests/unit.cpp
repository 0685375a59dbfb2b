// What quire.hpp adds to the C API: ownership, ranges, exceptions. Linked with the files of the tests below, and
// with returning.cpp, which returns errors: so both modes meet in one program. Usage: unit DIRECTORY
#include <quire.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <thread>

using test = void(const std::string &path, void (*must)(bool, const char *));
test test_returning, test_ranks, test_windows, test_views;

namespace {

std::string directory;

std::string fresh(const char *name)
{
    const std::string path = directory + "/" + name + ".quire";
    std::filesystem::remove(path);
    std::filesystem::remove(path + "-lock");
    return path;
}

void must(bool holds, const char *what)
{
    if (!holds) throw std::runtime_error(what);
}

template <class Call>
quire::status status_of(Call call)
{
    try {
        call();
    } catch (const quire::error &failure) {
        must(failure.what()[0] != '\0', "an error has a sentence");
        return failure.status();
    }
    return quire::status::ok;
}

// Posts "0" ... in one page.
void fill(quire::feed &feed, int count, std::size_t body_size = 8, quire::batch batch = quire::own_commit)
{
    std::vector<std::string> ids, bodies;
    for (int i = 0; i < count; i++) {
        ids.push_back(std::to_string(i));
        bodies.push_back(std::to_string(i) + std::string(body_size, '.'));
    }
    quire::answer answer;
    for (std::size_t i = 0; i < ids.size(); i++) answer.add(ids[i], bodies[i]);
    const quire::request request = feed.plan(quire::place::head(), batch);
    feed.ingest(request.ticket(), answer.next(quire::link::token("next")), batch);
}

void ownership()
{
    static_assert(!std::is_copy_constructible_v<quire::cache> && std::is_nothrow_move_constructible_v<quire::cache>);
    static_assert(!std::is_copy_constructible_v<quire::feed> && !std::is_copy_constructible_v<quire::crawl>);
    static_assert(!std::is_copy_constructible_v<quire::snapshot> && !std::is_copy_constructible_v<quire::outcome>);
    static_assert(!std::is_copy_constructible_v<quire::request>);

    std::optional<quire::cache> cache(fresh("ownership"));
    std::optional<quire::feed> feed = cache->feed("f");
    fill(*feed, 3);
    quire::snapshot snapshot = cache->snapshot();
    quire::snapshot moved = std::move(snapshot);
    cache.reset(); // the handles that are left keep the file open
    must(moved.find(*feed, "1")->body().substr(0, 1) == "1", "a snapshot outlives the cache handle");
    feed->erase("1");
    must(moved.find(*feed, "1").has_value(), "a snapshot does not see later writes");

    quire::request request = feed->plan(quire::place::tail());
    const quire::request other = std::move(request);
    must(other && other.link().text == "next", "a request moves with its texts");
    quire::outcome outcome;
    outcome = feed->ingest(other.ticket(), quire::answer().add("7").next(quire::link::end()));
    must(outcome.added().size() == 1 && outcome.added()[0] == "7", "an outcome moves with its lists");
}

void ranges()
{
    quire::cache cache(fresh("ranges"));
    for (const int count : {0, 1, 63, 64, 65, 128, 200}) {
        quire::feed feed = cache.feed("feed " + std::to_string(count));
        if (count != 0) fill(feed, count);
        const quire::snapshot snapshot = cache.snapshot();
        std::vector<quire::row> kept; // rows may be kept: their views borrow from the snapshot alone
        for (const quire::row &row : snapshot.rows(feed)) kept.push_back(row);
        must(kept.size() == static_cast<std::size_t>(count), "every row once");
        for (std::size_t i = 0; i < kept.size(); i++) {
            must(kept[i].id() == std::to_string(i), "in order");
            must(kept[i].body_bytes().size() == kept[i].body().size(), "bytes are the body");
            must(kept[i].page() == 1u && !kept[i].key(), "what a page delivered has its number");
        }
        auto upwards = snapshot.rows_upwards(feed);
        must(std::distance(upwards.begin(), upwards.end()) == count, "upwards");
        if (count == 0) continue;
        auto below = snapshot.rows(feed, kept[0].position());
        must(std::distance(below.begin(), below.end()) == count - 1, "below a position");
        auto page = snapshot.page(feed, 1);
        const auto last = std::find_if(page.begin(), page.end(), [&](const quire::row &row) {
            return row.id() == std::to_string(count - 1);
        });
        must(last != page.end() && (*last).is_post(), "the standard algorithms walk a page");
        must(snapshot.info(feed).posts() == static_cast<std::uint64_t>(count), "info");
    }
    must(cache.feed_names().size() == 7, "names");
}

void errors()
{
    quire::cache cache(fresh("errors"));
    quire::feed feed = cache.feed("f");
    must(status_of([] { quire::cache cache("/does/not/exist/x"); }) != quire::status::ok, "no such folder");
    must(status_of([&] { cache.feed(""); }) == quire::status::bad_argument, "a feed has a name");
    must(status_of([&] { cache.copy_to(std::string("a\0b", 3)); }) == quire::status::bad_argument, "NUL");
    must(status_of([&] { feed.evict_page(7); }) == quire::status::not_found, "no such page");
    must(!cache.find_feed("g") && cache.find_feed("f"), "find_feed");
    must(!feed.pin("x") && !feed.unpin("x") && !feed.remove_local("x"), "nothing there is a value");
    must(feed.insert_local("x", "body") && !feed.insert_local("x", "body"), "insert_local");
    must(feed.pin("x") && feed.unpin("x"), "pin");
    must(!cache.snapshot().find(feed, "y") && !cache.snapshot().post("y"), "find");
    must(cache.update_fields("x", {{"likes", "1"}}, 1) == quire::update_result::changed, "fields");
    must(cache.update_body("y", "b") == quire::update_result::missing, "update_body");
    quire::feed_options of_other;
    of_other.collection = "other";
    quire::feed other = cache.feed("other", of_other);
    must(other.insert_local("x", "theirs") && cache.snapshot().post("x", "other")->body() == "theirs", "collection");
    must(cache.update_body("x", "new", {}, quire::own_commit, "other") == quire::update_result::changed, "theirs");
    must(cache.snapshot().post("x")->body() == "body", "ours");
    other.rename("third");
    other.reset();
    other = other.set_options(quire::feed_options());
    other.drop();
    must(!cache.find_feed("other") && !cache.find_feed("third"), "dropped");
    const quire::feed moved = std::move(feed);
    must(status_of([&] { feed.reset(); }) == quire::status::bad_handle, "a moved-from feed is refused");
    must(feed.c() == nullptr && moved.c() != nullptr, "moved");
}

void attributes()
{
    quire::cache cache(fresh("attributes"));
    quire::feed feed = cache.feed("f");
    feed.set_attribute("etag", std::string_view("v\0\1", 3));
    feed.set_attribute("empty", "");
    feed.reset();
    const quire::snapshot snapshot = cache.snapshot();
    feed.set_attribute("etag", std::nullopt);
    must(snapshot.attribute(feed, "etag") == std::string_view("v\0\1", 3), "any bytes, kept by reset");
    must(snapshot.attribute(feed, "empty") == "", "an empty value is a value");
    must(!cache.snapshot().attribute(feed, "etag"), "forgotten");
    must(status_of([&] { feed.set_attribute("", "x"); }) == quire::status::bad_argument, "a name");
}

void batches()
{
    quire::cache cache(fresh("batches"));
    quire::feed feed = cache.feed("f");
    const std::uint64_t before = cache.generation();
    cache.batch([&](quire::batch batch) {
        fill(feed, 10, 8, batch);
        feed.erase("3", batch);
    });
    must(cache.generation() == before + 1, "many writes, one commit");

    struct private_trouble {};
    try {
        cache.batch([&](quire::batch batch) {
            feed.reset(batch);
            throw private_trouble();
        });
        must(false, "an exception goes through");
    } catch (const private_trouble &) {
    }
    must(feed.contains({"0", "3"}) == std::vector<bool>{true, false}, "an exception undoes the batch");

    const auto deadlock = status_of([&] { cache.batch([&](quire::batch) { feed.reset(); }); });
    must(deadlock == quire::status::would_deadlock, "a write beside its own batch");
    quire::batch escaped;
    cache.batch([&](quire::batch batch) {
        escaped = batch;
        quire::status elsewhere = quire::status::ok;
        std::thread([&] { elsewhere = status_of([&] { feed.reset(batch); }); }).join();
        must(elsewhere == quire::status::wrong_thread, "a batch on another thread");
    });
    must(status_of([&] { feed.reset(escaped); }) == quire::status::bad_handle, "a batch after its end");
    must(feed.contains({"0"})[0], "nothing happened");
}

// The file must grow inside of a batch: the callback is called again, the exception in between is swallowed.
void growth()
{
    quire::cache_options options;
    options.map_size = 1 << 20;
    options.is_durable = false;
    quire::cache cache(fresh("growth"), options);
    quire::feed feed = cache.feed("f");
    int calls = 0;
    cache.batch([&](quire::batch batch) {
        calls++;
        fill(feed, 64, 1 << 16, batch);
    });
    must(calls > 1, "called again");
    must(cache.snapshot().info(feed).posts() == 64 && cache.check().empty(), "all of it is there");
}

void changes()
{
    quire::cache cache(fresh("changes"));
    quire::feed feed = cache.feed("f");
    fill(feed, 2);
    const std::uint64_t seen = cache.snapshot().generation();
    must(cache.wait(seen, std::chrono::milliseconds(1)) == seen, "nothing happened in time");
    std::thread writer([&] { feed.erase("0"); });
    const std::uint64_t now = cache.wait(seen, std::chrono::seconds(10));
    writer.join();
    must(now > seen, "another thread's commit ends the wait");
    const quire::snapshot snapshot = cache.snapshot();
    const auto changes = snapshot.changes_since(seen);
    must(changes && changes->size() == 1, "one change");
    const quire::change change = (*changes)[0];
    must(change.kind == quire::change_kind::removed && change.row.is_post && change.row.id == "0", "what");
    must(change.feed == snapshot.info(feed).number(), "where");
    must(cache.stats().posts == 1, "stats");
}

void upkeep()
{
    quire::cache cache(fresh("upkeep"));
    quire::feed feed = cache.feed("f");
    fill(feed, 100);
    const std::string copy = fresh("copy");
    cache.copy_to(copy);
    must(status_of([&] { cache.copy_to(copy); }) == quire::status::bad_argument, "never over a file");
    quire::cache twin(copy);
    must(twin.snapshot().info(twin.feed("f")).posts() == 100, "the copy holds everything");
    quire::prune_policy policy;
    policy.maximum_posts = 0;
    policy.dry_run = true;
    must(feed.prune(policy).posts == 100, "dry run");
    policy.dry_run = false;
    must(feed.prune(policy).is_done && cache.snapshot().info(feed).posts() == 0, "pruned");
    while (cache.reclaim() != 0) {
    }
    must(cache.check().empty() && cache.check(quire::check_level::quick).empty(), "sound");
}

// A snapshot that is too old, and a write that waits too long.
void limits()
{
    quire::cache_options options;
    options.write_timeout_ms = 10;
    options.maximum_snapshot_age = 1;
    quire::cache cache(fresh("limits"), options);
    quire::feed feed = cache.feed("f");
    fill(feed, 2);
    const quire::snapshot old = cache.snapshot();
    const auto row = old.find(feed, "0");
    feed.erase("0");
    must(old.find(feed, "1").has_value(), "not too old yet");
    feed.erase("1");
    must(status_of([&] { old.find(feed, "1"); }) == quire::status::snapshot_expired, "too old");
    must(row->body().substr(0, 1) == "0", "what it gave stays");
    must(!cache.snapshot().find(feed, "1"), "a new one reads on");
    quire::status other = quire::status::ok;
    cache.batch([&](quire::batch) {
        std::thread([&] { other = status_of([&] { feed.reset(); }); }).join();
    });
    must(other == quire::status::busy, "waited in vain");
    feed.reset();
}

void placeholders()
{
    quire::cache cache(fresh("placeholders"));
    quire::feed_options options;
    options.paging = quire::paging::ids;
    quire::feed feed = cache.feed("f", options);
    must(feed.plan(quire::place::bodies({"a"})).refusal() == quire::refusal::empty, "nothing is there");
    quire::answer ids;
    for (const char *id : {"a", "b", "c", "d"}) ids.add(id);
    feed.ingest(feed.plan(quire::place::head()).ticket(), ids);
    const std::vector<std::string> wanted = {"d", "x", "b", "d"};
    const quire::request request = feed.plan(quire::place::bodies(wanted));
    must(request.kind() == quire::request_kind::bodies && request.ids().size() == 2, "what is missing of them");
    must(request.ids()[0] == "d" && request.ids()[1] == "b", "in their order");
    feed.ingest(request.ticket(), quire::answer().add("b", "B").add("d", "D"));
    must(feed.plan(quire::place::bodies(wanted)).refusal() == quire::refusal::end, "nothing is missing any longer");
    must(cache.snapshot().find(feed, "d")->body() == "D", "it is there");
    quire::feed other = cache.feed("g");
    other.ingest(other.plan(quire::place::head()).ticket(), quire::answer().add({"a", "A..", {}, 1}));
    other.ingest(other.plan(quire::place::head()).ticket(), quire::answer().add({"a", "A", {}, 2, 64}));
    must(cache.snapshot().find(other, "a")->is_outdated(), "a newer version with less detail");
}

struct enough {};
template <class Call>
bool gives_enough(Call call)
{
    try {
        call();
    } catch (const enough &) {
        return true;
    }
    return false;
}

// check() and verify() tell how far they are, and can be ended.
template <class Search>
void ends(Search search)
{
    double last = 0;
    must(search([&](double done) { return done >= last && (last = done) <= 1; }).empty() && last > 0, "told");
    must(status_of([&] { search([](double) { return false; }); }) == quire::status::bad_argument, "stopped");
    must(gives_enough([&] { search([](double) -> bool { throw enough(); }); }), "an exception ends it");
}

void files()
{
    const std::string path = fresh("files");
    {
        quire::cache cache(path);
        quire::feed feed = cache.feed("f");
        fill(feed, 100);
        must(status_of([&] { quire::cache::compact(path); }) == quire::status::bad_argument, "it is open");
        for (const auto level : {quire::check_level::full, quire::check_level::quick})
            ends([&](const quire::cache::progress &progress) { return cache.check(level, 0, progress); });
    }
    must(quire::cache::verify(path).empty(), "sound");
    ends([&](const quire::cache::progress &progress) { return quire::cache::verify(path, 0, progress); });
    quire::cache_options tested;
    tested.verifies_on_open = true;
    must(quire::cache(path, tested).check().empty(), "tested and opened");
    must(quire::cache::compact(path) > 0, "smaller");
    must(quire::cache::repair(path).is_sound, "nothing to repair");
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4096);
    must(!quire::cache::verify(path).empty() && quire::cache::verify(path, 1).size() == 1, "cut off");
    must(status_of([&] { quire::cache cache(path, tested); }) == quire::status::corrupt, "not opened");
    const auto repairing = [&](bool (*progress)(double)) { quire::cache::repair(path, false, progress); };
    must(gives_enough([&] { repairing([](double) -> bool { throw enough(); }); }), "an exception ends it");
    must(status_of([&] { repairing([](double) { return false; }); }) == quire::status::bad_argument, "stopped");
    must(quire::cache::repair(path, true).kept_file.empty(), "dry run");
    const auto report = quire::cache::repair(path);
    must(!report.is_sound && std::filesystem::exists(report.kept_file), "the damaged file is kept");
    must(quire::cache::verify(path).empty() && quire::cache(path).check().empty(), "repaired");
}

void sizes()
{
    quire::cache cache(fresh("sizes"));
    quire::feed_options options;
    options.paging = quire::paging::page;
    options.sizes = quire::sizes::fixed;
    options.rows_per_page = 2;
    quire::feed feed = cache.feed("f", options);
    const quire::request request = feed.plan(quire::place::head().limit(50));
    must(request.position() == 1 && request.limit() == 0, "no size is named");
    feed.ingest(request.ticket(), quire::answer().add("b").add("a").total(2));
    must(feed.plan(quire::place::join("a")).help() == quire::help::look_again, "no such join");
    feed.begin_live(7);
    must(feed.push(quire::answer().add("c"), 7).help() == quire::help::plan_again, "a message twice");
    must(feed.push(quire::answer().add("d"), 9).gaps_opened() == 1, "a message is missing");
    const quire::snapshot snapshot = cache.snapshot();
    const quire::feed_info info = snapshot.info(feed);
    must(info.options().rows_per_page == 2 && info.sizes_now() == quire::sizes::fixed, "options read back");
    must(info.tail().kind == quire::link_kind::end, "the total was reached");
    for (const quire::row &row : snapshot.gaps(feed)) must(row.why() == quire::doubt::missed, "why");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    directory = argv[1];
    const std::pair<const char *, void (*)()> tests[] = {
        {"ownership", ownership}, {"ranges", ranges}, {"errors", errors}, {"batches", batches}, {"growth", growth},
        {"attributes", attributes}, {"changes", changes}, {"upkeep", upkeep}, {"limits", limits}, {"sizes", sizes},
        {"placeholders", placeholders}, {"files", files},
        {"returning", [] { test_returning(fresh("returning"), must); }},
        {"ranks", [] { test_ranks(fresh("ranks"), must); }},
        {"windows", [] { test_windows(fresh("windows"), must); }},
        {"views", [] { test_views(fresh("views"), must); }}};
    int passed = 0, failed = 0;
    for (const auto &[name, run] : tests) {
        try {
            run();
            passed++;
        } catch (const std::exception &failure) {
            std::printf("FAIL %s: %s\n", name, failure.what());
            failed++;
        }
    }
    std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
