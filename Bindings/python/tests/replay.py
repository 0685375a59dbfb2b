"""Replays cases of Bindings/conformance.json; Bindings/README.md says what the lines mean."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import quire
from quire import LinkKind, Place

WORDS = {"?": LinkKind.UNKNOWN, "end": LinkKind.END, "confirm-end": LinkKind.CONFIRM_END,
         "head": LinkKind.HEAD, "more": LinkKind.MORE}
PLAIN = {kind: word for word, kind in WORDS.items()} | {
    LinkKind.TOKEN: "", LinkKind.BELOW: "<", LinkKind.ABOVE: ">"}
# What an expectation that is a list of facts need not list in full.
PARTIAL = {"pages", "fields", "references"}


def link_in(word: str | None) -> quire.Link:
    if not word:
        return quire.Link.UNKNOWN
    return quire.Link(WORDS[word]) if word in WORDS else quire.Link.token(word)


def link_text(link: quire.Link) -> str:
    return "@" * link.is_overlapping + PLAIN[link.kind] + link.text


def named(enumeration: Any, word: str) -> Any:
    return enumeration[word.upper().replace("-", "_")]


def word_of(value: Any) -> str:
    return value.name.lower().replace("_", "-")


def picture(snapshot: quire.Snapshot, feed: quire.Feed) -> str:
    info = snapshot.info(feed)
    parts = [] if info.head.kind == LinkKind.END else [link_text(info.head) + "|"]
    run: list[str] = []
    for row in snapshot.rows(feed):
        if isinstance(row, quire.PostRow):
            run.append("+" * row.is_detached + "?" * row.is_placeholder + row.id)
            continue
        up = "" if row.up.kind == LinkKind.UNKNOWN else "^" + link_text(row.up)
        parts += [f"[{' '.join(run)}]", f"~{link_text(row.down)}{up}~"]
        run = []
    return " ".join(parts + [f"[{' '.join(run)}]", "|" + link_text(info.tail)])


def policy(sizes: quire.Sizes | None, rows: int) -> str:
    if sizes is None:
        return ""
    return f"fixed {rows}" if sizes == quire.Sizes.FIXED else word_of(sizes)


def posts_of(snapshot: quire.Snapshot, feed: quire.Feed) -> list[quire.PostRow]:
    """The posts of the server's sequence."""
    return [row for row in snapshot.rows(feed) if isinstance(row, quire.PostRow) and not row.is_detached]


