"""The loop of the README, against a server over loopback that does what real ones do."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import quire

README = Path(__file__).resolve().parents[1] / "README.md"


class Site:
    """A list in the manner of Reddit: ten posts a page, the link names the last post, and the answer to a link whose
    post is gone is an empty page without a link."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.requests = 0
        #: Statuses to answer the next requests with, 0 for a page.
        self.faults: list[int] = []
        #: Cut off the list at its end, as a limit of posts does.
        self.most = 1000
        #: Posts that the server leaves out of the pages on which they stand.
        self.hidden: set[int] = set()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *arguments: Any) -> None:
                pass

            def do_GET(self) -> None:
                site.requests += 1
                status = site.faults.pop(0) if site.faults else 0
                body = b'{"message": "no"}' if status else json.dumps(site.page(self.path)).encode()
                self.send_response(status or 200)
                self.send_header("Content-Length", str(len(body)))
                if status == 429:
                    self.send_header("Retry-After", "0")
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/new"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def page(self, path: str) -> dict[str, Any]:
        rest = self.ids[:self.most]
        for after in parse_qs(urlsplit(path).query).get("after", []):
            number = int(after.removeprefix("t3_"))
            rest = rest[rest.index(number) + 1:] if number in rest else []
        shown = rest[:10]
        children = [{"kind": "t3", "data": {"name": f"t3_{number}"}} for number in shown
                    if number not in self.hidden]
        after = f"t3_{shown[-1]}" if len(shown) == 10 else None
        return {"kind": "Listing", "data": {"children": children, "after": after}}

    def publish(self, count: int) -> None:
        top = max(self.ids, default=0)
        self.ids = list(range(top + count, top, -1)) + self.ids


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.server.shutdown()
    site.server.server_close()


@pytest.fixture
def loop(site: Site) -> dict[str, Any]:
    """The names of the README's block."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    [block] = [block for block in blocks if "def load(" in block]
    names: dict[str, Any] = {}
    exec(compile(block, str(README), "exec"), names)
    names["ADDRESS"] = site.address
    names["time"] = type("NoTime", (), {"sleep": staticmethod(lambda seconds: None)})
    return names


def shown(cache: quire.Cache, feed: quire.Feed) -> list[str]:
    with cache.snapshot() as snapshot:
        return ["~" if isinstance(row, quire.GapRow) else row.id for row in snapshot.rows(feed)]


def listed(site: Site) -> list[str]:
    return [f"t3_{number}" for number in site.ids]


def opened(cache: quire.Cache, loop: dict[str, Any]) -> quire.Feed:
    return cache.feed("new", loop["reddit"].feed_options(page_size=10))


def test_the_list_is_mirrored(cache: quire.Cache, site: Site, loop: dict[str, Any]) -> None:
    site.publish(57)
    feed = opened(cache, loop)
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
    assert shown(cache, feed) == listed(site) and site.requests == 6
    site.publish(25)
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
    assert shown(cache, feed) == listed(site)


def test_an_end_after_a_full_page_is_believed_when_it_is_seen_twice(
    cache: quire.Cache, site: Site, loop: dict[str, Any]) -> None:
    site.publish(40)
    feed = opened(cache, loop)
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
    assert shown(cache, feed) == listed(site) and site.requests == 7


@pytest.mark.parametrize("place", ["tail", "gap"])
def test_a_border_that_is_gone_loses_and_hides_nothing(
    cache: quire.Cache, site: Site, loop: dict[str, Any], place: str) -> None:
    site.publish(60)
    feed = opened(cache, loop)
    loop["load"](cache, feed, quire.Place.HEAD, loop["ask"])
    if place == "gap":
        assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
        site.publish(35)
        loop["load"](cache, feed, quire.Place.HEAD, loop["ask"])
    rows = shown(cache, feed)
    gone = rows[rows.index("~") - 1] if place == "gap" else rows[-1]
    site.ids.remove(int(gone.removeprefix("t3_")))
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
    assert [row for row in shown(cache, feed) if row != gone] == listed(site)


def test_failures_that_pass_are_asked_again(cache: quire.Cache, site: Site, loop: dict[str, Any]) -> None:
    site.publish(30)
    site.faults = [429, 503, 0, 500, 429]
    feed = opened(cache, loop)
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
    assert shown(cache, feed) == listed(site)
    site.faults = [503] * 3
    with pytest.raises(loop["Later"]):
        loop["fill"](cache, feed, loop["ask"])
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END


def test_a_link_that_is_refused_is_dropped(cache: quire.Cache, site: Site, loop: dict[str, Any]) -> None:
    site.publish(45)
    feed = opened(cache, loop)
    loop["load"](cache, feed, quire.Place.HEAD, loop["ask"])
    loop["load"](cache, feed, quire.Place.TAIL, loop["ask"])
    site.faults = [0, 410]   # the head, and the old link below the last post
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
    assert shown(cache, feed) == listed(site)
    site.publish(30)
    site.faults = [0, 404]   # a link as young as the call is not dropped
    loop["load"](cache, feed, quire.Place.HEAD, loop["ask"])
    with pytest.raises(loop["Gone"]):
        site.faults = [404] * 20
        loop["load"](cache, feed, quire.Place.HEAD, loop["ask"])


def test_a_server_that_goes_round_in_circles_is_left(
    cache: quire.Cache, site: Site, loop: dict[str, Any]) -> None:
    site.publish(30)
    feed = opened(cache, loop)
    page = site.page
    site.page = lambda path: page("/new") if "after" in path else page(path)  # type: ignore[method-assign]
    result = loop["fill"](cache, feed, loop["ask"])
    assert result.verdict in loop["NOWHERE"] and site.requests < 10


def test_a_first_page_of_filtered_rows_leads_on(
    cache: quire.Cache, site: Site, loop: dict[str, Any]) -> None:
    site.publish(35)
    site.hidden = set(range(16, 36))
    feed = opened(cache, loop)
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
    assert shown(cache, feed) == listed(site)[20:]
    site.publish(12)
    site.hidden |= set(range(38, 48))
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
    assert shown(cache, feed) == ["t3_37", "t3_36", *listed(site)[32:]]


def test_a_gap_that_the_tail_opens_is_filled(
    cache: quire.Cache, site: Site, loop: dict[str, Any]) -> None:
    site.publish(4)
    site.ids = [4]
    feed = opened(cache, loop)
    feed.begin_live()
    loop["load"](cache, feed, quire.Place.HEAD, loop["ask"])
    feed.push([("t3_5", b"")])
    feed.push([("t3_6", b"")])
    feed.delete("t3_4")
    site.ids = [6]
    assert loop["fill"](cache, feed, loop["ask"]).refusal == quire.Refusal.END
    assert shown(cache, feed) == ["t3_6"]
