"""Posts are stored once and shared by all feeds (I6, R23)."""
from __future__ import annotations

from .feed import Feed


class Cache:
    """Posts are stored once and shared by all feeds."""

    def __init__(self):
        self.clock = 0
        self.feeds: dict[str, Feed] = {}
        self.posts: dict[str, dict] = {}     # id -> {field: (value, version)}
        self.names: dict[str, str] = {}      # R28: another id of a post -> its own

    def tick(self):
        self.clock += 1
        return self.clock

    def feed(self, name, **options):
        self.feeds[name] = Feed(self, **options)
        return self.feeds[name]

    def name(self, id):
        return self.names.get(id, id)

    def unite(self, alias, id):
        """R28. Two ids are one post, which is called `id` from now on."""
        alias, id = self.name(alias), self.name(id)
        if alias == id:
            return "same"
        self.names = {other: id if own == alias else own for other, own in self.names.items()} | {alias: id}
        known, has_body = alias in self.posts, self.has_body(alias) or self.has_body(id)
        for name, (value, version) in self.posts.pop(alias, {}).items():
            self.touch(id)
            if version >= self.posts[id].get(name, (None, version))[1]:
                self.posts[id][name] = (value, version)
        for feed in self.feeds.values():
            if alias in feed.entries:
                self.touch(id)
            feed._unite(alias, id)
        self.collect()
        if has_body:
            self.bring_body(id)
        return "united" if known else "noted"

    def touch(self, id):
        self.posts.setdefault(id, {})

    def has_body(self, id):
        """Some feed shows the post (R21): not as a placeholder, a local entry or a sticky one."""
        entries = [feed.entries[id] for feed in self.feeds.values() if id in feed.entries]
        return any(not e.placeholder and (e.page is not None or not e.detached) for e in entries)

    def bring_body(self, id):
        """R21. A body is the post's, whichever feed it came with."""
        for feed in self.feeds.values():
            if id in feed.entries:
                feed.entries[id].placeholder = False

    def references(self, id):
        return sum(id in feed.entries for feed in self.feeds.values())

    def collect(self):
        """I6. A post without an entry in any feed is dropped."""
        if self.feeds:
            self.posts = {id: p for id, p in self.posts.items() if self.references(id)}

    def update(self, id, version, fields):
        """R23. Field-level merge: an older version never overwrites a newer one."""
        id = self.name(id)
        if id not in self.posts:
            return "missing"
        post, changed, applied = self.posts[id], False, False
        for name, value in fields.items():
            old_value, old_version = post.get(name, (None, None))
            if old_version is not None and version < old_version:
                continue
            applied = True
            changed = changed or old_version is None or old_value != value
            post[name] = (value, version)
        return "changed" if changed else "same" if applied else "stale"

    def fields(self, id):
        return {name: value for name, (value, _) in self.posts.get(id, {}).items()}
