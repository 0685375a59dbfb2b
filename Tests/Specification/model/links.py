"""Edges and their links: where they come from (R16), and what becomes of them when their border leaves (R14)."""
from __future__ import annotations

from dataclasses import replace

from .objects import CONFIRM_END, END, Edge, Gap, HEAD, MORE, UNKNOWN, WORDS


class Links:
    def _edge(self, link, after=None, tried_links=(), loose=False):
        self._edge_numbers += 1
        return Edge(link, self._edge_numbers, after, tried_links, loose=loose)

    def _renewed(self, edge, link, loose=False):
        """The bordering page was fetched again: take its link unless it says nothing new."""
        if link == UNKNOWN and self.paging == "keyset" and edge.overlapping and edge.link in WORDS:
            return self._edge(UNKNOWN if edge.link == HEAD else edge.link)      # R32: the border is there after all
        if link == UNKNOWN or (link == edge.link and not edge.overlapping):
            return edge
        return self._edge(link, loose=loose)

    def _page_of(self, id):
        """None also for an entry that this very answer has placed before."""
        entry = self.entries.get(id)
        return entry and self.pages.get(entry.page)

    def _link_below(self, id):
        """R16. The edge to continue below an entry, copied from the page that borders it."""
        page = self._page_of(id)
        ends_here = page and page.last == id
        if self.numbered():                                    # only recorded pages have links (R24)
            linked = ends_here and page.own not in WORDS and page.next not in WORDS
            return self._edge(page.next if linked else MORE)
        if ends_here and page.next != UNKNOWN:                 # something was cached below it: no end
            return self._edge(CONFIRM_END if page.next == END else page.next, loose=page.loose_below)
        if self.paging == "keyset":
            return self._edge(UNKNOWN)                         # minted from the border when needed
        link, after, loose = self._nearest_link(id)
        return self._edge(link, after, loose=loose)

    def _nearest_link(self, border):
        """R16. The link of the nearest page that ends at or above the border in its segment; at the
        top of the feed the head request.  Returns (link, entry it continues below, whether it is loose)."""
        rows = self.server_rows()
        at = rows.index(border) if border in rows else -1
        if at < 0:
            return UNKNOWN, None, False
        while at >= 0 and isinstance(rows[at], str):
            page = self._page_of(rows[at])
            if page and page.last == rows[at] and page.next not in (UNKNOWN, END):
                return page.next, (None if rows[at] == border else rows[at]), page.loose_below
            at -= 1
        if at < 0 and self.head.link == END:
            return HEAD, border, False
        return UNKNOWN, None, False

    def _link_above(self, id):
        page = self._page_of(id)
        if page and page.first == id and page.prev not in (UNKNOWN, END):
            return self._edge(page.prev, loose=page.loose_above)
        return self._edge(UNKNOWN)

    @staticmethod
    def _as_gap_end(edge):
        """The same edge seen as the upper side of a gap: an end with entries below is in doubt."""
        if edge.link == END:
            edge.link = CONFIRM_END
        return edge

    def _as_tail(self, edge):
        """R11. What spoke against an end has left: it is asked for again, not believed."""
        if edge.link == CONFIRM_END:
            edge.link = MORE if self.numbered() else UNKNOWN
        return edge

    def _leads_to(self, after, border):
        """True while `after` lies above the border in the same segment; a detached entry lies in none."""
        entry = self.entries.get(after)
        return entry is not None and not entry.detached and \
            any(after in run and border in run and run.index(after) < run.index(border) for run in self.segments())

    def _edge_holders(self):
        yield self.head, None
        for row in self.rows:
            if isinstance(row, Gap):
                yield row.down, row
                yield row.up, row
        yield self.tail, None

    def _border_of(self, ticket):
        rows = self.server_rows()
        edge = next(e for e, _ in self._edge_holders() if e.number == ticket.edges[0])
        return self._border(edge, -1 if ticket.op == "down" else 1) if rows else None

    def _has_gap_above(self, ticket):
        """True if the request attached to a border below a gap (for an upward request its own)."""
        if ticket.op not in ("down", "up"):
            return False
        rows = self.rows[:self.rows.index(self._border_of(ticket))] if self.server_rows() else []
        return any(isinstance(row, Gap) for row in rows)

    def _border_below(self, number):
        """The entry below the edge with this number."""
        return self._entry_below(next(e for e, _ in self._edge_holders() if e.number == number))

    def _entry_above(self, edge):
        return self._border(edge, -1)

    def _entry_below(self, edge):
        return self._border(edge, +1)

    def _border(self, edge, step):
        rows = self.server_rows()
        if edge is self.tail:
            return rows[-1]
        if edge is self.head:
            return rows[0]
        for i, row in enumerate(rows):
            if isinstance(row, Gap) and (row.down is edge or row.up is edge):
                return rows[i + step]
        raise KeyError(edge.number)

    def _forget_border(self, id):
        """A page whose first or last entry left no longer knows where its links begin."""
        page = self._page_of(id)
        if page and page.last == id:
            page.last = None
        if page and page.first == id:
            page.first = None

    def _borders(self):
        """Edge number -> the entry it borders on."""
        rows = self.server_rows()
        if not rows:
            return {}
        borders = {self.head.number: rows[0], self.tail.number: rows[-1]}
        for i, row in enumerate(rows):
            if isinstance(row, Gap):
                borders[row.down.number], borders[row.up.number] = rows[i - 1], rows[i + 1]
        return borders

    def _rederive(self, before, gone=()):
        """R14. A link that began at an entry which left does not begin at its neighbour: something
        may have been inserted between the two since.  Such an edge gets the nearest proven link."""
        after = self._borders()

        def again(edge, link_of):
            known = edge.after is None and edge.link not in WORDS
            number = edge.number
            if known and number in before and after[number] != before[number]:
                return link_of(after[number])
            if edge.after in gone:
                return link_of(after[number])
            if link_of == self._link_below and edge.link in (UNKNOWN, CONFIRM_END) and before.get(number) in gone \
                    and not self.numbered():
                self._edge_numbers += 1                        # a request may be on its way with the border's link
                return replace(edge, number=self._edge_numbers)
            return edge

        if after:
            self.head = again(self.head, self._link_above)
            self.tail = self._as_tail(again(self.tail, self._link_below))
        for gap in self.gaps():
            gap.down = again(gap.down, self._link_below)
            gap.up = again(gap.up, self._link_above)
