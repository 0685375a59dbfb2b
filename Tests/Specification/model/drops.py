"""R32: the server refuses a link for good."""
from __future__ import annotations

from .objects import CONFIRM_END, END, HEAD, HELP, Outcome, UNKNOWN, WORDS


class Drops:
    def drop_link(self, ticket):
        """The link of this ticket is dead. Nothing that is cached changes, only where the next request begins."""
        self._name_ticket(ticket)
        reason = self._stale_reason(ticket)                    # R2
        if ticket.op == "delta" and (self.since is None or self.since[0] != ticket.own):
            reason = reason or "edge-changed"                  # another token is kept by now
        self.cancel(ticket)
        if reason:
            return Outcome("stale", reason, help=HELP["stale"])
        if not self._has_link(ticket):
            return Outcome("error", "no-link", help=HELP["error"])
        ticket.used = True
        {"down": self._drop_down, "up": self._drop_up, "verify": self._drop_own,
         "delta": self._drop_token}[ticket.op](ticket)
        return Outcome("replan", help=HELP["replan"])

    @staticmethod
    def _has_link(ticket):
        """A link that was kept. No place keeps one that was minted upwards, the head request, or a number."""
        if ticket.op == "delta":
            return True
        minted_up = ticket.op == "up" and ticket.minted
        return ticket.op in ("down", "up", "verify") and ticket.start is None and ticket.own not in WORDS and not minted_up

    def _drop_token(self, ticket):
        self.since = None

    def _drop_own(self, ticket):
        """The page above the join cannot be asked for again by its own link."""
        page = self._page_of(ticket.join[0])
        if page and page.own == ticket.own:
            page.own = UNKNOWN

    def _drop_up(self, ticket):
        edge = self._edge_of(ticket)
        border = self._entry_below(edge)
        page = self._page_of(border)
        if page and page.first == border and page.prev == ticket.own:
            page.prev = UNKNOWN
        self._put(edge, self._edge(UNKNOWN))

    def _drop_down(self, ticket):
        edge = self._edge_of(ticket)
        if not self.server_rows():                             # R7: the page that a first page without entries led to
            self._put(edge, self._edge(UNKNOWN))
            return
        run = self._run_above(self._entry_above(edge))
        minted = self.paging == "keyset" and ticket.own.startswith("<")
        if not minted:
            self._forget_next(run, ticket)
        start = self._next_start(run, ticket.after) if minted else None
        if start:
            self._put(edge, self._edge(edge.link, after=start))
        else:
            self._put(edge, self._fallback(edge, run[-1], minted or ticket.after))

    def _fallback(self, edge, border, higher):
        """R16, as if the border had been deleted. `higher`: what begins at the border was refused before."""
        if self.paging == "keyset":
            if not higher:
                return self._edge(UNKNOWN)
            link, after, loose = self._nearest_link(border)
            if link == UNKNOWN:                                # in the middle of the feed: the gap above is filled first
                link, after = HEAD, border
            return self._edge(link, after, loose=loose)
        if edge.link == CONFIRM_END:                           # the link was looked up; the end is in doubt as before
            return self._edge(CONFIRM_END)
        below = self._link_below(border)
        return self._as_tail(below) if edge is self.tail else below

    def minted_above(self, border, after):
        """The edge whose link is minted further up than at `after`, else from the border; at last the head request."""
        start = self._next_start(self._run_above(border), after)
        return self._edge(UNKNOWN, after=start) if start else self._edge(HEAD, border)

    @staticmethod
    def _next_start(run, after):
        """The entry from which the next link is minted: 1, 3, 7, ... above the border, at last the topmost."""
        last = len(run) - 1
        tried = run.index(after) if after in run else last
        return run[max(0, tried - (last - tried) - 1)] if tried > 0 else None

    def _forget_next(self, run, ticket):
        """The page forgets the link. Links die with age: if this one was taken up above the border, so do all pages
        of the segment but the youngest, and that one, too, if it is the page."""
        start = ticket.after or run[-1]
        refused = self._page_of(start)
        if not refused or refused.last != start or refused.next != ticket.own:
            return                                             # an answer brought it that placed nothing
        if not ticket.after:
            refused.next = UNKNOWN
            return
        ending = [page for id in run if (page := self._page_of(id)) and page.last == id and page.next != END]
        youngest = max((page.number for page in ending if page.next != UNKNOWN), default=None)
        for page in ending:
            if page.number != youngest or page is refused:
                page.next = UNKNOWN

    def _run_above(self, border):
        """The entries of the border's segment down to it."""
        rows = self.server_rows()
        at = first = rows.index(border)
        while first > 0 and isinstance(rows[first - 1], str):
            first -= 1
        return rows[first:at + 1]

    def _edge_of(self, ticket):
        return next(edge for edge, _ in self._edge_holders() if edge.number == ticket.edges[0])

    def _put(self, old, new):
        if old is self.head:
            self.head = new
        elif old is self.tail:
            self.tail = new
        for gap in self.gaps():
            gap.down = new if gap.down is old else gap.down
            gap.up = new if gap.up is old else gap.up
