#!/usr/bin/env python3
"""Writes conformance.json, which every binding replays, from the specification's scenarios.

    Bindings/make-conformance.py [--check]

A binding can do only what the C API can, so a feed that a scenario starts with is built up here by
requests and answers, from the bottom to the top. --check fails if the file is not up to date.
Bindings/README.md says what the lines mean.
"""
import json
import re
import struct
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCENARIOS = HERE.parent / "Tests/Specification/scenarios.json"
OUTPUT = HERE / "conformance.json"

# Cases whose start no sequence of requests leads to, and why.
UNREACHABLE = {
    "174": "a detached below the last post of a segment",
    "215": "a detached below the last post of a segment",
    "205": "a link that overlaps without the eviction that makes it so",
    "428": "pages of a feed paged by position that are proven to follow, without a post that they share",
    "506": "a border that no answer has just shown",
    "569": "posts below a gap of a feed paged by position, which no answer has put there",
    "o12": "a gap in doubt below a page that has a link of its own",
}

# Words of the specification that the C API does not have yet: cases that use them are left out.
BEYOND = {"renamed"}

PLACES = {"refresh": "head", "append": "tail", "prepend": "open-head", "around": "around",
          "bodies": "bodies", "verify": "join", "delta": "delta"}


def key_number(key):
    """The oracle's keys are fractions; only their order matters, so each becomes its rank's bits."""
    bits = struct.unpack("<q", struct.pack("<d", float(key)))[0]
    return -(2**63) - bits if bits < 0 else bits


