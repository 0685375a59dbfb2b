"""R26: sizes of pages: what is asked for, what is learned, and what proves the stated policy wrong."""
from __future__ import annotations

from .objects import END


class Sizes:
    def _rows_of(self, answer):
        return len([id for id in answer.items if id and id not in self.sticky()])

    def _take_limit(self, limit):
        """Unknown sizes: the first limit is asked for again and again; a smaller one begins anew."""
        if self.sizes != "unknown" or not self.by_number() or self.unnamed:
            return
        if self.asked is None or limit < self.asked:
            if self.asked and (self.size or self.asked) > limit and not (self.size or 0) > self.asked:
                found = {id: self.position(id)[0] for id in self.entries if self.entries[id].spot}
                self.size, self.short, self.most = None, None, 0
                self.asked = limit
                for id, at in found.items():
                    self.entries[id].spot = self._spot_at(at)
            self.asked = limit

    def _learn_size(self, ticket, answer):
        """Rows received tell the size: more than asked for, as many, or twice the same smaller number."""
        rows = self._rows_of(answer)
        if ticket.start is not None:
            self.most = max(self.most, rows)
        if not self.by_number() or self.sizes != "unknown" or ticket.start is None or not rows:
            return
        if rows >= ticket.asked_rows or (self.size and rows > self.size):
            self.size = rows
        elif self.size is None and answer.next != END:
            if self.short and self.short[1] == rows and self.short[0] != ticket.own:
                self.size = rows
            self.short = (ticket.own, rows)

    def _rows_expected(self, limit):
        """What an answer to an offset will hold, as far as is known."""
        if self.unnamed or self.size and self.size > (self.asked or limit):
            return self.size or limit
        return min(limit, self.size or limit)

    def _disprove(self, ticket, answer):
        """An answer that the stated policy does not allow: the policy is `unknown` from now on. Returns what it was."""
        was, rows = self.sizes, self._rows_of(answer)
        if was == "unknown" or ticket.start is None or ticket.op == "recorded" or not rows:
            return None
        size = rows if rows > ticket.rows else None            # more than asked for
        if rows < ticket.rows and answer.next != END and (was == "free" or self.most < was):
            if self.short and self.short[1] == rows and self.short[0] != ticket.start:
                size = rows                                    # twice the same smaller number
            if self.short is None or rows >= self.short[1]:
                self.short = (ticket.start, rows)
        if was != "free" and self.by_number() and answer.total is not None and ticket.start >= answer.total:
            size = max(self.most, rows)                        # rows where the list should have ended
        if size is not None:
            self._forget_policy(ticket, size)
            return was
        return None

    def _forget_policy(self, ticket, size):
        """Sizes are unknown from now on: entries stay where they were seen, as far as that is certain."""
        by_number, border = self.by_number(), None
        if ticket.claims:
            border = self._border_of(ticket) if self.server_rows() else None
        found = {id: self.position(id) for id in self.entries if self.entries[id].spot}
        self.sizes, self.size, self.short, self.most = "unknown", size, None, size
        self.asked = None if self.unnamed else ticket.rows
        for edge, _ in self._edge_holders():
            edge.search = None
        if self.paging == "page" and not by_number:            # numbers meant other places than was thought
            for id, (at, last) in found.items():
                self.entries[id].spot = self._spot_at(at)[:2] + (last and (at + 1) % size == 0,)
            ticket.nth, ticket.asked_rows = ticket.start // ticket.rows, ticket.rows
            if ticket.claims:
                (at, last), after = self.position(border), ticket.after
                ticket.claims = last and after is None and at // size == ticket.nth - 1

    def _is_at_total(self, ticket, answer):
        """A known total is an explicit end, where it is certain at which row the page starts."""
        if answer.total is None or ticket.start is None or self.by_number() and not self.size:
            return False
        rows, size = len(answer.items), self.size if self.by_number() else 0
        if rows and answer.total <= ticket.start:
            return False                                      # no list has rows below its end: this is another page of it
        if ticket.start > 0 and (self.most < size if self.by_number() else self.paging == "page" and self.short):
            return not rows and answer.total <= ticket.start
        return answer.total <= ticket.start + max(rows, size if self.most >= size else 0)
