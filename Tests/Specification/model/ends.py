"""R11, R12: what the server says has ended, and answers that do not lead on."""
from __future__ import annotations

from .objects import CONFIRM_END, END, Gap, HEAD, Refused, UNKNOWN, WORDS


class Ends:
    def number_end(self, at):
        """R11 for feeds paged by position: nothing follows."""
        feed, edge = self.feed, self.edge_at(at)
        if at == len(self.rows):
            self.tail = feed._edge(END)
            self.tail.assumed = self.answer.next != END
        elif (edge.link == CONFIRM_END or edge.suspect or feed.trust_end) and not self.is_outrun(at):
            self.cut_below(at)
            self.tail.assumed = self.answer.next != END
        else:
            self.rows[at].down = feed._edge(CONFIRM_END)
            self.note = "confirm-end"

    def doubt_below(self, id):
        """R11. The server ended above the border: what follows is in doubt."""
        feed, at = self.feed, self.where()[id] + 1
        if feed.trust_end and not self.is_outrun(at):
            self.cut_below(at)
        else:
            self.rows.insert(at, Gap(feed._edge(CONFIRM_END), feed._link_above(self.rows[at]), "end-in-doubt"))
            self.note = "confirm-end"
        return None, [], []

    def nothing_below(self, at):
        """R11, R12. The answer holds nothing below the border."""
        feed, answer, ticket = self.feed, self.answer, self.ticket
        gap = self.rows[at] if at < len(self.rows) else None
        edge = gap.down if gap else self.tail
        link = answer.next
        if link == END and not self.positioned:
            raise Refused("discontinuity")
        if self.ends_range and (not self.positioned or feed.order == "bump"):
            raise Refused("discontinuity")
        if self.ends_range:
            del self.rows[at]                                 # the bounded range is empty: joined
            return
        start = self.border_at(at) if self.positioned else self.stands_at
        if link == UNKNOWN and feed.paging == "keyset" and ticket.overlapping and start in self.shown:
            went_back = not self.positioned and not self.got_on()
            if went_back and ticket.own in edge.tried_links:
                raise Refused("no-progress")
            word = edge.link if edge.link in WORDS and edge.link != HEAD else UNKNOWN
            return self.put_edge(at, feed._edge(word, None if self.positioned else start,                # R32: minted there
                                                edge.tried_links + (ticket.own,) * went_back))
        if link == UNKNOWN:
            raise Refused("empty")
        assumed = link == END and ticket.claims and self.border_at(at) not in self.shown    # R26.9
        if link == END and gap is None:
            self.tail = feed._edge(END)
            self.tail.assumed = assumed
            return
        if link == END:
            if edge.link == CONFIRM_END or edge.suspect or feed.trust_end:    # second, independent confirmation
                border = self.border_at(at)
                if self.may_skip() and border not in self.shown and \
                        any(self.would_hide(r, border) for r in self.rows[at:] if isinstance(r, str)):
                    return self.distrust_link(border)         # R9: perhaps it ends elsewhere, where the border died
                if not self.is_outrun(at):
                    self.cut_below(at)
                    self.tail.assumed = assumed
                    return
            gap.down = feed._edge(CONFIRM_END)
            self.note = "confirm-end"
            return
        tried_links = (*edge.tried_links, edge.link) if ticket.own == edge.link else (ticket.own,)       # or it was taken up above
        if link in tried_links:
            raise Refused("no-progress")                      # R12
        if self.got_on():
            tried_links = tried_links[:-1]                     # it cannot go round without going back
        border = self.border_at(at)
        loose = self.is_loose(-1, border) or (edge.loose and not self.shown)
        follow = feed._edge(link, after=None if self.positioned else self.stands_at,
                            tried_links=tried_links, loose=loose)
        follow.suspect = edge.suspect or edge.link == CONFIRM_END
        if gap:
            gap.down = follow
        else:
            self.tail = follow
        if self.positioned:                                   # the bordering page's link moves on too
            page = feed.pages.get(feed.entries[border].page)
            if page and page.last == border:
                page.next, page.loose_below = link, loose

    def got_on(self):
        """R12. The answer stands further down than where its link begins, over entries that are cached."""
        where = self.where()
        return not self.positioned and where.get(self.stands_at, -1) > where.get(self.ticket.after, len(self.rows))

    def is_outrun(self, at):
        """R11. Something below was seen by an answer that arrived after this request was planned: this older end
        removes nothing."""
        return any(self.is_newer(r) for r in self.rows[at:] if isinstance(r, str))

    def cut_below(self, at):
        """The end was confirmed: what lies below is gone."""
        self.leave([r for r in self.rows[at:] if isinstance(r, str)])
        self.rows = self.rows[:at]
        self.tail = self.feed._edge(END)