class Replay:
    """One case: a cache of its own. step() returns complaints."""

    def __init__(self, path: Path) -> None:
        self.cache = quire.Cache(path, durability=quire.Durability.RELAXED, map_size=1 << 24)
        self.feeds: dict[str, quire.Feed] = {}
        self.tickets: dict[str, int] = {}
        self.crawls: dict[str, quire.Crawl] = {}

    def step(self, line: dict[str, Any]) -> list[str]:
        operation = line["op"].replace("-", "_")
        if operation == "feed":
            self.open_feed(line)
            return []
        feed = self.feeds[line["feed"]]
        seen = getattr(self, "do_" + operation)(line, feed) or {}
        seen |= self.look(feed)
        complaints = []
        for name, expected in line.items():
            if not name.startswith("="):
                continue
            value = seen[name[1:]]
            matches = set(expected) <= set(value) if name[1:] in PARTIAL else value == expected
            if not matches:
                complaints.append(f"{name[1:]} is {value!r}, expected {expected!r}")
        return complaints

    def close(self) -> None:
        for opened in (*self.feeds.values(), *self.crawls.values(), self.cache):
            opened.close()

    def open_feed(self, line: dict[str, Any]) -> None:
        options = quire.FeedOptions(
            order=named(quire.Order, line["order"]), paging=named(quire.Paging, line["paging"]),
            trusts_end=line["trusts_end"], is_strict=line["strict"], page_size=line["page_size"],
            minimum_run=line["minimum_run"], first_page=line["first_page"], sticky=line["sticky"],
            sizes=named(quire.Sizes, line["sizes"]), rows_per_page=line["rows_per_page"])
        feed = self.cache.feed(line["feed"], options)
        assert self.cache.feed(line["feed"], options) is not feed
        self.feeds[line["feed"]] = feed

    # ---- Steps

    def do_plan(self, line: dict[str, Any], feed: quire.Feed) -> dict[str, Any]:
        gap = 0
        if "gap" in line:
            with self.cache.snapshot() as snapshot:
                gaps = [row.number for row in snapshot.gaps(feed)]
            gap = gaps[line["gap"]] if 0 <= line["gap"] < len(gaps) else 2**64 - 1
        target = line.get("target")
        if "join" in line:
            with self.cache.snapshot() as snapshot:
                joins = [row.id for row in posts_of(snapshot, feed) if row.is_unverified]
            target = joins[line["join"]] if line["join"] < len(joins) else "?"
        request = feed.plan(
            named(Place, line["place"]), gap=gap, target=target, page=line.get("page", 0),
            posts=line.get("posts", ()), limit=line.get("limit", 0), is_bounded=line.get("bounded", False),
            link=link_in(line.get("link")))
        self.tickets[line["as"]] = request.ticket
        link = ""
        if request.kind == quire.RequestKind.LINK:
            link = link_text(replace(request.link, is_overlapping=False))
        elif request.kind in (quire.RequestKind.AROUND, quire.RequestKind.DELTA):
            link = request.link.text
        return {
            "request": word_of(request.kind),
            "refusal": word_of(request.refusal) if request.refusal else "",
            "help": word_of(request.help) if request.help else "",
            "outcome": "" if request else "refused", "ticket": request.ticket % (1 << 28),
            "position": request.position, "limit": request.limit, "ids": request.ids,
            "overlapping": request.is_overlapping, "link": link, "until": request.until or ""}

    def answer(self, line: dict[str, Any]) -> dict[str, Any]:
        posts = line.get("posts", [])
        keys = [int(key) if key else None for key in line.get("keys", [""] * len(posts))]
        return {
            "posts": [quire.Post(id, id.encode(), key) for id, key in zip(posts, keys) if id],
            "opaque_rows": posts.count(""), "next": link_in(line.get("next")),
            "previous": link_in(line.get("previous")), "fetched_at": line.get("at", 0),
            "total": line.get("total")}

    @staticmethod
    def tokens(line: dict[str, Any]) -> dict[str, Any]:
        return {"since": line.get("since"), "deleted": line.get("deleted", ())}

    @staticmethod
    def outcome(outcome: quire.Outcome) -> dict[str, Any]:
        names = ("reason", "added", "duplicates", "moved", "removed", "kept", "displaced", "ignored",
                 "sticky", "disorder", "unplaced", "duplicates_in_page", "opaque_rows", "gaps_closed", "gaps_opened")
        return {name: getattr(outcome, name) for name in names} | {
            "outcome": word_of(outcome.verdict), "help": word_of(outcome.help) if outcome.help else "",
            "disproved": policy(outcome.disproved_sizes, outcome.disproved_rows)}

    def do_ingest(self, line: dict[str, Any], feed: quire.Feed) -> dict[str, Any]:
        return self.outcome(feed.ingest(
            self.tickets[line["ticket"]], **self.answer(line), **self.tokens(line)))

    def do_push(self, line: dict[str, Any], feed: quire.Feed) -> dict[str, Any]:
        answer = self.answer(line)
        return self.outcome(feed.push(
            answer["posts"], number=line.get("number"), follows=line.get("follows"),
            fetched_at=answer["fetched_at"]))

    def do_begin_live(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.begin_live(line.get("number"))

    def do_end_live(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.end_live()

    def do_crawl(self, line: dict[str, Any], feed: quire.Feed) -> None:
        self.crawls[line["crawl"]] = feed.crawl(quire.CrawlKind.HEAD, line["start"])

    def do_crawl_ingest(self, line: dict[str, Any], feed: quire.Feed) -> dict[str, Any]:
        crawl = self.crawls[line["crawl"]]
        return self.outcome(crawl.ingest(page=line["page"], **self.answer(line)))

    def do_cancel(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.cancel(self.tickets[line["ticket"]])

    def do_drop_link(self, line: dict[str, Any], feed: quire.Feed) -> dict[str, Any]:
        return self.outcome(feed.drop_link(self.tickets[line["ticket"]]))

    def do_delete(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.delete(line["id"])

    def do_evict(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.evict(line["posts"])

    def do_evict_page(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.evict_page(line["index"])

    def do_pin(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.pin(line["id"])

    def do_unpin(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.unpin(line["id"])

    def do_insert_local(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.insert_local(line["id"])

    def do_remove_local(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.remove_local(line["id"])

    def do_alias(self, line: dict[str, Any], feed: quire.Feed) -> dict[str, Any]:
        return {"result": word_of(self.cache.add_alias(line["alias"], line["id"]))}

    def do_confirm_local(self, line: dict[str, Any], feed: quire.Feed) -> dict[str, Any]:
        return {"result": word_of(feed.confirm_local(line["id"], line["server"]))}

    def do_reset(self, line: dict[str, Any], feed: quire.Feed) -> None:
        feed.reset()

    def do_look(self, line: dict[str, Any], feed: quire.Feed) -> None:
        pass

    def do_prune(self, line: dict[str, Any], feed: quire.Feed) -> dict[str, Any]:
        result = feed.prune(
            out_of_sequence=line["out_of_sequence"], maximum_posts=line.get("maximum_posts"),
            maximum_age=line.get("maximum_age"), now=line.get("now", 0),
            visible=line.get("visible", []), budget=line.get("budget", 0))
        return {"done": result.is_done}

    def do_update(self, line: dict[str, Any], feed: quire.Feed) -> dict[str, Any]:
        fields = dict(zip(line["names"], line["values"]))
        return {"result": word_of(self.cache.update_fields(line["id"], fields, line["version"]))}

    # ---- What every step may expect of the feed after it

    def look(self, feed: quire.Feed) -> dict[str, Any]:
        assert self.cache.check() == []
        with self.cache.snapshot() as snapshot:
            info = snapshot.info(feed)
            rows = list(snapshot.rows(feed))
            assert len(rows) == len(snapshot.rows(feed))
            posts = posts_of(snapshot, feed)
            joins = [(f"{above.id} {row.id}", row) for above, row in zip(posts, posts[1:]) if row.is_unverified]
            gaps = [row for row in rows if isinstance(row, quire.GapRow)]
            pages = list(snapshot.pages(feed))
            seen: dict[str, Any] = {
                "picture": picture(snapshot, feed), "in_sequence": info.is_in_sequence,
                "page_count": len(pages),
                "unverified": [pair for pair, _ in joins],
                "checked": [pair for pair, row in joins if row.is_checked],
                "joins": [word_of(row.why) for row in posts if row.why],
                "why": [word_of(gap.why) for gap in gaps], "since": [str(gap.since) for gap in gaps],
                "assumed_end": info.is_end_assumed, "against_order": info.answers_against_order,
                "policy": policy(info.sizes, info.rows_per_page or 0), "size": info.rows_per_page or 0,
                "pages": [fact for page in pages for fact in self.page_facts(snapshot, feed, page)],
                "fields": [], "references": []}
            for other in self.feeds.values():
                for row in snapshot.rows(other):
                    if isinstance(row, quire.PostRow):
                        post = snapshot.post(row.id)
                        seen["references"].append(f"{row.id} {post.feeds}")
                        seen["fields"] += [f"{row.id} {name}={value.decode()}"
                                           for name, value in post.fields.items()]
            return seen

    @staticmethod
    def page_facts(snapshot: quire.Snapshot, feed: quire.Feed, page: quire.Page) -> list[str]:
        numbers = ("number", "received", "added", "duplicates", "duplicates_in_page", "is_full")
        return [f"{page.index} {name}={int(getattr(page, name))}" for name in numbers] + [
            f"{page.index} rank={page.index}", f"{page.index} next={link_text(page.next)}",
            f"{page.index} ids={' '.join(row.id for row in snapshot.page(feed, page.number))}"]
