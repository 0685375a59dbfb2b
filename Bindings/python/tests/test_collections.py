"""Collections, details, and feeds that are renamed and dropped."""

from __future__ import annotations

import pytest

import quire
from conftest import fill
from quire import Update


def test_details(cache: quire.Cache) -> None:
    feed = cache.feed("ids", quire.FeedOptions(paging=quire.Paging.IDS))
    feed.ingest(feed.plan().ticket, [("a", b""), ("b", b"")])
    bodies = feed.plan(quire.Place.BODIES, posts=["a", "b"])
    summary = quire.Post("b", b"s", version=1, detail=quire.Detail.SUMMARY)
    feed.ingest(bodies.ticket, [quire.Post("a", b"full", version=1), summary])
    assert cache.update_body("a", b"s", version=2, detail=quire.Detail.SUMMARY) == Update.STALE
    with cache.snapshot() as snapshot:
        a, b = snapshot.rows(feed)
        assert (a.is_outdated, a.is_partial, b.is_outdated, b.is_partial) == (True, False, False, True)
        post = snapshot.post("a")
        assert (post.body, post.version, post.detail, post.is_outdated) == (b"full", 1, quire.Detail.FULL, True)
    assert feed.plan(quire.Place.BODIES, posts=["a", "b"]).ids == ["a", "b"]


def test_collections(cache: quire.Cache) -> None:
    feeds = [cache.feed(name, quire.FeedOptions(collection=name)) for name in ("a", "b")]
    for feed in feeds:
        feed.ingest(feed.plan().ticket, [(1, feed.name.encode())])
    assert cache.update_body(1, b"new", collection="a") == Update.CHANGED
    assert cache.update_body(1, b"new", collection="c") == Update.MISSING
    assert cache.update_fields(1, {"likes": b"3"}, 1, collection="b") == Update.CHANGED
    with cache.snapshot() as snapshot:
        assert snapshot.info(feeds[0]).options.collection == "a"
        assert snapshot.post(1, collection="a").body == b"new"
        post = snapshot.post(1, collection="b")
        assert (post.body, post.feeds, post.fields) == (b"b", 1, {"likes": b"3"})
        with pytest.raises(quire.NotFoundError):
            snapshot.post(1)
    with pytest.raises(quire.QuireError):
        cache.feed("a", quire.FeedOptions(collection="b"))


def test_feeds_are_renamed_and_dropped(cache: quire.Cache) -> None:
    feed = cache.feed("a")
    fill(feed, ["x"])
    feed.rename("b")
    assert feed.name == "b" and list(cache.feed_names()) == ["b"]
    with pytest.raises(quire.QuireError):
        feed.set_options(quire.FeedOptions(order=quire.Order.STABLE))
    feed.reset()
    feed = feed.set_options(quire.FeedOptions(order=quire.Order.STABLE))
    with cache.snapshot() as snapshot:
        assert snapshot.info(feed).options.order == quire.Order.STABLE
    feed.drop()
    assert list(cache.feed_names()) == []
    with pytest.raises(quire.NotFoundError):
        feed.plan()