class Case:
    def __init__(self, scenario):
        self.scenario = scenario
        self.lines = [{"op": "case", "id": scenario["id"], "title": scenario["title"]}]
        feeds = scenario.get("feeds") or {"main": scenario}
        self.first = "main" if "main" in feeds else sorted(feeds)[0]
        self.labels = 0
        self.crawls = set()
        self.options = {name: spec.get("options") or {} for name, spec in feeds.items()}
        self.has_prelude = False
        for name in sorted(feeds):
            self.open_feed(name)
        for name in sorted(feeds):
            Prelude(self, name, feeds[name]).write()
        for step in scenario["steps"]:
            self.step(step)

    def add(self, op, **members):
        line = {"op": op, **{k: v for k, v in members.items() if v is not None}}
        self.lines.append(line)
        return line

    def open_feed(self, name):
        spec = self.options[name]
        sizes = spec.get("sizes", "unknown")
        self.add(
            "feed", feed=name, order=spec.get("order", "keyless"),
            paging=spec.get("paging", "cursor"), trusts_end=spec.get("trust_end", False),
            strict=spec.get("strict", False), page_size=spec.get("limit", 20),
            minimum_run=spec.get("min_run", 2), first_page=spec.get("first_page", 1),
            sticky=spec.get("sticky", []),
            sizes="fixed" if isinstance(sizes, int) else sizes,
            rows_per_page=sizes if isinstance(sizes, int) else 0)

    def label(self):
        self.labels += 1
        return f"#{self.labels}"

    # ---- Steps

    def step(self, step):
        op, feed = step["op"], step.get("feed", self.first)
        expect = dict(step.get("expect", {}))
        if op in ("refresh", "append", "fill", "prepend", "around", "bodies", "verify", "delta"):
            line = self.plan(feed, op, step, self.label(), expect)
            if expect.get("outcome") == "refused":
                self.look(feed, expect)
            elif "error" in step:
                for name in ("outcome", "reason", "help"):
                    expect.pop(name, None)
                self.expect(self.add("cancel", feed=feed, ticket=line["as"]), expect)
            else:
                self.expect(self.ingest(feed, line["as"], step), expect)
        elif op == "plan":
            self.plan(feed, step["request"], step, step.get("as") or self.label(), expect)
            self.look(feed, expect)
        elif op == "answer":
            self.expect(self.ingest(feed, step["ticket"], step), expect)
        elif op == "cancel":
            self.expect(self.add("cancel", feed=feed, ticket=step["ticket"]), expect)
        elif op == "drop-link":
            self.expect(self.add("drop-link", feed=feed, ticket=step["ticket"]), expect)
        elif op in ("record", "push") and self.options[feed].get("paging") == "ids":
            self.look(feed, expect)  # an error, which the bindings' own tests show
        elif op == "record":
            self.record(feed, step, expect)
        elif op == "push":
            line = self.add("push", feed=feed, number=step.get("number"), follows=step.get("follows"))
            self.expect(self.answer(line, step), expect)
        elif op == "live":
            self.expect(self.add("begin-live", feed=feed, number=step.get("number")), expect)
        elif op == "offline":
            self.expect(self.add("end-live", feed=feed), expect)
        else:
            self.expect(self.change(op, feed, step), expect)

    def plan(self, feed, request, step, label, expect):
        place = PLACES.get(request)
        if place is None:
            place = "above-gap" if step.get("direction") == "up" else "gap"
        target, page = step.get("target"), None
        if place == "around" and self.options[feed].get("paging") == "page" and (
                self.options[feed].get("sizes") != "free") and re.fullmatch(r"page=\d+", target):
            place, target, page = "page", None, int(target[5:])
        line = self.add(
            "plan", feed=feed, place=place, gap=step.get("gap", -1) if "gap" in place else None,
            join=step.get("gap", 0) if place == "join" else None, target=target, page=page, posts=step.get("ids"), limit=step.get("limit"), link=step.get("link"),
            bounded=step.get("bounded"))
        line["as"] = label
        plan = expect.pop("plan", None)
        ticket = expect.pop("ticket", None)
        if expect.get("outcome") == "refused":
            expect.pop("outcome")
            plan = {"refused": expect.pop("reason", "")}
            expect["outcome"] = "refused"
            if "help" in expect:
                line["=help"] = expect.pop("help")
        if plan is not None:
            self.expect_plan(line, plan)
            if isinstance(self.options[feed].get("sizes"), int) and {"page", "offset"} & plan.keys():
                line.setdefault("=limit", 0)
        if ticket is not None and not self.has_prelude:
            line["=ticket"] = ticket
        return line

    @staticmethod
    def expect_plan(line, plan):
        kinds = {"refused": "none", "link": "link", "offset": "position", "page": "page",
                 "around": "around", "snapshot": "snapshot", "ids": "bodies",
                 "since": "delta"}
        line["=request"] = next((kinds[name] for name in kinds if name in plan), None)
        if line["=request"] is None:
            del line["=request"]
        if plan.get("refused"):
            line["=refusal"] = plan["refused"]
        for name, member in {"link": "=link", "around": "=link", "since": "=link", "offset": "=position",
                             "page": "=position", "limit": "=limit", "ids": "=ids",
                             "until": "=until"}.items():
            if name in plan:
                line[member] = plan[name]
        if "overlapping" in plan:
            line["=overlapping"] = plan["overlapping"]

    def answer(self, line, step):
        items = step.get("items", [])
        keys = step.get("keys", {})
        line["posts"] = [item or "" for item in items]
        if keys:
            line["keys"] = [str(key_number(keys[i])) if i in keys else "" for i in items]
        for member, name in (("next", "next"), ("previous", "prev"), ("at", "at"), ("total", "total"),
                             ("since", "since"), ("deleted", "deleted")):
            if name in step:
                line[member] = step[name]
        return line

    def ingest(self, feed, ticket, step):
        return self.answer(self.add("ingest", feed=feed, ticket=ticket), step)

    def record(self, feed, step, expect):
        if step.get("missing") or "error" in step:
            expect.pop("outcome", None)
            return self.look(feed, expect)
        crawl = step.get("run", "crawl")
        if (feed, crawl) not in self.crawls:
            self.crawls.add((feed, crawl))
            start = self.options[feed].get("first_page", 1)
            self.add("crawl", feed=feed, crawl=feed + "/" + crawl, start=start)
        line = self.add("crawl-ingest", crawl=feed + "/" + crawl, feed=feed, page=step["page"])
        self.expect(self.answer(line, step), expect)

    def change(self, op, feed, step):
        if op in ("prune", "prune_out_of_sequence"):
            return self.add(
                "prune", feed=feed, out_of_sequence=op == "prune_out_of_sequence",
                maximum_posts=step.get("max_entries"), maximum_age=step.get("ttl"),
                now=step.get("now"), visible=step.get("visible"), budget=step.get("budget"))
        if op == "update":
            return self.add(
                "update", feed=feed, id=step["id"], version=step["version"],
                names=sorted(step["fields"]),
                values=[json.dumps(step["fields"][name]) for name in sorted(step["fields"])])
        if op == "evict":
            return self.add("evict", feed=feed, posts=step["ids"])
        if op == "evict_page":
            return self.add("evict-page", feed=feed, index=step["rank"])
        if op in ("reset", "look"):
            return self.add(op, feed=feed)
        if op == "alias":
            return self.add("alias", feed=feed, alias=step["id"], id=step["as"])
        if op == "confirm_local" and "as" in step:
            return self.add("confirm-local", feed=feed, id=step["id"], server=step["as"])
        names = {"confirm_local": "remove-local", "insert_local": "insert-local"}
        return self.add(names.get(op, op), feed=feed, id=step["id"])

    def look(self, feed, expect):
        expect = {name: value for name, value in expect.items() if name not in ("outcome", "reason", "help")}
        if expect:
            self.expect(self.add("look", feed=feed), expect)

    # ---- Expectations

    RENAMED = {"new": "added", "in_page_duplicates": "duplicates_in_page", "opaque": "opaque_rows",
               "closed_gaps": "gaps_closed", "opened_gaps": "gaps_opened"}

    def expect(self, line, expect):
        for name, value in expect.items():
            if name == "unverified":
                value = [" ".join(pair) for pair in value]
            elif name == "checked":
                value = [" ".join(pair) for pair in value]
            elif name in ("policy", "disproved"):
                value = "" if value is None else f"fixed {value}" if isinstance(value, int) else value
            elif name == "size":
                value = value or 0
            elif name == "since":
                if self.has_prelude:  # what it is counted from differs
                    continue
                value = [str(number) for number in value]
            elif name == "references":
                value = [f"{post} {count}" for post, count in sorted(value.items())]
            elif name == "posts":
                name, value = "fields", [
                    f"{post} {field}={json.dumps(content)}"
                    for post, fields in sorted(value.items())
                    for field, content in sorted(fields.items())]
            elif name == "pages":
                line["=page_count"] = len(value)
                value = [f"{i} {self.RENAMED.get(member, member)}={self.text(content)}"
                         for i, page in enumerate(value) for member, content in page.items()]
            line["=" + self.RENAMED.get(name, name)] = value

    @staticmethod
    def text(value):
        if isinstance(value, bool):
            return "1" if value else "0"
        return " ".join(value) if isinstance(value, list) else str(value)


