"""Reads and commits pages through Quire's Python package, and through Python's own sqlite3 beside it.

    pip install ./Bindings/python                    (after `make lib`; see Bindings/python/README.md)
    python Benchmarks/python_pages.py --posts 100000 --folder /var/tmp/quire-python

One feed of pages of 30 posts, with random ids of 63 bits, and bodies as long as in the other benchmarks.
SQLite has a page to a row, a table of ids, a write-ahead log and a memory map. Both commit durably: the Python
package cannot leave syncs out (on tmpfs they cost nothing: --folder /dev/shm/NAME). Both work in turns, with
equal results. A page read is a list of ids and its bodies joined, so each byte is read once by a copy.
"""

import argparse
import random
import sqlite3
import struct
import time
from itertools import accumulate, pairwise, repeat
from pathlib import Path

import quire

PAGE = 30
WORDS = random.Random(1).randbytes(1 << 15).hex().encode()
HEAD = struct.Struct(f"<{PAGE}Q{PAGE + 1}I")  # of a page in SQLite: ids, where the bodies begin and end


def page_posts(number):
    """The posts of a page, always the same: id, body, key. See PostFactory.swift for the sizes."""
    draw, posts = random.Random(number), []
    for i in range(PAGE):
        size = 382 + draw.gammavariate(2, 135)
        if draw.random() < 0.09:
            size += 400 + 1650 * (draw.random() ** 2 + draw.random() ** 3)
        id, at = draw.getrandbits(63), draw.randrange(len(WORDS) - 4096)
        body = (b'{"id":%d,"text":"' % id + WORDS[at:at + 4096])[:min(4063, int(size)) - 2] + b'"}'
        posts.append((id, body, (1 << 40) - number * PAGE - i))
    return posts


class Quire:
    def __init__(self, folder):
        self.cache = quire.Cache(folder / "feeds.quire")
        self.feed = self.cache.feed("feed", quire.FeedOptions(order=quire.Order.STABLE, page_size=PAGE))
        self.pages = []  # their numbers

    def take_in(self, posts, number, batch):
        request = self.feed.plan(quire.Place.TAIL if number > 0 else quire.Place.HEAD, batch=batch)
        outcome = self.feed.ingest(request, posts, next=f"page={number + 1}", batch=batch)
        assert outcome.verdict == quire.Verdict.OK and len(outcome.added) == PAGE
        return outcome.page

    def commit(self, pages):
        count = len(self.pages)
        self.pages += self.cache.batch(
            lambda batch: [self.take_in(posts, count + i, batch) for i, posts in enumerate(pages)])

    def read(self, index):
        with self.cache.snapshot() as snapshot:
            posts = list(snapshot.page(self.feed, self.pages[index]))
            return [post.id for post in posts], b"".join([post.body for post in posts])

    def contains(self, ids):
        return self.feed.contains(ids)

    def post(self, id):
        with self.cache.snapshot() as snapshot:
            return bytes(snapshot.post(id).body)


class SQLite:
    def __init__(self, folder):
        self.base = sqlite3.connect(folder / "pages.sqlite", isolation_level=None)
        self.base.executescript("""
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA mmap_size = 68719476736;
            CREATE TABLE page (place INTEGER PRIMARY KEY, posts BLOB);
            CREATE TABLE post (id INTEGER PRIMARY KEY, place INTEGER, start INTEGER, size INTEGER);""")
        self.count = 0

    def commit(self, pages):
        self.base.execute("BEGIN IMMEDIATE")
        for posts in pages:
            ids, bodies, _ = zip(*posts)
            ends = list(accumulate(map(len, bodies), initial=HEAD.size))
            blob = b"".join((HEAD.pack(*ids, *ends), *bodies))
            self.base.execute("INSERT INTO page VALUES (?, ?)", (self.count, blob))
            rows = zip(ids, repeat(self.count), ends, map(len, bodies))
            self.base.executemany("INSERT INTO post VALUES (?, ?, ?, ?)", rows)
            self.count += 1
        self.base.execute("COMMIT")

    def read(self, index):
        blob, = self.base.execute("SELECT posts FROM page WHERE place = ?", (index,)).fetchone()
        head, view = HEAD.unpack_from(blob), memoryview(blob)
        return [str(id) for id in head[:PAGE]], b"".join([view[i:j] for i, j in pairwise(head[PAGE:])])

    def contains(self, ids):
        marks = ",".join("?" * len(ids))
        held = {row[0] for row in self.base.execute(f"SELECT id FROM post WHERE id IN ({marks})", ids)}
        return [id in held for id in ids]

    def post(self, id):
        query = "SELECT substr(posts, start + 1, size) FROM post JOIN page USING (place) WHERE id = ?"
        return self.base.execute(query, (id,)).fetchone()[0]


def measure(engines, name, arguments):
    """The sorted microseconds of the calls of both."""
    times = [], []
    for start in range(0, len(arguments), 100):
        results = [], []
        for at in (0, 1) if start % 200 == 0 else (1, 0):
            work = getattr(engines[at], name)
            for argument in arguments[start:start + 100]:
                begin = time.perf_counter_ns()
                results[at].append(work(argument))
                times[at].append((time.perf_counter_ns() - begin) / 1000)
        assert results[0] == results[1], f"{name}: the results differ"
    return map(sorted, times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--posts", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=5_000, help="reads of each; of the rest a tenth")
    parser.add_argument("--folder", type=Path, default="/var/tmp/quire-python", help="a new one")
    options = parser.parse_args()
    count, some, few, draw = options.posts // PAGE, options.samples, options.samples // 10, random.Random(0)
    options.folder.mkdir(parents=True)
    engines = Quire(options.folder), SQLite(options.folder)
    for start in range(0, count, 32):
        for engine in engines:
            engine.commit([page_posts(number) for number in range(start, min(start + 32, count))])
    held = [draw.choice(page_posts(draw.randrange(count)))[0] for _ in range(some)]
    half = [draw.sample(held, 50) + draw.sample(range(1 << 62), 50) for _ in range(few)]
    work = [
        ("page read", "read", [draw.randrange(count) for _ in range(some)]),
        ("post by its id", "post", held),
        ("100 ids, half held", "contains", half),
        ("page committed, synced", "commit", [[page_posts(number)] for number in range(count, count + few)]),
    ]
    print(f"{count * PAGE:7} posts, microseconds quire p50    p99 | sqlite3 p50    p99 | times sqlite3's p50")
    for title, name, arguments in work:
        a, b = measure(engines, name, arguments)
        p50, p99 = len(a) // 2, len(a) * 99 // 100
        print(f"{title:25}{a[p50]:12.1f}{a[p99]:9.1f} |{b[p50]:9.1f}{b[p99]:9.1f} |{a[p50] / b[p50]:10.2f}")


if __name__ == "__main__":
    main()
