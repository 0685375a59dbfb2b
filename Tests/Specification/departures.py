"""The specification's model with those of our departures from it that random histories meet (Docs/decisions.md).

    departures.py ORACLE [OPTION...]     what ORACLE/fuzz.py does, with them
"""
import copy
import sys

if __name__ == "__main__":
    sys.path.insert(0, sys.argv.pop(1))
import model


class Feed(model.Feed):
    def _issue(self, op, edges, wish, limit, extra=None, **fields):
        """1. Requests for bodies share a ticket only if they name the same posts."""
        return super()._issue(op, edges, wish, limit, extra=extra or fields.get("ids"), **fields)

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
    def without_border(self, page, known, in_segment, border, at):
        """12. The entry that an answer is used below, because it shows it, has been seen."""
        found = super().without_border(page, known, in_segment, border, at)
        self.shown += known[-1:]
        return found

    def down(self, page):
        """15. A bound that the answer itself shows elsewhere bounds nothing."""
        at = self.find(self.ticket.edges[0])
        below = self.rows[at + 1:at + 2]
        self.asked = self.ticket
        if at < len(self.rows) and not (below and isinstance(below[0], str)):
            self.ticket = copy.copy(self.ticket)
            self.ticket.bounded = False
        super().down(page)
        self.ticket = self.asked

    def nothing_below(self, at):
        self.ticket = self.asked
        super().nothing_below(at)

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