class Prelude:
    """Builds up the feed that a scenario starts with."""

    def __init__(self, case, feed, spec):
        self.case, self.feed = case, feed
        self.start = spec.get("start", "[] |?")
        self.pages = spec.get("pages")
        self.keys = dict(spec.get("keys", {}))
        self.options = case.options[feed]

    def write(self):
        if self.start == "[] |?":
            return
        self.case.has_prelude = True
        tokens = re.findall(r"\[[^\]]*\]|~[^~]*~|[^\s|\[\]~]*\|[^\s\[]*", self.start)
        segments = [token[1:-1].split() for token in tokens if token[0] == "["]
        gaps = [token[1:-1] for token in tokens if token[0] == "~"]
        outer = [token for token in tokens if "|" in token]
        head = next((token[:-1] for token in outer if token.endswith("|")), None)
        tail = next(token[1:] for token in outer if token.startswith("|"))
        downs = [gap.split("^")[0] for gap in gaps] + [tail]
        ups = [head or "?"] + [(gap.split("^") + ["?"])[1] for gap in gaps]
        self.evicted = []
        if any(up != "?" for up in ups[1:]):
            self.contiguous(segments, downs, ups)
        else:
            for i in reversed(range(len(segments))):
                self.segment(segments[i], downs[i], is_bottom=i == len(segments) - 1,
                             head=head if i == 0 else None)
        self.detached(segments)
        if self.evicted:
            self.case.add("evict", feed=self.feed, posts=self.evicted)
        self.case.add("look", feed=self.feed)["=picture"] = self.start

    def contiguous(self, segments, downs, ups):
        """Only an evicted post leaves a gap with a link upwards: so the segments are first joined by
        posts of their own pages."""
        op = "refresh"
        for i, words in enumerate(segments):
            pages = self.pages_of(self.posts_of(words), downs[i], ups[i])
            for ids, _, following, previous, at in pages:
                self.page(op, ids, following, previous, at=at)
                op = "append"
            if i + 1 < len(segments):
                between = f"between{i}"
                above, below = self.keys.get(words[-1]), self.keys.get(segments[i + 1][0])
                if above is not None and below is not None:
                    self.keys[between] = (above + below) / 2
                self.evicted.append(between)
                self.page(op, [between], f"beyond{i}", "?")

    def posts_of(self, words):
        """The posts a server would show: all but a local one on top, sticky ones last."""
        sticky = self.options.get("sticky", [])
        names = [word.lstrip("?+") for i, word in enumerate(words) if i > 0 or word[0] != "+"]
        return names + [word[1:] for word in words[:1] if word[1:] in sticky]

    def segment(self, words, down, is_bottom, head):
        posts = self.posts_of(words)
        if self.options.get("paging") == "ids":
            self.page("refresh", posts, "?", "?")
            if not any(word.startswith("?") for word in words):
                self.page("append", posts, "?", "?")  # the bodies
            return
        if head is not None:
            return self.page("around", posts, down, head, target=posts[0])
        pages = self.pages_of(posts, down, "?")
        for n, (ids, own, following, previous, at) in enumerate(pages):
            op = "refresh" if n == 0 else "append" if is_bottom else "fill"
            if n == len(pages) - 1 and down.startswith("@"):
                # the link to a page overlaps where the page has lost its end
                self.evicted.append("end" + ids[-1])
                ids, following = ids + ["end" + ids[-1]], "lost"
            self.page(op, ids, following, previous, at=at)

    def pages_of(self, posts, down, up):
        """(ids, own link, next, previous, fetched at) of each page of the segment."""
        if not self.pages:
            return [(posts, "head", down, up, 0)]
        own = [page for page in self.pages if set(page["ids"]) <= set(posts)]
        return [(page["ids"], page.get("own", "?"), page.get("next", "?"), page.get("prev", "?"),
                 page.get("fetched_at", 0)) for page in own]

    def page(self, op, ids, following, previous, target=None, at=0):
        step = {"items": ids, "keys": {i: self.keys[i] for i in ids if i in self.keys},
                "target": target}
        if following != "?":
            step["next"] = following
        if previous != "?":
            step["prev"] = previous
        if at:
            step["at"] = at
        if op == "fill":
            step["gap"] = 0
        if self.options.get("sizes") == "free":
            step["limit"] = len(ids)
        line = self.case.plan(self.feed, op, step, self.case.label(), {})
        self.case.ingest(self.feed, line["as"], step)

    def detached(self, segments):
        """A local post stands on top; one further down is a post that was pinned and then left."""
        for words in segments:
            for i, word in enumerate(words):
                if word[0] != "+" or word[1:] in self.options.get("sticky", []):
                    continue
                if i == 0:
                    self.case.add("insert-local", feed=self.feed, id=word[1:])
                else:
                    self.case.add("pin", feed=self.feed, id=word[1:])
                    left = [w for w in self.posts_of(words) if w != word[1:]]
                    self.page("refresh", left, "T", "?")
                    self.case.add("unpin", feed=self.feed, id=word[1:])


def words(scenario):
    """The operations and expectations that a case uses."""
    for step in scenario["steps"]:
        yield from (step["op"], step.get("request"), *step)
        yield from step.get("expect", {})


def can_say(scenario):
    return BEYOND.isdisjoint(words(scenario))


def main():
    scenarios = json.loads(SCENARIOS.read_text())
    cases = [Case(s) for s in scenarios if s["id"] not in UNREACHABLE and can_say(s)]
    lines = [json.dumps(line, ensure_ascii=True) for case in cases for line in case.lines]
    text = "\n".join(lines) + "\n"
    if "--check" in sys.argv:
        if not OUTPUT.exists() or OUTPUT.read_text() != text:
            sys.exit(f"{OUTPUT} is not up to date: run Bindings/make-conformance.py")
    else:
        OUTPUT.write_text(text)
    print(f"{len(cases)} of {len(scenarios)} cases, {len(lines)} lines")


main()
