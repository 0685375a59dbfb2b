"""Errors are exceptions with a status and a sentence; misuse is never a crash."""

from __future__ import annotations

import copy
import math
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from conftest import fill
from quire import Status


def raises(status: Status) -> object:
    class Expected:
        def __enter__(self) -> Expected:
            return self

        def __exit__(self, kind: object, error: object, traceback: object) -> bool:
            assert isinstance(error, quire.QuireError), error
            assert error.status == status, error
            assert error.message and "\n" not in error.message
            assert str(error).startswith(status.name.lower().replace("_", "-") + ": ")
            self.error = error
            return True

    return Expected()


def test_a_path_may_be_bytes(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / "ß.quire")
    with quire.Cache(path) as cache:
        cache.feed("f")
        assert os.fsencode(cache.path) == path and os.path.exists(path)
        cache.copy(path + b".copy")
    assert quire.verify(path + b".copy") == []
    with pytest.raises(TypeError):
        quire.Cache(7)  # type: ignore[arg-type]


def test_opening(tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    stranger.write_bytes(b"not a cache" * 1000)
    with raises(Status.NOT_A_CACHE):
        quire.Cache(stranger)
    assert stranger.read_bytes() == b"not a cache" * 1000
    with raises(Status.IO) as expected:
        quire.Cache(tmp_path / "no" / "such" / "folder")
    assert expected.error.os_error != 0
    with raises(Status.BAD_ARGUMENT):
        quire.Cache("with\0nul")
    with raises(Status.BAD_ARGUMENT):
        quire.Cache("")
    with raises(Status.BAD_ARGUMENT):
        quire.Cache(tmp_path / "x", map_size=-1)
    with raises(Status.BAD_ARGUMENT):
        quire.Cache(tmp_path / "x", durability=7)
    with pytest.raises(TypeError):
        quire.Cache(3)


def test_feeds(cache: quire.Cache) -> None:
    options = quire.FeedOptions(order=quire.Order.BUMP, sticky=["s"], page_size=50)
    cache.feed("strict", options)
    assert cache.feed("strict").name == "strict"
    with raises(Status.OPTIONS_DIFFER):
        cache.feed("strict", quire.FeedOptions())
    with raises(Status.NOT_FOUND) as expected:
        cache.find_feed("nowhere")
    assert isinstance(expected.error, LookupError)
    for name in ("", "x" * 256, "bad \udcff"):
        with raises(Status.BAD_ARGUMENT):
            cache.feed(name)
    with raises(Status.BAD_ARGUMENT):
        cache.feed("x", quire.FeedOptions(order=9))
    with raises(Status.BAD_ARGUMENT):
        cache.feed("x", quire.FeedOptions(page_size=0))
    with raises(Status.BAD_ARGUMENT):
        cache.feed("x", quire.FeedOptions(page_size=-1))
    assert cache.feed_names() == ["strict"]
    with cache.snapshot() as snapshot:
        assert snapshot.info(cache.feed("strict")).options == quire.FeedOptions(
            order=quire.Order.BUMP, sticky=("s",), page_size=50)


def test_arguments(cache: quire.Cache, feed: quire.Feed) -> None:
    fill(feed, ["a"])
    request = feed.plan()
    with raises(Status.BAD_ARGUMENT):
        feed.ingest(request, [("", b"")])
    with raises(Status.BAD_ARGUMENT):
        feed.ingest(request, [("x" * 65537, b"")])
    with raises(Status.BAD_ARGUMENT):
        feed.ingest(-1, [])
    with raises(Status.BAD_ARGUMENT):
        feed.plan(99)
    with raises(Status.BAD_ARGUMENT):
        feed.plan(quire.Place.GAP, gap=-5)
    with raises(Status.BAD_ARGUMENT):
        feed.plan(limit=2**40)
    with raises(Status.BAD_ARGUMENT):
        feed.prune(maximum_posts=-1)
    with raises(Status.BAD_ARGUMENT):
        feed.crawl(9)
    with raises(Status.BAD_ARGUMENT):
        feed.ingest(request, [("x", b"")], opaque_rows=2**64)
    with raises(Status.NOT_FOUND):
        feed.pin("absent")
    with raises(Status.NOT_FOUND):
        feed.evict_page(7)
    for wrong in ("abc", b"abc"):
        with pytest.raises(TypeError):
            feed.contains(wrong)
    with pytest.raises(TypeError):
        feed.ingest(request, [(None, b"")])
    with pytest.raises(TypeError):
        feed.ingest(request, [("x", b"", "key")])
    with pytest.raises(TypeError):
        iter(feed)
    assert feed.ingest(request, [("b", b"")]).added == ["b"]  # the ticket survived all of it


def test_closed_things(tmp_path: Path) -> None:
    cache = quire.Cache(tmp_path / "x.quire")
    feed = cache.feed("timeline")
    crawl = feed.crawl()
    snapshot = cache.snapshot()
    for thing in (snapshot, crawl, feed, cache):
        thing.close()
        thing.close()
    uses = [
        cache.stats, cache.check, cache.snapshot, cache.feed_names, lambda: cache.feed("x"),
        lambda: cache.wait(0, 0), lambda: cache.generation, lambda: cache.copy(tmp_path / "y"),
        lambda: cache.update_body("a", b""), lambda: cache.batch(lambda batch: None),
        feed.plan, feed.reset, feed.crawl, lambda: feed.contains(["a"]), lambda: feed.ingest(1, []),
        lambda: crawl.ingest([]), lambda: snapshot.info(feed), lambda: snapshot.changes(0),
        lambda: list(snapshot.pages(feed)), lambda: snapshot.post("a"), lambda: snapshot.generation]
    for use in uses:
        with raises(Status.BAD_HANDLE) as expected:
            use()
        assert isinstance(expected.error, ValueError)


def test_other_objects_are_named(cache: quire.Cache, feed: quire.Feed) -> None:
    """What is passed in the place of another object is an error that names both, and nothing internal."""
    fill(feed, ["a"])
    view = quire.View(feed, "all", lambda post: quire.Shown())
    request = feed.plan()
    dated = cache.feed("dated", quire.FeedOptions(order=quire.Order.STABLE))
    dated.ingest(dated.plan(), [("a", b"", 1)], next="more")
    with cache.snapshot() as snapshot:
        window = snapshot.window(feed)
        frontier = list(snapshot.merged([dated]))[-1][1]
        assert isinstance(frontier, quire.Frontier)
        uses = [
            (lambda: snapshot.info(cache), "Feed"), (lambda: snapshot.after(None), "Feed"),
            (lambda: snapshot.rank_of_post("timeline", "a"), "Feed"), (lambda: snapshot.find(snapshot, "a"), "Feed"),
            (lambda: list(snapshot.merged([feed, "other"])), "Feed"), (lambda: snapshot.window(view), "Feed"),
            (lambda: list(snapshot.rows(view)), "Feed"), (lambda: quire.View(cache, "x"), "Feed"),
            (lambda: view.info(cache), "Snapshot"), (lambda: view.rows(window), "Snapshot"),
            (lambda: view.sections(None), "Snapshot"), (lambda: window.update(cache), "Snapshot"),
            (lambda: window.rows(feed), "Snapshot"), (lambda: feed.reset(batch=cache), "Batch"),
            (lambda: cache.update_body("a", b"", batch=feed), "Batch"), (lambda: feed.ingest(None, []), "Request"),
            (lambda: feed.ingest("1", []), "Request"), (lambda: feed.cancel(feed), "Request"),
            (lambda: feed.plan(quire.Place.GAP, gap=request), "GapRow"),
            (lambda: snapshot.after(feed, "a"), "PostRow"), (lambda: snapshot.rank_of_row(feed, frontier), "PostRow")]
        for use, wanted in uses:
            with pytest.raises(TypeError, match=rf"^a (quire\.)?{wanted} (or a GapRow )?is needed, not ") as caught:
                use()
            assert "._" not in str(caught.value) and "attribute" not in str(caught.value)
    assert feed.ingest(request, [("b", b"")]).added == ["b"]


def test_booleans_are_no_numbers(cache: quire.Cache, feed: quire.Feed) -> None:
    fill(feed, ["a", "1"])
    for truth in (True, False):
        uses = [
            lambda: feed.contains([truth]), lambda: truth in feed, lambda: feed.delete(truth),
            lambda: feed.insert_local(truth), lambda: cache.update_body(truth, b""),
            lambda: feed.ingest(feed.plan(), [(truth, b"")]), lambda: feed.ingest(truth, []),
            lambda: feed.plan(limit=truth), lambda: cache.wait(truth, 0), lambda: feed.evict_page(truth)]
        for use in uses:
            with pytest.raises(TypeError, match="not bool"):
                use()
    assert 1 in feed and "1" in feed
    with pytest.raises(TypeError, match="not float"):
        feed.plan(limit=1.5)
    with pytest.raises(TypeError, match="not NoneType"):
        cache.wait(None)


def test_errors_name_the_post_and_the_number(cache: quire.Cache, feed: quire.Feed) -> None:
    request = feed.plan()
    for post, message in [
        (("x", b"", 2**63), f"post 1: {2**63} is not a number"), (("x", b"", None, -2**63 - 1), "post 1: -9223372"),
        (("x", b"", None, None, -1), "post 1: -1 is not a number"), (("",), "the posts.1.: an id is empty"),
        (("x", b"", None, None, 256), "the posts.1.: a detail of 256"),
    ]:
        with pytest.raises(quire.BadArgumentError, match=message):
            feed.ingest(request, [("a", b""), post])
    for post, message in [
        (("x", b"", "key"), "post 1: a number is needed, not str"), (("x", b"", 1.5), "post 1: .* not float"),
        (("x", None), "post 1: .* not 'NoneType'"), ((None, b""), "post 1: an id is .* not NoneType"),
        (("x", b"", None, None, True, 6), "post 1: a post is"), (("x", b"", True, "v"), "post 1: .* not bool"),
    ]:
        with pytest.raises(TypeError, match=message):
            feed.ingest(request, [("a", b""), post])

    def broken() -> Iterator[tuple[str]]:
        yield ("a",)
        raise TypeError("of the program")

    with pytest.raises(TypeError, match="^of the program$"):  # and no post is blamed for it
        feed.ingest(request, broken())
    uses = [
        lambda: feed.ingest(request, [], fetched_at=2**63), lambda: feed.prune(maximum_age=2**63),
        lambda: cache.update_body("a", b"", version=2**63), lambda: cache.update_fields("a", {}, -2**63 - 1),
        lambda: cache.snapshot().rank_of_key(feed, 2**63), lambda: cache.snapshot().window(feed, key=2**63)]
    for use in uses:
        with pytest.raises(quire.BadArgumentError, match="9223372036854775"):
            use()
    assert feed.ingest(request, [("a", b"", 2**63 - 1, -2**63)]).added == ["a"]


def test_errors_cross_processes_whole() -> None:
    for error in (
        quire.QuireError(Status.IO, "the sentence", 5), quire.NotFoundError(Status.NOT_FOUND, "no feed"),
        quire.BodiesInUseError(Status.BODIES_IN_USE, "1 bodies"),
    ):
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(again) is type(error) and str(again) == str(error)
            assert (again.status, again.os_error) == (error.status, error.os_error)


def test_a_dropped_feed_is_named(cache: quire.Cache, feed: quire.Feed) -> None:
    feed.drop()
    for use in (feed.plan, feed.reset, lambda: cache.snapshot().info(feed), lambda: quire.View(feed, "v", print)):
        with pytest.raises(quire.NotFoundError, match="feed timeline was dropped"):
            use()


def test_a_timeout_is_a_number(cache: quire.Cache) -> None:
    with raises(Status.BAD_ARGUMENT) as expected:
        cache.wait(cache.generation, float("nan"))
    assert isinstance(expected.error, ValueError)
    assert cache.wait(cache.generation, -math.inf) == cache.wait(cache.generation, 0) == cache.generation
    cache.feed("written")
    assert cache.wait(0, math.inf) == cache.generation > 0


def test_a_verdict_is_not_an_error(cache: quire.Cache, feed: quire.Feed) -> None:
    request = feed.plan()
    feed.ingest(request, [("a", b"")], next=quire.Link.END)
    again = feed.ingest(request, [("b", b"")])
    assert (again.verdict, again.reason) == (quire.Verdict.STALE, "used") and again.is_unchanged
    refused = feed.plan(quire.Place.TAIL)
    assert not refused and refused.refusal == quire.Refusal.END


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission(tmp_path: Path) -> None:
    path = tmp_path / "x.quire"
    quire.Cache(path).close()
    path.chmod(0)
    with raises(Status.NO_PERMISSION):
        quire.Cache(path)


def test_damage_is_a_status(tmp_path: Path) -> None:
    path = tmp_path / "x.quire"
    with quire.Cache(path) as cache:
        fill(cache.feed("timeline"), [f"post {n}" for n in range(100)])
    damaged = bytearray(path.read_bytes())
    at = damaged.find(b"body of post 50")
    damaged[at] ^= 1
    path.write_bytes(damaged)
    with quire.Cache(path) as cache:
        findings = cache.check()
        assert findings and all(finding.message for finding in findings)
        assert quire.FindingCode.CHECKSUM in {finding.code for finding in findings}
        assert len(cache.check(limit=1)) == 1
