"""R28: several ids of one post."""
from __future__ import annotations

from dataclasses import replace


class Names:
    """The feed's side. Every id that comes in is replaced by the post's own."""

    def sticky(self):
        return {self.cache.name(id) for id in self.stated_sticky}

    def _named(self, answer):
        name = self.cache.name
        keys = {name(id): key for id, key in answer.keys.items()} | \
            {id: key for id, key in answer.keys.items() if id == name(id)}
        return replace(answer, items=[id and name(id) for id in answer.items], keys=keys,
                       deleted=[name(id) for id in answer.deleted])

    def _name_ticket(self, ticket):
        name = self.cache.name
        ticket.after, ticket.minted = ticket.after and name(ticket.after), ticket.minted and name(ticket.minted)
        ticket.ids, ticket.join = tuple(map(name, ticket.ids)), tuple(map(name, ticket.join))

    def _unite(self, alias, id):
        """The entry of the alias becomes that of the post: at its place, unless the post has one of the server's."""
        if alias in self.tombstones:
            self.tombstones[id] = max(self.tombstones.pop(alias), self.tombstones.get(id, 0))
        if alias not in self.entries:
            return
        loser = None
        if id in self.entries:
            loser = id if self.entries[id].detached and not self.entries[alias].detached else alias
            pinned = self.entries[id].pinned or self.entries[alias].pinned
            self._drop(loser)
            self.entries[id if loser == alias else alias].pinned = pinned
        if loser != alias:
            self._rename(alias, id)

    def _rename(self, alias, id):
        def new(name):
            return id if name == alias else name

        entry = self.entries.pop(alias)
        entry.id = id
        self.entries[id] = entry
        self.rows = [new(row) if isinstance(row, str) else row for row in self.rows]
        self.unverified = {new(lower): reason for lower, reason in self.unverified.items()}
        self.checked = set(map(new, self.checked))
        for page in self.pages.values():
            page.first, page.last = new(page.first), new(page.last)
        for edge, _ in self._edge_holders():
            edge.after = new(edge.after)
            if edge.search:
                edge.search = replace(edge.search, border=new(edge.search.border), after=new(edge.search.after))
