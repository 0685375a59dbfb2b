// What a feed looks like: the notation of conformance.json, and everything else a line can expect.
#ifndef QUIRE_TESTS_PICTURE_HPP
#define QUIRE_TESTS_PICTURE_HPP

#include "json.hpp"

#include <quire.hpp>

#include <algorithm>

namespace picture {

// The word for a link, such as "?", "end", "<id".
inline std::string word(const quire::link &link)
{
    std::string text(link.text);
    switch (link.kind) {
    case quire::link_kind::unknown: return "?";
    case quire::link_kind::end: return "end";
    case quire::link_kind::confirm_end: return "confirm-end";
    case quire::link_kind::head: return "head";
    case quire::link_kind::more: return "more";
    case quire::link_kind::token: return text;
    case quire::link_kind::below: return "<" + text;
    case quire::link_kind::above: return ">" + text;
    }
    return "unknown kind";
}

inline quire::link link(std::string_view word)
{
    if (word == "?") return {};
    if (word == "end") return quire::link::end();
    if (word == "confirm-end") return quire::link(quire::link_kind::confirm_end);
    if (word == "head") return quire::link(quire::link_kind::head);
    if (word == "more") return quire::link(quire::link_kind::more);
    if (word.substr(0, 1) == "<") return quire::link::below(word.substr(1));
    if (word.substr(0, 1) == ">") return quire::link::above(word.substr(1));
    return quire::link::token(word);
}

inline std::string border(const quire::link &link) { return (link.is_overlapping ? "@" : "") + word(link); }

// One line such as "u1| [a +L] ~n2^u2~ [?x] |end".
inline std::string show(const quire::snapshot &snapshot, const quire::feed &feed)
{
    const quire::feed_info info = snapshot.info(feed);
    std::string line;
    if (info.head().kind != quire::link_kind::end) line = border(info.head()) + "| ";
    std::string segment;
    for (const quire::row &row : snapshot.rows(feed)) {
        if (row.is_gap()) {
            const std::string up = row.up().kind == quire::link_kind::unknown ? "" : "^" + border(row.up());
            line += "[" + segment + "] ~" + border(row.down()) + up + "~ ";
            segment.clear();
            continue;
        }
        if (!segment.empty()) segment += ' ';
        segment += row.is_detached() ? "+" : "";
        segment += row.is_placeholder() ? "?" : "";
        segment += row.id();
    }
    return line + "[" + segment + "] |" + border(info.tail());
}

inline std::string policy(quire::sizes sizes, std::uint32_t rows)
{
    static const char *const words[] = {"unknown", "free", "fixed"};
    const std::string word = words[static_cast<int>(sizes)];
    return sizes == quire::sizes::fixed ? word + " " + std::to_string(rows) : word;
}

// What is in doubt: joins and why, those that were asked about, gaps, why and since when.
inline void doubts(const quire::snapshot &snapshot, const quire::feed &feed, json::object &seen)
{
    json::list unverified, checked, joins, why, since;
    std::string above;
    for (const quire::row &row : snapshot.rows(feed)) {
        if (row.is_gap()) {
            why.push_back(name(row.why()));
            since.push_back(std::to_string(row.since()));
            continue;
        }
        if (row.is_detached()) continue;
        const std::string pair = above + " " + std::string(row.id());
        if (row.is_unverified()) unverified.push_back(pair);
        if (row.is_unverified()) joins.push_back(name(row.why()));
        if (row.is_checked()) checked.push_back(pair);
        above = row.id();
    }
    seen["unverified"] = unverified;
    seen["checked"] = checked;
    seen["joins"] = joins;
    seen["why"] = why;
    seen["since"] = since;
}

// Lines such as "0 own=head", for page 0 and every member.
inline json::list pages(const quire::snapshot &snapshot, const quire::feed &feed)
{
    json::list lines;
    for (const quire::page &page : snapshot.pages(feed)) {
        std::string ids;
        for (const quire::row &row : snapshot.page(feed, page.number))
            ids += (ids.empty() ? "" : " ") + std::string(row.id());
        const std::string rank = std::to_string(page.index);
        const auto add = [&](const char *name, const std::string &text) {
            lines.push_back(rank + " " + name + "=" + text);
        };
        add("number", std::to_string(page.number));
        add("rank", rank);
        add("own", word(page.own));
        add("next", word(page.next));
        add("prev", word(page.previous));
        add("received", std::to_string(page.received));
        add("added", std::to_string(page.added));
        add("duplicates", std::to_string(page.duplicates));
        add("duplicates_in_page", std::to_string(page.duplicates_in_page));
        add("is_full", page.is_full ? "1" : "0");
        add("fetched_at", std::to_string(page.fetched_at));
        add("ids", ids);
    }
    return lines;
}

// Lines "post count" and "post field=value" for every post of every feed.
inline void posts(const quire::snapshot &snapshot, quire::cache &cache, json::object &seen)
{
    json::list references, fields;
    for (const std::string &name : cache.feed_names()) {
        const quire::feed feed = cache.feed(name);
        for (const quire::row &row : snapshot.rows(feed)) {
            if (row.is_gap()) continue;
            const auto post = snapshot.post(row.id());
            const std::string id(row.id());
            if (!post) throw std::runtime_error("no info about post " + id);
            references.push_back(id + " " + std::to_string(post->feeds()));
            for (const quire::field &field : post->fields())
                fields.push_back(id + " " + std::string(field.name) + "=" + std::string(field.value));
        }
    }
    seen["references"] = references;
    seen["fields"] = fields;
}

// Reads the feed in every way there is; throws unless they agree.
inline void cross_check(const quire::snapshot &snapshot, const quire::feed &feed)
{
    const auto name = [](const quire::row &row) {
        return row.is_gap() ? "~" + std::to_string(row.gap()) : std::string(row.id());
    };
    const auto agree = [](bool holds, const char *what) {
        if (!holds) throw std::runtime_error(std::string("two ways of reading disagree: ") + what);
    };
    std::vector<std::string> down, up, gaps, only;
    for (const quire::row &row : snapshot.rows(feed)) {
        down.push_back(name(row));
        if (row.is_gap()) {
            gaps.push_back(name(row));
            continue;
        }
        const auto found = snapshot.find(feed, row.id());
        agree(found && found->id() == row.id() && found->body() == row.body(), "find");
        agree(!snapshot.rows(feed, row.position()).failure(), "position");
    }
    for (const quire::row &row : snapshot.rows_upwards(feed)) up.push_back(name(row));
    for (const quire::row &row : snapshot.gaps(feed)) only.push_back(name(row));
    std::reverse(up.begin(), up.end());
    agree(down == up, "upwards");
    agree(gaps == only, "gaps");
}

} // namespace picture

#endif
