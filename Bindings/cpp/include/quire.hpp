// quire.hpp - Quire for C++17, header only. The manual is quire.h; this layer adds ownership, ranges and
// errors, and no behaviour of its own.
//
//     quire::cache cache("feeds.quire");
//     quire::feed feed = cache.feed("timeline");
//
//     quire::request request = feed.plan(quire::place::head());        (what to ask, and a ticket)
//     quire::answer answer;
//     answer.add("17", body).next(quire::link::token("page=2"));       (what the server said)
//     quire::outcome outcome = feed.ingest(request.ticket(), answer);
//
//     quire::snapshot snapshot = cache.snapshot();                     (read what is cached)
//     for (const quire::row &row : snapshot.rows(feed))
//         if (row.is_gap()) draw_gap(row.gap()); else draw(row.id(), row.body());
//
// Ownership  cache, feed, crawl, snapshot, window, merge, request and outcome are move-only and release what
//            they own; the order does not matter. A moved-from object may only be assigned to or destroyed.
// Lifetime   A std::string_view or link borrows. What is read from a snapshot, rows, pages, infos and
//            changes included, is valid until that SNAPSHOT is destroyed, however long the row itself
//            lives; what stands in a request or an outcome until that object is destroyed. Arguments are
//            borrowed until the call returns, what is put into an answer until it has been ingested.
// Errors     A failing call throws quire::error. With QUIRE_NO_EXCEPTIONS, or under -fno-exceptions, it
//            returns a quire::result instead, and caches are opened with cache::open(). Below, may<T> is
//            T or result<T>. "Not found", a timeout and a lost change log are values, not errors.
// Threads    As quire.h says: cache and feed from any thread at once; crawl, snapshot, window, merge, request
//            and outcome one thread at a time; a batch on its own thread only.
#ifndef QUIRE_HPP
#define QUIRE_HPP

#include "quire/cache.hpp"
#include "quire/result.hpp"
#include "quire/snapshot.hpp"
#include "quire/values.hpp"
#include "quire/view.hpp"
#include "quire/window.hpp"

#endif
