"""Responses to answers, and what is a post."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

import quire
from quire.profiles import Asked, Profile, names

ISSUES = json.dumps([{"id": n, "updated_at": f"2024-01-{n:02}T00:00:00Z"} for n in (12, 11, 10)]).encode()
ADDRESS = "https://api.github.com/repos/a/b/issues"


def test_a_response_is_ingested(cache: quire.Cache) -> None:
    github = Profile("github")
    feed = cache.feed("issues", github.feed_options(page_size=3))
    headers = {"Link": f'<{ADDRESS}?page=2>; rel="next"', "Retry-After": "2.5"}
    parsed = github.parse(ISSUES, status=200, request=ADDRESS, headers=headers)
    assert parsed.asked == Asked.HEAD and str(parsed.asked) == "head"
    assert [post.id for post in parsed.posts] == ["12", "11", "10"] and parsed.page == 1
    assert parsed.next == quire.Link.token(f"{ADDRESS}?page=2") and parsed.backoff == 2.5
    outcome = feed.ingest(feed.plan(), **parsed.answer)
    assert outcome.verdict == quire.Verdict.OK and outcome.added == ["12", "11", "10"]
    with cache.snapshot() as snapshot:
        row = snapshot.find(feed, "11")
        assert row and json.loads(bytes(row.body)) == {"id": 11, "updated_at": "2024-01-11T00:00:00Z"}
    below = github.parse(ISSUES.replace(b"1", b"2"), status=200, request=f"{ADDRESS}?page=2", headers=[])
    assert below.asked == Asked.BELOW and below.next == quire.Link.END
    assert feed.ingest(feed.plan(quire.Place.TAIL), **below.answer).verdict == quire.Verdict.OK
    assert github.parse(ISSUES).next == quire.Link.UNKNOWN  # the headers are not known


def test_profiles() -> None:
    assert "stackexchange" in names() and names() == sorted(names())
    own = Profile({"name": "own", "items": "rows", "id": {"path": "key"}, "paging": "page", "sizes": 25})
    assert own.feed_options().sizes == quire.Sizes.FIXED and own.feed_options().rows_per_page == 25
    assert own.parse('{"rows": [{"key": "a"}]}').posts[0].id == "a"
    keyed = Profile("stackexchange", key="score")
    assert keyed.parse('{"items": [{"question_id": 3, "score": -7}]}').posts[0].key == -7
    with pytest.raises(quire.NotFoundError, match="stackexchange"):
        Profile("stack")
    with pytest.raises(quire.BadArgumentError, match="itemz"):
        Profile('{"itemz": 1}')
    with pytest.raises(quire.QuireError, match="bad-response: response: item 2: no id"):
        Profile("github").parse(b'[{"id": 1}, {}]')
    with pytest.raises(quire.QuireError) as caught:
        Profile("github").parse(b"{}", status=404)
    assert caught.value.status == quire.Status.BAD_RESPONSE


def test_a_crawl_takes_every_answer(cache: quire.Cache, feed: quire.Feed) -> None:
    parsed = dataclasses.replace(Profile("github").parse(ISSUES), since="token", deleted=["12"])
    assert feed.crawl().ingest(**parsed.answer).verdict == quire.Verdict.OK
    assert feed.plan(quire.Place.DELTA).link.text == "token"


def test_dicts_are_posts(feed: quire.Feed) -> None:
    posts = [{"id": 3, "body": b"three", "version": 7}, quire.Post("2"), ("1", b"one")]
    assert feed.ingest(feed.plan(), posts).added == ["3", "2", "1"]
    wrong = [
        ([{"id": 1, "title": "x"}], "post 0: no field 'title'"), ([{"body": b""}], "post 0: there is no id"),
        ([("1",), "ab"], "post 1: a post is .*, not str"), ([b"ab"], "not bytes"), ([7], "not int"),
        ([()], "not tuple"), ([tuple("abcdef")], "not tuple"),
    ]
    for answer, message in wrong:
        with pytest.raises(TypeError, match=message):
            feed.ingest(feed.plan(), answer)  # type: ignore[arg-type]


def test_numbers_print_as_names(feed: quire.Feed) -> None:
    feed.ingest(feed.plan(), [("1",)])
    verdict = feed.ingest(feed.plan(), []).verdict
    assert (str(verdict), f"{verdict:>8}", f"{verdict:d}") == ("empty", "   empty", "12")
    assert str(quire.Verdict.NO_PROGRESS) == "no-progress" and str(quire.Status.NOT_A_CACHE) == "not-a-cache"
    assert verdict == 12 and json.dumps(quire.Order.BUMP) == "3"


def test_read_only(tmp_path: Path) -> None:
    path = tmp_path / "test.quire"
    with pytest.raises(quire.QuireError) as caught:
        quire.Cache(path, read_only=True)
    assert caught.value.status == quire.Status.IO and os.listdir(tmp_path) == []
    with quire.Cache(path) as cache:
        cache.feed("f").insert_local("1")
    with quire.Cache(path, read_only=True) as cache:
        feed = cache.find_feed("f")
        with cache.snapshot() as snapshot:
            assert len(snapshot.rows(feed)) == 1
        with pytest.raises(quire.QuireError, match="is open for reading only") as caught:
            feed.plan()
        assert caught.value.status == quire.Status.NO_PERMISSION
