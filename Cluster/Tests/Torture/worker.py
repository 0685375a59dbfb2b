"""A node in Python that Scripts/torture-cluster kills: the same as worker.c."""

from __future__ import annotations

import select
import sys
import time

import quire
from quire.cluster import Cluster

PASSING = {quire.Status.UNAVAILABLE, quire.Status.IN_DOUBT, quire.Status.IO, quire.Status.DISK_FULL}


def is_over() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


def again(body):  # type: ignore[no-untyped-def]
    """The result of `body`, which is called again while the log or its disk is away."""
    while not is_over():
        try:
            return body()
        except quire.QuireError as error:
            if error.status not in PASSING:
                raise
            time.sleep(0.1)
    sys.exit(0)


def page(feed: quire.Feed, name: str, index: int) -> None:
    request = feed.plan(quire.Place.TAIL) or feed.plan(quire.Place.HEAD)
    if not request:
        return
    number = int(request.link.text or "0")
    posts = [(str(index * 10_000_000 + number * 5 + i + 1), b"p" * 200) for i in range(5)]
    outcome = feed.ingest(request, posts, next=str(number + 1), fetched_at=1)
    if outcome.verdict == quire.Verdict.OK:
        print(f"page {name} {number}", flush=True)


def main() -> None:
    address, folder, *rest = sys.argv[1:]
    with again(lambda: Cluster(address, folder)) as cluster:
        cache = cluster.cache()
        feeds = [(again(lambda n=name: cache.feed(n)), name, int(index))
                 for name, index in zip(rest[::2], rest[1::2])]
        while not is_over():
            for feed, name, index in feeds:
                try:
                    page(feed, name, index)
                except quire.QuireError as error:
                    if error.status not in PASSING:
                        raise
            time.sleep(0.1)
        print("end", flush=True)


main()
