"""Threads: calls let other threads run, snapshots are shared in turns, waits can be interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import quire
from conftest import fill
from quire import Status


def test_a_wait_lets_others_run(cache: quire.Cache, feed: quire.Feed) -> None:
    now = cache.generation
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache.wait, now, 10)
        steps, end = 0, time.monotonic() + 0.2
        while time.monotonic() < end:
            steps += 1
        assert steps > 10_000 and not waiting.done()
        fill(feed, ["a"])
        assert waiting.result(5) > now


def test_closing_ends_a_wait(tmp_path: Path) -> None:
    cache = quire.Cache(tmp_path / "x.quire")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache.wait, cache.generation)
        time.sleep(0.05)
        cache.close()
        with pytest.raises(quire.BadHandleError):
            waiting.result(5)


def test_a_signal_interrupts_a_wait(tmp_path: Path) -> None:
    program = (
        "import quire, signal, sys\n"
        # Who runs the tests in the background ignores it for all its children.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "cache = quire.Cache(sys.argv[1])\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    cache.wait(cache.generation)\n"
        "except KeyboardInterrupt: print('interrupted', flush=True)\n")
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "x.quire")], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=10)[0] == "interrupted\n"


def test_readers_and_writers_at_the_same_time(cache: quire.Cache) -> None:
    feeds = [cache.feed(f"feed {n}") for n in range(3)]
    stop = threading.Event()

    def write(feed: quire.Feed) -> int:
        crawl = feed.crawl()
        for number in range(60):
            posts = [(f"{feed.name} {number}-{k}", f"{feed.name} {number}-{k}") for k in range(10)]
            crawl.ingest(posts)
        return 60

    def read() -> int:
        rounds = 0
        while not stop.is_set() or rounds == 0:
            with cache.snapshot() as snapshot:
                for feed in feeds:
                    rows = list(snapshot.rows(feed))
                    assert len(rows) % 10 == 0 and len(rows) == snapshot.info(feed).posts
                    assert all(row.body == row.id.encode() for row in rows)
            rounds += 1
        return rounds

    with ThreadPoolExecutor(5) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            assert [task.result(60) for task in [pool.submit(write, feed) for feed in feeds]] == [60] * 3
        finally:
            stop.set()
        assert all(reader.result(60) > 0 for reader in readers)
    with cache.snapshot() as snapshot:
        assert [snapshot.info(feed).posts for feed in feeds] == [600] * 3


def test_a_snapshot_shared_and_closed_by_another_thread(cache: quire.Cache) -> None:
    feed = cache.feed("timeline")
    fill(feed, [str(n) for n in range(500)])

    def read(snapshot: quire.Snapshot) -> int:
        try:
            while True:
                rows = list(snapshot.rows(feed))
                assert len(rows) == 500
                assert all(bytes(row.body).startswith(b"body of ") for row in rows[::17])
        except ValueError:  # BadHandleError, or a view that was released
            return 1

    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            snapshot = cache.snapshot()
            readers = [pool.submit(read, snapshot) for _ in range(4)]
            time.sleep(0.01)
            try:
                snapshot.close()
            except quire.BodiesInUseError:
                pass  # bytes() of another thread was in the middle of it
            assert sum(reader.result(10) for reader in readers) == 4


def test_a_batch_belongs_to_its_thread(cache: quire.Cache, feed: quire.Feed) -> None:
    def work(batch: quire.Batch) -> None:
        with ThreadPoolExecutor(1) as pool:
            with pytest.raises(quire.QuireError) as caught:
                pool.submit(feed.plan, batch=batch).result(10)
            assert caught.value.status == Status.WRONG_THREAD

    try:
        cache.batch(work)
    except quire.QuireError as error:
        assert error.status == Status.WRONG_THREAD


def test_a_run_is_for_one_thread_at_a_time(cache: quire.Cache, feed: quire.Feed) -> None:
    crawl = feed.crawl()
    inside, go_on = threading.Event(), threading.Event()

    def hold(batch: quire.Batch) -> None:
        inside.set()
        assert go_on.wait(10)

    with ThreadPoolExecutor(2) as pool:
        holder = pool.submit(cache.batch, hold)
        assert inside.wait(10)
        recording = pool.submit(crawl.ingest, [("a", b"")])  # waits for the batch, holding the crawl
        deadline = time.monotonic() + 10
        while not crawl._lock.locked() and time.monotonic() < deadline:
            time.sleep(0.001)
        with pytest.raises(quire.QuireError) as caught:
            crawl.ingest([("b", b"")])
        assert caught.value.status == Status.WRONG_THREAD
        go_on.set()
        holder.result(10)
        assert recording.result(10).added == ["a"]


def test_two_processes(cache: quire.Cache, feed: quire.Feed) -> None:
    program = (
        "import quire, sys\n"
        "with quire.Cache(sys.argv[1]) as cache:\n"
        "    crawl = cache.feed('timeline').crawl()\n"
        "    for n in range(100): crawl.ingest([(f'{n}-{k}', b'x') for k in range(5)])\n")
    before = cache.generation
    child = subprocess.Popen([sys.executable, "-c", program, os.fspath(cache.path)])
    seen = before
    deadline = time.monotonic() + 60
    while seen < before + 100 and time.monotonic() < deadline:
        seen = cache.wait(seen, 1)
        with cache.snapshot() as snapshot:
            assert len(snapshot.rows(feed)) % 5 == 0
    assert child.wait(60) == 0 and seen >= before + 100
    with cache.snapshot() as snapshot:
        assert len(snapshot.rows(feed)) == 500
