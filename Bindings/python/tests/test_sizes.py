"""Feeds paged by number, joins that nothing proves, evidence, and posts that are pushed."""

from __future__ import annotations

import pytest

import quire
from quire import Doubt, Help, Paging, Place, Refusal, Sizes, Verdict

FIXED = quire.FeedOptions(paging=Paging.PAGE, sizes=Sizes.FIXED, rows_per_page=3)


def answer(feed: quire.Feed, ids: str, place: Place = Place.HEAD, **plan: object) -> quire.Outcome:
    request = feed.plan(place, **plan)
    return feed.ingest(request, [(id, b"") for id in ids], next=quire.Link.MORE)


def test_a_page_of_fixed_size_is_asked_for_without_a_size(cache: quire.Cache) -> None:
    feed = cache.feed("f", FIXED)
    request = feed.plan(limit=100)
    assert (request.kind, request.position, request.limit) == (quire.RequestKind.PAGE, 1, 0)
    answer(feed, "abc")
    with cache.snapshot() as snapshot:
        info = snapshot.info(feed)
    assert info.options == quire.FeedOptions(
        paging=Paging.PAGE, sizes=Sizes.FIXED, rows_per_page=3, sticky=())
    assert (info.sizes, info.rows_per_page, info.is_end_assumed) == (Sizes.FIXED, 3, False)
    assert info.answers_against_order == 0


def test_a_join_is_in_doubt_until_it_was_asked_about(cache: quire.Cache) -> None:
    feed = cache.feed("f", FIXED)
    answer(feed, "abc")
    answer(feed, "def", Place.TAIL)
    with cache.snapshot() as snapshot:
        rows = {row.id: row for row in snapshot.rows(feed)}
    assert {id: row.why for id, row in rows.items() if row.is_unverified} == {"d": Doubt.NUMBERING}
    answer(feed, "abc", Place.JOIN, target="d")
    with cache.snapshot() as snapshot:
        rows = {row.id: row for row in snapshot.rows(feed)}
    assert rows["d"].is_checked and not rows["e"].is_checked and rows["e"].why is None
    refused = feed.plan(Place.JOIN, target="e")
    assert (refused.refusal, refused.help) == (Refusal.NO_SUCH_JOIN, Help.LOOK_AGAIN)


def test_a_wrong_policy_is_disproved_and_the_size_learned(cache: quire.Cache) -> None:
    feed = cache.feed("f", quire.FeedOptions(paging=Paging.PAGE, sizes=Sizes.FIXED, rows_per_page=2))
    outcome = answer(feed, "abc")
    assert (outcome.disproved_sizes, outcome.disproved_rows) == (Sizes.FIXED, 2)
    with cache.snapshot() as snapshot:
        info = snapshot.info(feed)
    assert (info.sizes, info.options.sizes) == (Sizes.UNKNOWN, Sizes.FIXED)


def test_a_total_tells_the_last_page(cache: quire.Cache) -> None:
    feed = cache.feed("f", FIXED)
    feed.ingest(feed.plan(), [("a",), ("b",), ("c",)], total=3)
    with cache.snapshot() as snapshot:
        assert snapshot.info(feed).tail == quire.Link.END


def test_a_page_is_jumped_to(cache: quire.Cache) -> None:
    feed = cache.feed("f", FIXED)
    request = feed.plan(Place.PAGE, page=3)
    assert (request.kind, request.position) == (quire.RequestKind.PAGE, 3)
    feed.ingest(request, [("g",), ("h",), ("i",)], next=quire.Link.MORE)
    with cache.snapshot() as snapshot:
        assert snapshot.info(feed).head == quire.Link.token("page=2")


def test_an_order_that_is_not_the_server_s_is_evidence(cache: quire.Cache) -> None:
    feed = cache.feed("f")
    answer(feed, "abcde")
    outcome = answer(feed, "dab")
    assert outcome.disorder == ["d"] and outcome.unplaced == []
    with cache.snapshot() as snapshot:
        assert snapshot.info(feed).answers_against_order == 1


def test_what_is_pushed_goes_on_top(cache: quire.Cache) -> None:
    feed = cache.feed("f")
    feed.begin_live(6)
    answer(feed, "a")
    assert feed.push([("b", b"x")], number=7).gaps_opened == 0
    repeated = feed.push([("b", b"x")], number=7)
    assert (repeated.verdict, repeated.reason, repeated.help) == (
        Verdict.STALE, "repeated", Help.PLAN_AGAIN)
    assert feed.push([("d", b"")], number=9).verdict == Verdict.GAP
    assert feed.push([("e", b"")], follows="d").verdict == Verdict.OK
    feed.end_live()
    with cache.snapshot() as snapshot:
        assert [row.why for row in snapshot.gaps(feed)] == [Doubt.MISSED]
    with pytest.raises(quire.BadArgumentError):
        cache.feed("ids", quire.FeedOptions(paging=Paging.IDS)).push([("a", b"")])
