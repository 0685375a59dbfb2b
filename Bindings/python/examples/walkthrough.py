"""A walk through the package: a feed fills, a gap opens and closes, posts are read both ways.

    python walkthrough.py /tmp/walk.quire

Prints the feed after each step; ends with an error if it is not what the comments say.
"""

from __future__ import annotations

import sys

import quire
from quire import CrawlKind, Place


def page(feed: quire.Feed, letters: str, next: str, place: Place = Place.HEAD,
         gap: quire.GapRow | int = 0) -> None:
    """Asks at a place and lets a server answer with one-letter posts."""
    request = feed.plan(place, gap=gap)
    if not request:
        sys.exit(f"refused: {request.refusal!r}")
    outcome = feed.ingest(
        request, [(letter, f"body of {letter}") for letter in letters], next=next)
    print(f"{outcome.verdict.name.lower():10} {len(outcome.added)} new")


def show(cache: quire.Cache, feed: quire.Feed, expected: str) -> quire.GapRow | None:
    """Prints the feed as one line, such as "a b c ~ x y", and compares it. Returns the first gap."""
    with cache.snapshot() as snapshot:
        rows = snapshot.rows(feed)
        line = " ".join("~" if isinstance(row, quire.GapRow) else row.id for row in rows)
        gap = next(snapshot.gaps(feed), None)
    print(f"{'':10} {line}")
    if line != expected:
        sys.exit(f"expected   {expected}")
    return gap


def main(path: str) -> None:
    with quire.Cache(path) as cache:
        feed = cache.feed("timeline")

        page(feed, "xyz", "page-2")  # the first page
        show(cache, feed, "x y z")

        page(feed, "abc", "page-2'")  # much later: nothing known on it, so posts may be missing
        gap = show(cache, feed, "a b c ~ x y z")
        assert gap is not None

        page(feed, "dxy", "page-3'", Place.GAP, gap)  # the page below the gap's upper side joins
        show(cache, feed, "a b c d x y z")

        # Bodies are views of the file; they end with their snapshot.
        with cache.snapshot() as snapshot:
            body = snapshot.find(feed, "d").body
            print(f"{'':10} {bytes(body).decode()!r}, read-only: {body.readonly}")
        try:
            body[0]
        except ValueError as error:
            print(f"{'':10} afterwards: {error}")

        # Backwards from the bottom, and a window in the middle.
        with cache.snapshot() as snapshot:
            rows = snapshot.rows(feed)
            assert [row.id for row in reversed(rows)] == list("zyxdcba")
            assert [row.id for row in rows[2:5]] == ["c", "d", "x"]
            assert rows[-1].id == "z" and len(rows) == 7

        # Three pages of a crawl in one commit.
        archive = cache.feed("archive")
        before = cache.generation

        def add(batch: quire.Batch) -> int:
            crawl = archive.crawl(CrawlKind.HEAD)
            for number in range(3):
                crawl.ingest([(str(99 - 2 * number - k), b"") for k in range(2)], batch=batch)
            return 3

        print(f"{cache.batch(add)} pages in {cache.generation - before} commit")
        show(cache, archive, "99 98 97 96 95 94")

        # Give up what is more than two pages; a gap says what is missing.
        result = archive.prune(maximum_pages=2)
        print(f"pruned     {result.posts} posts")

        findings = cache.check()
        print(f"check      {len(findings)} findings")
        if findings:
            sys.exit(1)


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(sys.argv[1])
