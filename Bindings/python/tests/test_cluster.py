"""Two machines, here two folders, over a real server of NATS; only with a package that has clusters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire

cluster = pytest.importorskip("quire.cluster", exc_type=ImportError)

SERVER = os.environ.get("NATS_SERVER") or shutil.which("nats-server") or "/usr/sbin/nats-server"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server that has chosen a free port and written it down."""
    server = subprocess.Popen(
        [SERVER, "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", str(tmp_path / "store"),
         "--ports_file_dir", str(tmp_path)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            assert server.poll() is None
            found = [
                port for file in tmp_path.glob("nats-server_*.ports")
                for port in re.findall(r"nats://127\.0\.0\.1:(\d+)", file.read_text())]
            if found:
                break
            time.sleep(0.05)
        yield f"nats://127.0.0.1:{found[0]}/test?replicas=1&timeout=3"
    finally:
        server.kill()
        server.wait()


def ids(cache: quire.Cache, feed: quire.Feed) -> list[str]:
    with cache.snapshot() as snapshot:
        return [row.id if isinstance(row, quire.PostRow) else "~" for row in snapshot.rows(feed)]


def test_what_one_machine_writes_the_other_reads(address: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        os.mkdir(tmp_path / name)
    with cluster.Cluster(address, tmp_path / "a") as a, cluster.Cluster(address, tmp_path / "b") as b:
        here, there = a.cache(), b.cache_of_feed("news")
        feed = here.feed("news")
        assert feed.ingest(feed.plan(), [("2", b"two"), ("1", b"one")], next="more").verdict == quire.Verdict.OK
        b.wait(a.status().applied)
        assert ids(there, there.find_feed("news")) == ["2", "1"]
        there.find_feed("news").delete("1")
        a.wait(b.status().applied)
        assert ids(here, feed) == ["2"]
        assert a.status().digest == b.status().digest and a.status().rebuilds == 0
        with pytest.raises(quire.BadArgumentError):
            here.batch(lambda batch: None)
    with pytest.raises(quire.QuireError) as error:
        feed.plan()
    assert error.value.status in (quire.Status.UNAVAILABLE, quire.Status.IN_DOUBT)


def test_addresses_are_checked(tmp_path: Path) -> None:
    for address in ("http://host/test", "nats://host", "nats://host/test?what=1"):
        with pytest.raises(quire.QuireError) as error:
            cluster.Cluster(address, tmp_path)
        assert error.value.status == quire.Status.MISCONFIGURED


def test_every_function_is_used() -> None:
    top = Path(__file__).resolve().parents[3]
    text = re.sub(r"/\*.*?\*/", "", (top / "Include/quire_cluster.h").read_text(encoding="utf-8"), flags=re.DOTALL)
    functions = set(re.findall(r"\b(quire_cluster_\w+)\(", text))
    assert len(functions) == 7
    source = (top / "Bindings/python/src/quire/cluster.py").read_text(encoding="utf-8")
    assert {name for name in functions if not re.search(rf"lib\.{name}\b", source)} == set()
