"""R21: lists of ids and the bodies that follow."""
from __future__ import annotations

from .objects import END, Refused
from .splice import longest_increasing


class Snapshots:
    def snapshot(self, ids):
        """R21. The snapshot is the order; bodies follow later."""
        feed, out = self.feed, self.out
        if not ids and self.rows:
            raise Refused("empty-confirm")
        cached = [r for r in self.rows if isinstance(r, str)]
        keep = [id for id in ids if id in feed.entries]
        order = {id: i for i, id in enumerate(cached)}
        still = {keep[i] for i in longest_increasing([order[id] for id in keep if id in order])} \
            if all(id in order for id in keep) else set(keep)
        out.moved += [id for id in keep if id not in still]
        self.leave([id for id in cached if id not in set(ids)])
        self.rows, self.accepted = list(ids), []
        self.head_changed, self.head, self.tail = True, feed._edge(END), feed._edge(END)
        self.placeholders = [id for id in ids if id not in feed.entries]

    def bodies(self, page):
        """R21. Bodies for requested ids; what the server does not return is gone."""
        wanted = [id for id in self.ticket.ids if id in self.feed.entries]
        if not self.answer.items:
            raise Refused("empty-confirm")
        self.out.ignored += [id for id in page if id not in wanted]
        self.accepted = [id for id in wanted if id in page]
        gone = [id for id in wanted if id not in page]
        self.leave(gone)
        self.rows = [r for r in self.rows if r not in set(gone)]
        self.gone_for_good = gone
