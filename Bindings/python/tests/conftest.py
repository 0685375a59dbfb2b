"""Shared by all tests: a cache in an empty folder, and feeds to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import quire


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[quire.Cache]:
    with quire.Cache(tmp_path / "test.quire", durability=quire.Durability.RELAXED) as cache:
        yield cache
        assert cache.check() == []


@pytest.fixture
def feed(cache: quire.Cache) -> quire.Feed:
    return cache.feed("timeline")


def fill(feed: quire.Feed, ids: list[str], *, place: quire.Place = quire.Place.HEAD,
         next: str = "more", **plan: object) -> quire.Outcome:
    """One planned and answered page; the body of a post is b"body of <id>"."""
    request = feed.plan(place, **plan)
    assert request, request.refusal
    return feed.ingest(request, [(id, b"body of " + id.encode()) for id in ids], next=next)


class CountingLibrary:
    """Stands in for `lib` and counts the calls."""

    def __init__(self, lib: object) -> None:
        self._lib = lib
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> object:
        value = getattr(self._lib, name)
        if not callable(value):
            return value

        def counted(*arguments: object) -> object:
            self.calls.append(name)
            return value(*arguments)

        return counted


@pytest.fixture
def count_calls(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Call it for the names of the C functions that the package called since the last time."""
    import quire._snapshot

    library = CountingLibrary(quire._snapshot.lib)
    monkeypatch.setattr(quire._snapshot, "lib", library)

    def calls() -> list[str]:
        seen, library.calls = library.calls, []
        return seen

    return calls
