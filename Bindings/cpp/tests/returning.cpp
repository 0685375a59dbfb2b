// The same API without exceptions: compiled with -fno-exceptions -fno-rtti.
#include <quire.hpp>

#ifndef QUIRE_NO_EXCEPTIONS
#error "this file is for the mode that returns errors"
#endif

void test_returning(const std::string &path, void (*must)(bool, const char *));

void test_returning(const std::string &path, void (*must)(bool, const char *))
{
    auto nowhere = quire::cache::open("/does/not/exist/x");
    must(!nowhere && nowhere.error().status() != quire::status::ok, "a failure is returned");
    must(nowhere.error().what()[0] != '\0', "with its sentence");
    must(!quire::cache::open(std::string("a\0b", 3)), "NUL");

    quire::cache cache = *quire::cache::open(path);
    quire::feed feed = *cache.feed("f");
    const auto request = feed.plan(quire::place::head());
    must(bool(request) && bool(request.value()), "plan");
    const auto outcome = feed.ingest(
        request.value().ticket(), quire::answer().add("a", "1").add("b", "2").next(quire::link::token("n")));
    must(outcome && outcome.value().added().size() == 2, "ingest");

    const auto undone = cache.batch([&](quire::batch batch) -> quire::result<void> {
        if (const auto reset = feed.reset(batch); !reset) return reset;
        return quire::error(quire::status::not_found);
    });
    must(!undone && undone.error().status() == quire::status::not_found, "a batch returns why it failed");
    const auto done = cache.batch([&](quire::batch batch) { return feed.erase("b", batch); });
    must(bool(done), "a batch commits");

    const quire::snapshot snapshot = *cache.snapshot();
    auto rows = snapshot.rows(feed);
    int count = 0;
    for (const quire::row &row : rows) must(row.id() == "a" && row.body() == "1", "row"), count++;
    must(count == 1 && !rows.failure(), "rows");

    const quire::feed moved = std::move(feed);
    auto refused = snapshot.rows(feed);
    for (const quire::row &row : refused) must(row.is_gap(), "a failed walk has no rows");
    must(refused.failure() && refused.failure()->status() == quire::status::bad_handle, "and says why");
    must(!snapshot.find(moved, "b").value().has_value(), "find");
    must(cache.check().value().empty(), "sound");
}
