"""Evidence against the order class, and the joins that it touches (section 3)."""
from __future__ import annotations

from .objects import Gap
from .splice import longest_increasing


class Evidence:
    def against_order(self):
        """R6. Known entries of one segment that this answer shows in another order than the class allows."""
        feed, ticket = self.feed, self.ticket
        if ticket.op in ("snapshot", "ids", "recorded", "delta") or feed.order == "ranked":
            return []
        shown = [id for id in dict.fromkeys(self.answer.items) if id in feed.entries and not feed.entries[id].detached
                 and not self.is_newer(id)]
        keys = self.answer.keys
        if feed.order == "bump":
            shown = [id for id in shown if keys.get(id) is not None and keys[id] == feed.entries[id].key]
        found = [id for id in shown if feed.order == "stable" and keys.get(id) != feed.entries[id].key
                 and feed.entries[id].key is not None]
        for segment in feed.segments():
            where = {id: i for i, id in enumerate(segment)}
            line = [id for id in shown if id in where]
            keep = {line[i] for i in longest_increasing([where[id] for id in line])}
            found += [id for id in line if id not in keep and id not in found]
        return found

    def doubted_joins(self):
        """R25. Neighbours that this answer gives reason to doubt, although no gap is between them: where an entry
        left against the order class, and where the answer showed something that was not placed."""
        feed, old, found = self.feed, self.feed.server_rows(), {}
        strays = set(self.out.disorder) | set(self.out.moved if feed.order == "keyless" else ())
        placed = {r for r in self.rows if isinstance(r, str)}
        for at, id in enumerate(old):
            if id in strays:
                below = next((r for r in old[at + 1:] if isinstance(r, Gap) or r in placed and r not in strays), None)
                found.update({below: "disorder"} if isinstance(below, str) else {})
        line = list(self.server_index)
        for i, id in enumerate(line):
            if id in self.out.ignored and id not in feed.entries and feed.tombstones.get(id, -1) < self.ticket.issued:
                below = next((r for r in line[i + 1:] if r in placed), None)
                found.setdefault(below, "unplaced")
        covered = set(self.accepted)
        return {b: found[b] for a, b in zip(self.rows, self.rows[1:]) if b in found and isinstance(a, str)
                and not (a in covered and b in covered)}
