"""Rows as a sequence, one call per screenful."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import quire
from conftest import fill

COUNT = 300


@pytest.fixture
def feed(cache: quire.Cache) -> quire.Feed:
    """300 posts in two segments: a gap stands below number 99."""
    feed = cache.feed("timeline")
    fill(feed, [f"{n:03}" for n in range(100, COUNT)])
    fill(feed, [f"{n:03}" for n in range(100)], next="page 2")
    return feed


def name(row: quire.Row) -> str:
    return row.id if isinstance(row, quire.PostRow) else f"gap {row.number}"


EXPECTED = [f"{n:03}" for n in range(100)] + ["gap 1"] + [f"{n:03}" for n in range(100, COUNT)]


def test_a_gap_is_a_row(cache: quire.Cache, feed: quire.Feed) -> None:
    with cache.snapshot() as snapshot:
        row = snapshot.rows(feed)[100]
        assert isinstance(row, quire.GapRow)
        assert (row.number, row.down, row.posts_above) == (1, quire.Link.token("page 2"), 100)
        assert [gap.number for gap in snapshot.gaps(feed)] == [1]
    assert feed.plan(quire.Place.GAP, gap=row).link == quire.Link.token("page 2")


def test_it_behaves_like_a_list(cache: quire.Cache, feed: quire.Feed) -> None:
    chance = random.Random(3)
    edges = [None, 0, 1, 10, 63, 64, 65, 100, 128, 300, 301, 302, 1000]
    edges += [-edge for edge in edges if edge]
    with cache.snapshot() as snapshot:
        rows = snapshot.rows(feed)
        assert len(rows) == 301 and rows
        assert [name(row) for row in rows] == EXPECTED
        assert [name(row) for row in reversed(rows)] == EXPECTED[::-1]
        for _ in range(1500):
            at = slice(chance.choice(edges), chance.choice(edges),
                       chance.choice([None, 1, 2, 7, -1, -3]))
            fresh = snapshot.rows(feed) if chance.random() < 0.3 else rows
            assert [name(row) for row in fresh[at]] == EXPECTED[at], at
        for at in (0, 5, 64, 100, 300, -1, -64, -65, -301):
            assert name(rows[at]) == EXPECTED[at]
        assert rows[1 << 70:] == []
        for at in (301, 1000, 319, 320, 1 << 70, -302, -1000):
            with pytest.raises(IndexError):
                rows[at]
        with pytest.raises(ValueError):
            rows[::0]


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 128])
def test_sizes_around_a_screenful(cache: quire.Cache, count: int) -> None:
    feed = cache.feed(f"of {count}")
    if count:
        fill(feed, [str(n) for n in range(count)])
    with cache.snapshot() as snapshot:
        rows = snapshot.rows(feed)
        assert [name(row) for row in rows] == [str(n) for n in range(count)]
        assert [name(row) for row in rows[:]] == [str(n) for n in range(count)]
        assert len(rows) == len(list(reversed(rows))) == count
        assert rows[count:] == []
        with pytest.raises(IndexError):
            rows[count]


def test_one_call_per_screenful(
    cache: quire.Cache, feed: quire.Feed, count_calls: Callable[[], list[str]]
) -> None:
    with cache.snapshot() as snapshot:
        rows = snapshot.rows(feed)
        count_calls()
        assert len(rows[:20]) == 20
        assert count_calls() == ["quire_read_from_rank"]
        rows[10:20], rows[20:40], rows[40:64], rows[3], rows[63]  # still the first screenful
        assert count_calls() == []
        for at in range(64, 301, 20):  # scrolling down, 20 rows at a time: 301 rows are 5 screenfuls
            assert rows[at: at + 20]
        assert count_calls() == ["quire_read_from_rank"] * 4
        for at in range(64, 301, 20):
            assert rows[at: at + 20]
        assert count_calls() == []  # the last screenfuls are kept
        assert len(rows[-20:]) == 20 and name(rows[-1]) == "299"
        assert count_calls() == ["quire_read_before"] * 2
        fresh = snapshot.rows(feed)
        assert sum(1 for _ in fresh) == 301
        assert count_calls() == ["quire_read_from_rank"] * 5
        assert sum(1 for _ in reversed(fresh)) == 301
        assert count_calls() == ["quire_read_before"] * 5
        for _ in zip(range(20), snapshot.rows(feed)):  # lazily: what is not looked at is not fetched
            pass
        assert count_calls() == ["quire_read_from_rank"]
        row = snapshot.rows(feed)[200]  # a place never looked at
        assert count_calls() == ["quire_read_from_rank"]
        for _ in range(3):
            row = snapshot.after(feed, row, 20)[-1]
        assert count_calls() == ["quire_read_after"] * 3


def test_ranks_are_those_of_a_walk(cache: quire.Cache) -> None:
    feed = cache.feed("dated", quire.FeedOptions(order=quire.Order.STABLE))
    keyless = cache.feed("keyless")
    for keys in (range(100, 0, -1), range(300, 200, -1)):
        feed.ingest(feed.plan(), [(key, b"", key) for key in keys], next="more")
    with cache.snapshot() as snapshot:
        rows: list[quire.Row] = []
        while found := snapshot.after(feed, rows[-1] if rows else None):
            rows += found
        assert snapshot.row_count(feed) == len(rows) == 201 and isinstance(rows[100], quire.GapRow)
        for rank, row in enumerate(rows):
            assert snapshot.rank_of_row(feed, row) == rank
            assert [name(row) for row in snapshot.from_rank(feed, rank, 2)] == [
                name(row) for row in rows[rank: rank + 2]]
            if isinstance(row, quire.PostRow):
                assert row.key is not None
                assert snapshot.rank_of_post(feed, row.id) == snapshot.rank_of_key(feed, row.key) == rank
        assert snapshot.rank_of_key(feed, 150) == 101 and snapshot.rank_of_key(feed, 0) == 201
        assert snapshot.from_rank(feed, 201) == []
        with pytest.raises(quire.NotFoundError):
            snapshot.rank_of_post(feed, "absent")
        with pytest.raises(quire.BadArgumentError, match="order"):
            snapshot.rank_of_key(keyless, 1)
        with pytest.raises(quire.BadArgumentError):
            snapshot.from_rank(feed, -1)
        with cache.snapshot() as other, pytest.raises(quire.BadArgumentError):
            other.rank_of_row(feed, rows[0])
    with pytest.raises(quire.BadHandleError):
        snapshot.row_count(feed)


def test_positions_belong_to_their_snapshot(cache: quire.Cache, feed: quire.Feed) -> None:
    with cache.snapshot() as snapshot, cache.snapshot() as other:
        row = snapshot.find(feed, "150")
        assert [name(row) for row in snapshot.after(feed, row, 2)] == ["151", "152"]
        assert [name(row) for row in snapshot.before(feed, row, 2)] == ["149", "148"]
        assert snapshot.after(feed, row, 0) == []
        with pytest.raises(quire.BadArgumentError):
            other.after(feed, row)
        with pytest.raises(quire.BadArgumentError):
            snapshot.after(feed, row, -1)


def test_iterating_past_the_end_of_the_snapshot(cache: quire.Cache, feed: quire.Feed) -> None:
    with cache.snapshot() as snapshot:
        rows = snapshot.rows(feed)
        iterator = iter(rows)
        next(iterator)
    with pytest.raises(quire.BadHandleError):
        list(iterator)
    with pytest.raises(quire.BadHandleError):
        rows[0]


def test_pages(cache: quire.Cache) -> None:
    feed = cache.feed("many pages")
    crawl = feed.crawl()
    for number in range(150):
        crawl.ingest([(f"{number}-{k}", b"") for k in range(3)])
    with cache.snapshot() as snapshot:
        pages = list(snapshot.pages(feed))
        assert [page.index for page in pages] == list(range(150))
        assert [page.index for page in snapshot.pages(feed, 140)] == list(range(140, 150))
        assert [row.id for row in snapshot.page(feed, pages[7].number)] == ["7-0", "7-1", "7-2"]
        assert list(snapshot.page(feed, 99999)) == []
        assert all(page.is_full and page.posts == page.received == 3 for page in pages)
        assert snapshot.info(feed).pages == 150


def test_a_page_longer_than_a_screenful(cache: quire.Cache) -> None:
    feed = cache.feed("long page")
    ids = [str(n) for n in range(200)]
    fill(feed, ids)
    with cache.snapshot() as snapshot:
        assert [row.id for row in snapshot.page(feed, 1)] == ids


def test_ids_of_all_kinds(cache: quire.Cache) -> None:
    feed = cache.feed("ids")
    ids: list[quire.Id] = ["text", "grün", b"\xff\x00raw", 42, "007", 2**64, -1]
    feed.ingest(feed.plan(), [(id, b"") for id in ids])
    with cache.snapshot() as snapshot:
        seen = [row.id for row in snapshot.rows(feed)]
        assert seen == ["text", "grün", b"\xff\x00raw".decode("utf-8", "surrogateescape"), "42",
                        "007", str(2**64), "-1"]
        assert [snapshot.find(feed, id).id for id in seen] == seen
    assert feed.contains(ids) == [True] * 7 and feed.contains([]) == []
    assert 42 in feed and "43" not in feed


def test_feeds_are_merged_down_to_the_first_frontier(cache: quire.Cache) -> None:
    stable = quire.FeedOptions(order=quire.Order.STABLE)
    a, b = cache.feed("a", stable), cache.feed("b", stable)
    a.ingest(a.plan(), [(f"a{key}", b"", key) for key in (9, 7, 5)], next=quire.Link.END)
    b.ingest(b.plan(), [(f"b{key}", b"", key) for key in (8, 6)], next="more")

    def names(**options: object) -> list[str]:
        with cache.snapshot() as snapshot:
            return [
                row.id if isinstance(row, quire.PostRow) else f"{feed.name} ends"
                for feed, row in snapshot.merged([a, b], **options)]  # type: ignore[arg-type]

    assert names() == ["a9", "b8", "a7", "b6", "b ends"]
    assert names(past_frontiers=True) == ["a9", "b8", "a7", "b6", "b ends", "a5"]
    assert names(from_key=6) == ["b6", "b ends"]
    with cache.snapshot() as snapshot:
        *_, (feed, row) = snapshot.merged([a, b])
        assert isinstance(row, quire.Frontier) and not row.is_head
        assert row.link == quire.Link.token("more") and feed is b
        assert list(snapshot.merged([])) == []
        with pytest.raises(quire.BadArgumentError):
            list(snapshot.merged([a, a]))
        with pytest.raises(quire.BadArgumentError):
            list(snapshot.merged([cache.feed("keyless")]))


def test_a_window_follows_by_differences_alone(cache: quire.Cache) -> None:
    feed = cache.feed("dated", quire.FeedOptions(order=quire.Order.STABLE))
    feed.ingest(feed.plan(), [(key, b"", key) for key in range(300, 200, -1)], next="more")
    with cache.snapshot() as snapshot:
        window = snapshot.window(feed, quire.Start.KEY, key=250, above=2, below=3)
        shown = [name(row) for row in window.rows(snapshot)]
        assert shown == ["252", "251", "250", "249", "248", "247"]
        assert window.info.rank == 48 and window.info.anchor == 2 and not window.info.is_following_head
        saved = window.nearest()
        assert saved[0] == "250" and sorted(saved) == sorted(shown)
    with window:
        feed.ingest(feed.plan(), [(key, b"", key) for key in range(400, 390, -1)], next="newer")
        feed.delete("250")
        with cache.snapshot() as snapshot:
            with pytest.raises(quire.ResyncError):
                window.rows(snapshot)
            difference = window.update(snapshot)
            rows = window.rows(snapshot)
            for at in reversed(difference.removed):
                del shown[at]
            for at in difference.inserted:
                shown.insert(at, name(rows[at]))
            assert shown == [name(row) for row in rows] == ["252", "251", "249", "248", "247", "246"]
            assert window.info.rank == 59  # ten posts and a gap came above
            assert len(window.rows(snapshot, 4, 9)) == 2
            window.look(None, above=0, below=1)
            window.update(snapshot)
            assert [name(row) for row in window.rows(snapshot)] == ["400", "399"]
            assert snapshot.window(feed, quire.Start.NEAREST, ids=saved, above=0).info.rank == 61
            with pytest.raises(quire.NotFoundError):
                snapshot.window(feed, quire.Start.POST, ids=["absent"])
