"""Batches, changes, waiting, updates and upkeep."""

from __future__ import annotations

import _thread
import concurrent.futures
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import quire
from conftest import fill
from quire import ChangeKind, RowKind, Status, Update


def ids(cache: quire.Cache, feed: quire.Feed) -> list[str]:
    with cache.snapshot() as snapshot:
        return [row.id if isinstance(row, quire.PostRow) else "~" for row in snapshot.rows(feed)]


def test_the_package_holds_the_library() -> None:
    folder = Path(quire.__file__).parent
    assert (folder / "libquire.so.0").is_file()
    assert any(
        line.endswith(str(folder / "libquire.so.0"))
        for line in Path("/proc/self/maps").read_text().splitlines())
    assert quire.__version__ == "0.1.0"


def test_a_batch_is_one_commit(cache: quire.Cache, feed: quire.Feed) -> None:
    before = cache.generation

    def work(batch: quire.Batch) -> int:
        crawl = feed.crawl()
        for number in range(10):
            crawl.ingest([(f"{number}-{k}", b"body") for k in range(3)], batch=batch)
        request = cache.feed("other").plan(batch=batch)
        cache.feed("other").ingest(request, [("x", b"")], batch=batch)
        assert ids(cache, feed) == []  # snapshots inside see the cache as it was before
        return 7

    cache.feed("other")
    before = cache.generation
    assert cache.batch(work) == 7
    assert cache.generation == before + 1
    assert len(ids(cache, feed)) == 30 and ids(cache, cache.feed("other")) == ["x"]


def test_a_budget(tmp_path: Path) -> None:
    budget = quire.Budget(cache=quire.Limits(posts=6))
    with quire.Cache(tmp_path / "budget.quire", budget=budget) as cache:
        first, second = cache.feed("first"), cache.feed("second")
        crawl = first.crawl()
        for number in range(4):
            crawl.ingest([(f"{number}-{k}", b"body") for k in range(3)])
            assert cache.stats().posts <= 6
        assert ids(cache, first)[-3:] == ["3-0", "3-1", "3-2"]
        assert cache.evictions().posts == cache.evictions().posts_by_cache == 6
        first.set_visible(["3-1"])
        second.crawl().ingest([(f"{k}", b"body") for k in range(3)])
        assert ids(cache, first) == ["3-0", "3-1", "3-2"]
        assert cache.evictions().hits > 0


def test_an_exception_undoes_a_batch(cache: quire.Cache, feed: quire.Feed) -> None:
    crawl = feed.crawl()

    def work(batch: quire.Batch) -> None:
        crawl.ingest([("a", b"")], batch=batch)
        raise KeyError("of the program")

    with pytest.raises(KeyError, match="of the program"):
        cache.batch(work)
    assert ids(cache, feed) == []
    crawl.ingest([("a", b"")])  # the crawl was taken back too
    assert ids(cache, feed) == ["a"]


def test_what_a_batch_may_not(cache: quire.Cache, feed: quire.Feed) -> None:
    kept = []

    def keep(batch: quire.Batch) -> None:
        kept.append(batch)
        with pytest.raises(quire.NotFoundError):
            feed.pin("absent", batch=batch)  # this does not doom a batch

    cache.batch(keep)
    generation = cache.generation
    for use in (feed.plan, feed.reset, lambda batch: cache.update_body("a", b"", batch=batch)):
        with pytest.raises(quire.BadHandleError):
            use(batch=kept[0])  # not a commit of its own!
    assert cache.generation == generation

    def outside(batch: quire.Batch) -> None:
        feed.plan()  # a write that is not part of the batch

    with pytest.raises(quire.QuireError) as caught:
        cache.batch(outside)
    assert caught.value.status == Status.WOULD_DEADLOCK
    with pytest.raises(quire.QuireError) as caught:
        cache.batch(lambda batch: cache.batch(lambda inner: None))
    assert caught.value.status == Status.WOULD_DEADLOCK


