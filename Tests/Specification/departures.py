"""The specification's model with those of our departures from it that random histories meet (Docs/decisions.md).

    departures.py ORACLE [OPTION...]     what ORACLE/fuzz.py does, with them
"""
import copy
import dataclasses
import sys

if __name__ == "__main__":
    sys.path.insert(0, sys.argv.pop(1))
import model


class Feed(model.Feed):
    def _issue(self, op, edges, wish, limit, extra=None, **fields):
        """1. Requests for bodies share a ticket only if they name the same posts."""
        return super()._issue(op, edges, wish, limit, extra=extra or fields.get("ids"), **fields)

    def plan(self, request, gap=None, direction="down", bounded=False, **options):
        """16. A request that names no bound is not bounded."""
        if request == "append" or request == "refresh" and not self.server_rows() \
                or request == "fill" and direction == "down" and self.paging in ("offset", "page"):
            bounded = False
        return super().plan(request, gap, direction, bounded, **options)

    def _link_below(self, id):
        """17. The end of a page below which something was cached is in doubt, also when that has left."""
        edge = super()._link_below(id)
        return self._as_gap_end(edge)

    def _as_tail(self, edge):
        if edge.link == model.CONFIRM_END:
            edge.link = model.MORE if self.paging in ("offset", "page") else model.UNKNOWN
        return edge

    def prune(self, *arguments, **options):
        """10. The pages that leave do so all at once."""
        if self.paging == "ids":
            return super().prune(*arguments, **options)
        trial = copy.deepcopy(self, {id(self.cache): model.Cache()})
        done = super(Feed, trial).prune(*arguments, **options)
        self.evict([post for post in self.ids() if post not in trial.entries])
        return done

    def _next_page_to_prune(self, max_entries, visible, now, ttl):
        """14. A page of which only riders are left has nothing that could leave."""
        riders = {id for id in self.ids() if self.entries[id].rider}
        stuck = {id for id in riders if riders.issuperset(self.page_entries(self.entries[id].page))}
        return super()._next_page_to_prune(max_entries, visible | stuck, now, ttl)


class Draft(model.Draft):
    def __init__(self, feed, ticket, answer, out):
        super().__init__(feed, ticket, answer, out)
        self.ends_range = ticket.bounded and answer.next == model.END
        self.without_end = dataclasses.replace(answer, next=model.UNKNOWN) if self.ends_range else answer

    def refresh(self, page):
        """16. The end of a bounded answer is that of its range."""
        if not page:
            self.answer = self.without_end
        super().refresh(page)

    def without_border(self, page, known, in_segment, border, at):
        """12. The entry that an answer is used below, because it shows it, has been seen.
        16. The end of a range casts no doubt on what lies below it."""
        whole, self.answer = self.answer, self.without_end
        found = super().without_border(page, known, in_segment, border, at)
        self.answer = whole
        self.shown += known[-1:]
        return found

    def down(self, page):
        """15. A bound that the answer itself shows elsewhere bounds nothing."""
        at = self.find(self.ticket.edges[0])
        below = self.rows[at + 1:at + 2]
        asked = self.ticket
        if at < len(self.rows) and not (below and isinstance(below[0], str)):
            self.ticket = copy.copy(asked)
            self.ticket.bounded = False
        super().down(page)
        self.ticket = asked

    def nothing_below(self, at):
        if not self.ends_range:
            return super().nothing_below(at)
        if not self.positioned:
            raise model.Refused("discontinuity")
        del self.rows[at]                                     # 16. the bounded range is empty: joined

    def splice(self, *arguments, **options):
        self.answer = self.without_end
        super().splice(*arguments, **options)

    def splice_ranked(self, *arguments, **options):
        self.answer = self.without_end
        super().splice_ranked(*arguments, **options)

    def upper_side(self, page, anchors, above):
        """17. Nor is there an end below entries."""
        if above and isinstance(above[-1], model.Gap) and page[0] in anchors and self.answer.prev == model.END:
            return above
        if self.unproven_up and self.answer.prev == model.END and any(isinstance(row, str) for row in above):
            whole = self.answer                               # 18. it does not join either
            self.answer = dataclasses.replace(whole, prev=model.UNKNOWN)
            above = super().upper_side(page, anchors, above)
            self.answer = whole
            return above
        return super().upper_side(page, anchors, above)

    def require_shown_stay(self):
        """13. No answer removes what it shows."""
        if not set(self.answer.items).isdisjoint(self.out.removed + self.removed_keep_rider):
            raise model.Refused("contradiction")


def removing_nothing_shown(place):
    def placed(self, page):
        place(self, page)
        self.require_shown_stay()
    return placed


for name in ("refresh", "down", "up", "around"):
    setattr(Draft, name, removing_nothing_shown(getattr(Draft, name)))
model.Feed, model.Draft = Feed, Draft

if __name__ == "__main__":
    import fuzz
    sys.exit(fuzz.main())
