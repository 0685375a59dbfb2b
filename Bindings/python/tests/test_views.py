"""Views, against the filter of the feed's rows."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import quire


def even(post: quire.Candidate) -> quire.Shown | None:
    return quire.Shown(post.body[:1], post.body) if int(post.id) % 2 == 0 else None


def name(row: quire.Row) -> str:
    return row.id if isinstance(row, quire.PostRow) else "~"


def test_a_view_shows_gaps_sections_and_ranks(cache: quire.Cache) -> None:
    feed = cache.feed("dated", quire.FeedOptions(order=quire.Order.STABLE))
    with quire.View(feed, "even", even) as view, quire.View(feed, "sorted", even, order=quire.ViewOrder.KEYS) as keys:
        feed.ingest(feed.plan(), [(key, b"%d" % (key % 7), key) for key in range(20, 10, -1)], next="more")
        feed.ingest(feed.plan(), [(key, b"%d" % (key % 7), key) for key in range(40, 30, -1)], next="newer")
        with cache.snapshot() as snapshot:
            rows = view.rows(snapshot)
            assert [name(row) for row in rows] == ["40", "38", "36", "34", "32", "~", "20", "18", "16", "14", "12"]
            assert [name(row) for row in view.rows(snapshot, rows[5], limit=2)] == ["20", "18"]
            assert [name(row) for row in view.rows_from(snapshot, 9)] == ["12"]
            gap = rows[5]
            assert isinstance(gap, quire.GapRow) and gap.number == list(snapshot.gaps(feed))[0].number
            info = view.info(snapshot)
            assert info.is_current and not info.is_complete and info.posts == 10 and info.version == 1
            sections = keys.sections(snapshot)
            assert sum(section.posts for section in sections) == 10 and sections == view.sections(snapshot)
            assert [section.name for section in sections] == sorted({b"%d" % (key % 7) for key in range(12, 41, 2)
                                                                     if key <= 20 or key > 30})
            first = keys.rows_from(snapshot, sections[1].rank, limit=1)[0]
            place = keys.place(snapshot, name(first))
            assert place == sections[1]
            assert keys.place(snapshot, 13) is None and view.place(snapshot, 18).rank == 6  # type: ignore[union-attr]
        assert quire.View.remove(feed, "even") and not quire.View.remove(feed, "even")
        with cache.snapshot() as snapshot, pytest.raises(quire.NotFoundError):
            view.rows(snapshot)


def test_views_follow_random_changes(cache: quire.Cache) -> None:
    choices = random.Random(7)
    feed = cache.feed("random", quire.FeedOptions(order=quire.Order.STABLE))
    with quire.View(feed, "even", even) as view:
        top = 100
        for _ in range(150):
            kind = choices.randrange(5)
            if kind == 0:
                top += choices.randrange(5)
                feed.ingest(feed.plan(), [(top - k, b"h", top - k) for k in range(5)], next="t")
            elif kind == 1:
                feed.delete(choices.randrange(80, top + 1))
            elif kind == 2:
                feed.evict([choices.randrange(80, top + 1) for _ in range(3)])
            elif kind == 3:
                cache.update_body(choices.randrange(80, top + 1), b"%d" % choices.randrange(9))
            with cache.snapshot() as snapshot:
                expected: list[str] = []
                for row in snapshot.rows(feed):
                    if isinstance(row, quire.GapRow):
                        if expected[-1:] != ["~"]:
                            expected.append("~")
                    elif int(row.id) % 2 == 0:
                        expected.append(row.id)
                assert [name(row) for row in view.rows(snapshot, limit=999)] == expected
                assert sum(section.posts for section in view.sections(snapshot)) == view.info(snapshot).posts
        assert cache.check() == []


def test_a_process_without_the_function_says_so(tmp_path: Path) -> None:
    path = str(tmp_path / "views.quire")
    with quire.Cache(path) as cache, cache.feed("f") as feed:
        quire.View(feed, "even", even).close()
        feed.ingest(feed.plan(), [(4, b""), (3, b""), (2, b"")], next="more")
    with quire.Cache(path) as cache, cache.feed("f") as feed:
        feed.delete(3)
        with quire.View(feed, "even") as view:
            with cache.snapshot() as snapshot:
                assert not view.info(snapshot).is_current and view.rows(snapshot) == []
            with quire.View(feed, "even", even), cache.snapshot() as snapshot:
                assert view.info(snapshot).is_current
                assert [name(row) for row in view.rows(snapshot)] == ["4", "2"]
        with pytest.raises(quire.NotFoundError):
            quire.View(feed, "odd")
        with pytest.raises(quire.BadArgumentError):
            quire.View(feed, "", even)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_function_that_raises_hides_the_post(cache: quire.Cache) -> None:
    feed = cache.feed("raises")
    with quire.View(feed, "broken", even) as view:
        feed.ingest(feed.plan(), [("text", b""), (2, b"")])
        with cache.snapshot() as snapshot:
            assert [name(row) for row in view.rows(snapshot)] == ["2"]
