"""Bodies are views of the file: they end with an exception, never with a crash."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import pickle
import re
import threading
from array import array
from pathlib import Path

import pytest

import quire
from conftest import fill
from quire._given import _POST
from quire._quire import ffi


def test_a_post_is_packed_as_c_lays_it_out() -> None:
    packed = bytearray(_POST.pack(1, 2, 3, 4, -5, -6, 7, 8))
    assert len(packed) == ffi.sizeof("quire_post")
    post = ffi.from_buffer("quire_post[]", packed)[0]
    addresses = [int(ffi.cast("uintptr_t", part.data)) for part in (post.id, post.body)]
    assert (*addresses, post.id.size, post.body.size) == (1, 3, 2, 4)
    assert (post.key, post.version, post.flags, post.detail) == (-5, -6, 7, 8)


@pytest.fixture
def feed(cache: quire.Cache) -> quire.Feed:
    feed = cache.feed("timeline")
    fill(feed, ["a", "b", "c"])
    return feed


def first(snapshot: quire.Snapshot, feed: quire.Feed) -> quire.PostRow:
    row = snapshot.rows(feed)[0]
    assert isinstance(row, quire.PostRow)
    return row


def test_a_body_is_a_read_only_view_of_the_map(cache: quire.Cache, feed: quire.Feed) -> None:
    with cache.snapshot() as snapshot:
        body = first(snapshot, feed).body
        assert body == b"body of a" and body.readonly and body.format == "B"
        with pytest.raises(TypeError):
            body[0] = 1
        with pytest.raises((TypeError, BufferError)):
            memoryview(body.obj)[0] = 1  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            (ctypes.c_char * 3).from_buffer(body)
        with pytest.raises(TypeError):
            body.obj[0:1] = b"x"  # type: ignore[index]
        maps = Path("/proc/self/maps").read_text().splitlines()
        # The exporter says where the body lies; that it lies in the cache's file is what "no copy" means.
        address = ctypes.c_void_p()
        get_buffer = ctypes.pythonapi.PyObject_GetBuffer
        room = (ctypes.c_void_p * 16)()
        assert get_buffer(ctypes.py_object(body), room, 0) == 0
        address = room[0] or 0
        ctypes.pythonapi.PyBuffer_Release(room)
        spans = [line.split() for line in maps if line.endswith("test.quire")]
        assert any(
            int(low, 16) <= address < int(high, 16)
            for low, high in (span[0].split("-") for span in spans))


def test_views_end_with_the_snapshot(cache: quire.Cache, feed: quire.Feed) -> None:
    with cache.snapshot() as snapshot:
        row = first(snapshot, feed)
        body, again, info = row.body, row.body, snapshot.post("a")
        copied = bytes(body)
    for view in (body, again, info.body):
        for use in (lambda v: v[0], bytes, len, lambda v: v[1:], memoryview, hash, lambda v: v.obj):
            with pytest.raises(ValueError):
                use(view)
    with pytest.raises(quire.BadHandleError):
        row.body
    assert (row.id, row.flags, copied) == ("a", quire.RowFlag.HAS_PAGE, b"body of a")


def test_views_can_be_released_before(cache: quire.Cache, feed: quire.Feed) -> None:
    with cache.snapshot() as snapshot:
        row = first(snapshot, feed)
        with row.body as body:
            assert body[0] == ord("b")
        with pytest.raises(ValueError):
            body[0]
        assert row.body == b"body of a"


DERIVED = {
    "slice": lambda view: view[2:4],
    "cast": lambda view: view.cast("c"),
    "view of the view": memoryview,
    "view of the exporter": lambda view: memoryview(view.obj),
    "pickle buffer": pickle.PickleBuffer,
    "match in progress": lambda view: re.finditer(rb"\w+", view),
}


@pytest.mark.parametrize("derive", DERIVED.values(), ids=DERIVED)
def test_what_was_made_from_a_view_stays_good(
    cache: quire.Cache, feed: quire.Feed, derive: object
) -> None:
    snapshot = cache.snapshot()
    derived = derive(first(snapshot, feed).body)  # type: ignore[operator]
    # No "as caught": CPython before 3.12.7 crashes when the collector meets a memoryview with exports in
    # a cycle, in any library (python/cpython#77894).
    with pytest.raises(quire.BodiesInUseError, match="bodies-in-use: 1 bodies"):
        snapshot.close()
    snapshot.close()  # a second time does nothing
    for read in (snapshot.rows(feed).__len__, lambda: snapshot.find(feed, "a"),
                 lambda: snapshot.generation):
        with pytest.raises(quire.BadHandleError):
            read()
    # Others overwrite and reuse what they can: not what we look at.
    for i in range(50):
        feed.delete("a")
        fill(feed, [f"{i}-{k}" for k in range(20)])
    text = next(derived)[0] if isinstance(derived, type(re.finditer("", ""))) else derived
    assert bytes(text) in (b"body of a", b"dy", b"body")




def test_the_library_snapshot_ends_with_the_last_view(
    cache: quire.Cache, feed: quire.Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quire._quire import ffi, lib

    snapshot = cache.snapshot()
    handle = ffi.cast("quire_snapshot *", int(ffi.cast("uintptr_t", snapshot._handle)))
    out = ffi.new("uint64_t *")

    def is_open() -> bool:
        return lib.quire_snapshot_generation(handle, out) == 0

    part = first(snapshot, feed).body[1:]
    other = snapshot.find(feed, "b").body[1:]
    with pytest.raises(quire.BodiesInUseError, match="2 bodies"):
        snapshot.close()
    assert is_open()
    del part
    assert is_open()
    other.release()
    assert not is_open()


def test_a_forgotten_snapshot_ends(cache: quire.Cache, feed: quire.Feed) -> None:
    from quire._quire import ffi, lib

    snapshot = cache.snapshot()
    handle = ffi.cast("quire_snapshot *", int(ffi.cast("uintptr_t", snapshot._handle)))
    out = ffi.new("uint64_t *")
    body = first(snapshot, feed).body
    del snapshot
    gc.collect()
    assert lib.quire_snapshot_generation(handle, out) == 0
    assert body == b"body of a"
    del body
    gc.collect()
    assert lib.quire_snapshot_generation(handle, out) == quire.Status.BAD_HANDLE


def test_an_exception_is_not_hidden(cache: quire.Cache, feed: quire.Feed) -> None:
    kept = []
    assert issubclass(quire.BodiesInUseError, BufferError)
    with pytest.raises(ZeroDivisionError):
        with cache.snapshot() as snapshot:
            kept.append(first(snapshot, feed).body[1:])
            1 // 0
    assert kept[0] == b"ody of a"
    with pytest.raises(quire.BadHandleError):
        snapshot.rows(feed)[0]


def test_closing_while_a_thread_reads(cache: quire.Cache, tmp_path: Path) -> None:
    """hashlib releases the GIL while it reads; the snapshot outlives it."""
    feed = cache.feed("large")
    large = bytes(range(256)) * 200_000
    feed.ingest(feed.plan(), [("x", large)])
    expected = hashlib.sha256(large).digest()
    for _ in range(5):
        snapshot = cache.snapshot()
        body = first(snapshot, feed).body
        seen: list[object] = []
        started = threading.Event()

        def read(view: memoryview) -> None:
            started.set()
            try:
                seen.append(hashlib.sha256(view).digest())
            except ValueError as error:
                seen.append(error)

        thread = threading.Thread(target=read, args=(body,))
        thread.start()
        started.wait()
        try:
            snapshot.close()
        except quire.BodiesInUseError:
            pass
        thread.join()
        assert seen[0] == expected or isinstance(seen[0], ValueError)


def test_the_order_of_closing_does_not_matter(tmp_path: Path) -> None:
    cache = quire.Cache(tmp_path / "order.quire")
    feed = cache.feed("timeline")
    fill(feed, ["a"])
    snapshot = cache.snapshot()
    row = first(snapshot, feed)
    cache.close()
    assert row.body == b"body of a"
    assert len(snapshot.rows(feed)) == 1
    feed.close()
    with pytest.raises(quire.BadHandleError):
        snapshot.rows(feed)[0]
    body = row.body
    snapshot.close()
    with pytest.raises(ValueError):
        body[0]
    cache.close()


def test_bodies_of_all_kinds_go_in(cache: quire.Cache) -> None:
    feed = cache.feed("kinds")
    bodies = {
        "bytes": b"1", "text": "grün", "bytearray": bytearray(b"2"), "view": memoryview(b"xyz")[1:],
        "array": array("i", [1, 2]), "empty": b"", "none of them": bytearray()}
    feed.ingest(feed.plan(), list(bodies.items()))
    other = cache.feed("other")
    with cache.snapshot() as snapshot:
        for row in snapshot.rows(feed):
            body = bodies[row.id]
            assert row.body == (body.encode() if isinstance(body, str) else bytes(body))
        # a body may go straight into another feed
        other.ingest(other.plan(), [(f"copy of {row.id}", row.body) for row in snapshot.rows(feed)])
    with cache.snapshot() as snapshot:
        assert snapshot.find(other, "copy of text").body == "grün".encode()
    with pytest.raises(TypeError):
        feed.ingest(feed.plan(), [("x", 1.5)])
    with pytest.raises((TypeError, BufferError)):
        feed.ingest(feed.plan(), [("x", memoryview(b"abcd")[::2])])


def test_a_failed_call_keeps_nothing(cache: quire.Cache, feed: quire.Feed) -> None:
    """Neither the traceback nor a cycle through it holds a body that went into the call."""
    kept: list[BaseException] = []
    words = bytearray(b"words")
    with cache.snapshot() as snapshot:
        row = first(snapshot, feed)
        calls = [
            lambda: feed.ingest(10**6, [("x", row.body), ("y", words), ("", b"")]),
            lambda: feed.crawl().ingest([("x", row.body), ("", words)]),
            lambda: feed.insert_local("", row.body),
            lambda: cache.update_body("", row.body),
            lambda: cache.update_fields("", {"name": row.body}, 1)]
        for call in calls:
            try:
                call()
            except quire.QuireError as error:
                error.cycle = error  # type: ignore[attr-defined]
                kept.append(error)
    words.append(1)  # an exported bytearray could not grow
    assert len(kept) == 5
    kept.clear()
    gc.collect()