def test_a_batch_runs_again_when_the_file_grows(tmp_path: Path) -> None:
    with quire.Cache(tmp_path / "small.quire", map_size=1 << 20) as cache:
        feed = cache.feed("timeline")
        times = []

        def work(batch: quire.Batch) -> None:
            times.append(1)
            crawl = feed.crawl()
            for number in range(40):
                crawl.ingest([(f"{number}-{k}", bytes(20_000)) for k in range(5)], batch=batch)

        cache.batch(work)
        assert len(times) > 1 and len(ids(cache, feed)) == 200
        assert cache.check() == []


def test_a_snapshot_has_an_age(tmp_path: Path) -> None:
    with quire.Cache(tmp_path / "aging.quire", maximum_snapshot_age=1, write_timeout_ms=1000) as cache:
        feed = cache.feed("timeline")
        with cache.snapshot() as old:
            fill(feed, ["a"])
            fill(feed, ["b"])
            with pytest.raises(quire.QuireError) as caught:
                old.info(feed)
            assert caught.value.status == Status.SNAPSHOT_EXPIRED
            seen = cache.stats()
            assert seen.snapshots == 2 and seen.oldest_snapshot_age > 1
            assert seen.oldest_snapshot_process == os.getpid() and seen.pinned_bytes > 0
        assert cache.stats().snapshots == 1


def test_a_write_waits_no_longer_than_it_may(tmp_path: Path) -> None:
    with quire.Cache(tmp_path / "busy.quire", write_timeout_ms=10) as cache:
        feed = cache.feed("timeline")

        def other_writes(batch: quire.Batch) -> None:
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                error = pool.submit(feed.reset).exception()
            assert isinstance(error, quire.QuireError) and error.status == Status.BUSY

        cache.batch(other_writes)
        feed.reset()


def test_bodies_by_id(cache: quire.Cache) -> None:
    feed = cache.feed("ids", quire.FeedOptions(paging=quire.Paging.IDS))
    wanted = ["d", "x", "b", "d"]
    assert feed.plan(quire.Place.BODIES, posts=wanted).refusal == quire.Refusal.EMPTY
    feed.ingest(feed.plan(), [(id, b"") for id in "abcd"])
    request = feed.plan(quire.Place.BODIES, posts=wanted)
    assert request.kind == quire.RequestKind.BODIES and request.ids == ["d", "b"]
    assert feed.plan(quire.Place.BODIES, posts=wanted, limit=1).ids == ["d"]
    feed.ingest(request, [("b", b"B"), ("d", b"D")])
    assert feed.plan(quire.Place.BODIES, posts=wanted).refusal == quire.Refusal.END
    with cache.snapshot() as snapshot:
        assert bytes(snapshot.find(feed, "d").body) == b"D"
    with pytest.raises(TypeError):
        feed.plan(quire.Place.BODIES, posts="ab")


class Enough(Exception):
    pass


def stop(done: float) -> None:
    raise Enough


