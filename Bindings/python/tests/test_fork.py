"""After a fork the child gets exceptions, never a crash or a hang, and the parent notices nothing."""

from __future__ import annotations

import gc
import os
import signal
import threading
import traceback
from collections.abc import Callable

import pytest

import quire
from conftest import fill


def in_child(work: Callable[[], None]) -> int:
    """The exit status of a forked child that does the work; 142 if it hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status


def test_every_use_in_a_child_is_an_exception(cache: quire.Cache, feed: quire.Feed) -> None:
    fill(feed, ["a", "b"])
    crawl = feed.crawl()
    snapshot = cache.snapshot()
    rows = snapshot.rows(feed)
    row = rows[0]
    assert isinstance(row, quire.PostRow)
    body = row.body

    def work() -> None:
        uses = [
            cache.stats, cache.check, cache.snapshot, cache.feed_names, lambda: cache.feed("x"),
            lambda: cache.wait(0, 1), lambda: cache.generation, lambda: cache.batch(lambda batch: None),
            feed.plan, feed.reset, lambda: feed.contains(["a"]), lambda: crawl.ingest([]),
            lambda: snapshot.find(feed, "a"), lambda: len(rows), lambda: quire.Cache(cache.path)]
        for use in uses:
            with pytest.raises(quire.ForkedError):
                use()
        with pytest.raises(ValueError):
            body[0]
        with pytest.raises(ValueError):
            row.body
        for thing in (snapshot, crawl, feed, cache):
            thing.close()
        gc.collect()

    assert in_child(work) == 0
    assert body == b"body of a" and rows[1].body == b"body of b"
    assert fill(feed, ["c"]).added == ["c"]
    snapshot.close()


def test_a_fork_while_other_threads_are_inside(cache: quire.Cache, feed: quire.Feed) -> None:
    fill(feed, [str(n) for n in range(200)])
    stop = threading.Event()
    snapshot = cache.snapshot()

    def read() -> None:
        while not stop.is_set():
            list(snapshot.rows(feed))

    def write() -> None:
        number = 0
        while not stop.is_set():
            feed.insert_local(f"local {number}")
            number += 1

    def work() -> None:
        for use in (lambda: list(snapshot.rows(feed)), lambda: feed.insert_local("x")):
            with pytest.raises(quire.ForkedError):
                use()
        snapshot.close()
        cache.close()

    threads = [threading.Thread(target=target) for target in (read, read, write)]
    for thread in threads:
        thread.start()
    try:
        assert [in_child(work) for _ in range(20)] == [0] * 20
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    snapshot.close()