@pytest.fixture
def control_c() -> Iterator[None]:
    """Raises KeyboardInterrupt, although who runs the tests in the background ignores it for them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("control_c")
def test_control_c_ends_a_check(cache: quire.Cache, feed: quire.Feed) -> None:
    fill(feed, [str(n) for n in range(3000)])
    started = threading.Event()

    def interrupt() -> None:
        started.wait()
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            cache.check(progress=lambda done: started.set())
    thread.join()
    assert cache.check() == []


def test_searches_tell_how_far_they_are(tmp_path: Path) -> None:
    path = tmp_path / "x.quire"

    def told(search: Callable[..., list[quire.Finding]]) -> None:
        seen: list[float] = []
        assert search(progress=seen.append) == []
        assert seen and seen == sorted(seen) and 0 <= seen[0] and seen[-1] <= 1
        with pytest.raises(Enough):
            search(progress=stop)

    with quire.Cache(path, verify_on_open=True) as cache, cache.feed("f") as feed:
        fill(feed, [str(n) for n in range(200)])
        told(cache.check)
        told(partial(cache.check, quick=True))
    told(partial(quire.verify, path))
    with quire.Cache(path, verify_on_open=True) as cache:
        assert cache.check() == []
    path.write_bytes(path.read_bytes()[:-4096])
    with pytest.raises(quire.QuireError) as caught:
        quire.Cache(path, verify_on_open=True)
    assert caught.value.status == Status.CORRUPT
    assert len(quire.verify(path, 1)) == 1


def test_changes_lead_from_one_state_to_the_other(cache: quire.Cache, feed: quire.Feed) -> None:
    fill(feed, ["x", "y", "z"])
    start = cache.generation
    shown = ids(cache, feed)
    fill(feed, ["a", "b"], next="page 2")
    feed.delete("y")
    cache.update_body("z", b"new")
    with cache.snapshot() as snapshot:
        number = snapshot.info(feed).number
        changes = snapshot.changes(start)
        assert snapshot.changes(snapshot.generation) == []
    names: list[tuple[RowKind, str | int]] = [(RowKind.POST, id) for id in shown]
    for change in changes:
        assert change.feed == number and change.generation > start
        if change.kind == ChangeKind.REMOVED:
            names.remove(change.row)
        elif change.kind == ChangeKind.INSERTED:
            names.insert(names.index(change.below) + 1 if change.below else 0, change.row)
        else:
            assert (change.kind, change.row) == (ChangeKind.UPDATED, (RowKind.POST, "z"))
    assert ["~" if kind == RowKind.GAP else name for kind, name in names] == ids(cache, feed)
    assert ids(cache, feed) == ["a", "b", "~", "x", "z"]


def test_the_log_of_changes_ends(cache: quire.Cache, feed: quire.Feed) -> None:
    for number in range(1030):
        feed.insert_local(str(number))
    with cache.snapshot() as snapshot:
        with pytest.raises(quire.ResyncError):
            snapshot.changes(1)
        assert len(snapshot.changes(snapshot.generation - 10)) == 10


def test_waiting(cache: quire.Cache, feed: quire.Feed) -> None:
    now = cache.generation
    start = time.monotonic()
    assert cache.wait(now, 0.15) == now
    assert 0.1 < time.monotonic() - start < 2
    assert cache.wait(now, 0) == now
    fill(feed, ["a"])
    assert cache.wait(now) > now
    with pytest.raises(quire.BadArgumentError):
        cache.wait(-1)


def test_updates(cache: quire.Cache, feed: quire.Feed) -> None:
    fill(feed, ["a"])
    assert cache.update_body("a", b"1", version=5) == Update.CHANGED
    assert cache.update_body("a", b"2", version=4) == Update.STALE
    assert cache.update_body("absent", b"") == Update.MISSING
    assert cache.update_fields("a", {"likes": b"3", "title": "grün"}, 1) == Update.CHANGED
    assert cache.update_fields("a", {"likes": b"2"}, 0) == Update.STALE
    assert cache.update_fields("a", {"likes": b"3"}, 1) == Update.SAME
    with cache.snapshot() as snapshot:
        post = snapshot.post("a")
        assert (post.body, post.version, post.feeds) == (b"1", 5, 1)
        assert post.fields == {"likes": b"3", "title": "grün".encode()}
        with pytest.raises(quire.NotFoundError):
            snapshot.post("absent")


def test_local_posts_pins_eviction(cache: quire.Cache, feed: quire.Feed) -> None:
    fill(feed, ["a", "b", "c"])
    assert feed.insert_local("draft", b"my words") and not feed.insert_local("draft")
    with cache.snapshot() as snapshot:
        row = snapshot.find(feed, "draft")
        assert row.is_detached and row.page is None and row.body == b"my words"
    assert feed.remove_local("draft") and not feed.remove_local("draft")
    feed.pin("b")
    with cache.snapshot() as snapshot:
        assert snapshot.find(feed, "b").is_pinned and not snapshot.find(feed, "a").is_pinned
    assert feed.evict(["b", "c"]) == 1
    feed.unpin("b")
    assert feed.evict(["b"]) == 1
    assert "a" in feed and "b" not in feed


def test_prune(cache: quire.Cache, feed: quire.Feed) -> None:
    crawl = feed.crawl()
    for number in range(10):
        crawl.ingest([(f"{number}-{k}", b"body") for k in range(5)], fetched_at=1000 * number)
    dry_run = feed.prune(maximum_posts=20, dry_run=True)
    assert dry_run.posts >= 30 and len(ids(cache, feed)) == 50
    step = feed.prune(maximum_posts=20, budget=1)
    assert (step.is_done, step.pages) == (False, 1)
    assert feed.prune(maximum_posts=20).is_done
    assert sum(id != "~" for id in ids(cache, feed)) == 20
    assert feed.prune(maximum_age=0, now=10**9, visible=["0-0"]).is_done
    assert feed.prune(maximum_age=10**13).is_done  # by the clock
    assert [id for id in ids(cache, feed) if id != "~"] == [f"0-{k}" for k in range(5)]


def test_stats_copy_reclaim(cache: quire.Cache, feed: quire.Feed, tmp_path: Path) -> None:
    fill(feed, [str(n) for n in range(50)])
    stats = cache.stats()
    assert (stats.feeds, stats.posts, stats.pages, stats.gaps) == (1, 50, 1, 0)
    assert stats.body_bytes == sum(len(f"body of {n}") for n in range(50))
    assert stats.generation == cache.generation
    cache.copy(tmp_path / "copy.quire")
    with pytest.raises(quire.BadArgumentError):
        cache.copy(tmp_path / "copy.quire")
    with quire.Cache(tmp_path / "copy.quire") as copy:
        assert ids(copy, copy.find_feed("timeline")) == ids(cache, feed) and copy.check() == []
    feed.evict([str(n) for n in range(0, 50, 2)])
    assert cache.reclaim() >= 0 and cache.check() == []


def test_files_that_no_process_has_open(tmp_path: Path) -> None:
    path = tmp_path / "x.quire"
    with quire.Cache(path) as cache, cache.feed("f") as feed:
        fill(feed, [str(n) for n in range(200)])
        feed.evict([str(n) for n in range(0, 200, 2)])
        with pytest.raises(quire.BadArgumentError):
            quire.compact(path)
    assert quire.verify(path) == []
    seen: list[float] = []
    assert quire.compact(path, progress=seen.append) > 0 and seen[0] == 0
    assert quire.repair(path) == quire.RepairReport(True, 0, (), None)
    damaged = path.read_bytes()[:-4096]
    path.write_bytes(damaged)
    assert quire.verify(path) != []
    for attempt in (quire.repair, quire.compact):
        with pytest.raises(Enough):
            attempt(path, progress=stop)
    assert quire.repair(path, dry_run=True).kept_file is None and path.read_bytes() == damaged
    report = quire.repair(path)
    assert not report.is_sound and report.kept_file is not None
    assert Path(report.kept_file).read_bytes() == damaged
    assert quire.verify(path) == []
    with quire.Cache(path) as cache:
        assert cache.check() == []


def test_reset_and_cancel(cache: quire.Cache, feed: quire.Feed) -> None:
    fill(feed, ["a"])
    request = feed.plan()
    feed.cancel(request)
    feed.cancel(12345)
    feed.reset()
    assert ids(cache, feed) == []
    assert feed.ingest(request, [("b", b"")]).verdict == quire.Verdict.STALE


def test_attributes(cache: quire.Cache, feed: quire.Feed) -> None:
    feed.set_attribute("etag", '"33a64"')
    cache.batch(lambda batch: feed.set_attribute("empty", b"", batch=batch))
    feed.reset()
    with cache.snapshot() as snapshot:
        assert snapshot.attribute(feed, "etag") == b'"33a64"'
        assert snapshot.attribute(feed, "empty") == b""
        with pytest.raises(quire.NotFoundError):
            snapshot.attribute(cache.feed("other"), "etag")
    feed.set_attribute("etag", None)
    with cache.snapshot() as snapshot:
        with pytest.raises(quire.NotFoundError):
            snapshot.attribute(feed, "etag")
    for name, value in (("", b""), ("x" * 256, b""), ("x", bytes(65537))):
        with pytest.raises(quire.BadArgumentError):
            feed.set_attribute(name, value)


def test_one_file_opened_twice(cache: quire.Cache, feed: quire.Feed) -> None:
    with quire.Cache(cache.path) as again:
        fill(again.feed("timeline"), ["a"])
        assert ids(cache, feed) == ["a"]
