"""R27: posts that the server says are on top now, without having been asked."""
from __future__ import annotations

from .objects import END, HEAD, Gap, Outcome, Refused, Ticket, UNKNOWN


class Pushes:
    """The feed's side: what a message may follow."""

    def begin_live(self, number=None):
        """From now on every post that comes on top is pushed, in messages after this number."""
        self.live, self.message = self.cache.tick(), number

    def end_live(self):
        """What comes on top is not pushed any more. Numbered messages tell by themselves what was missed."""
        if self.message is None:
            self.live = None

    def push(self, answer, number=None, follows=None):
        """`number` counts the messages of a subscription; `follows` is the post directly below those pushed."""
        if self.paging == "ids":
            return Outcome("refused", "unsupported", help="check-options")
        now = self.cache.tick()
        if number is not None:
            if self.message is not None and number <= self.message:
                return Outcome("stale", "repeated", help="plan-again")
            if self.live is None or self.message is None or number > self.message + 1:
                self.live = now                                # some messages were missed, or may have been
            self.message = number
        elif self.message is not None:                         # without its number it tells not what came before it
            self.live = self.message = None
        ticket = Ticket(0, "push", self.generation, now, own=UNKNOWN, after=follows)
        return self._ingest(ticket, answer, Outcome())

    def token_covers_top(self):
        """R29. What changed since the token contains everything that came on top since the top was told."""
        return self.since is not None and self.head_as_of is not None and self.head_as_of >= self.since[1]

    def is_continuous(self, since):
        """Everything that came on top since then was pushed."""
        return self.live is not None and since is not None and since >= self.live


class Pushed:
    """The draft's side: where it goes."""

    def push(self, page):
        feed, where = self.feed, self.where()
        top = next((r for r in self.rows if isinstance(r, str)), None)
        if feed.order == "ranked":                             # the top is what the server says it is
            known = [id for id in page if id in where]
            self.out.moved += known
            self.rows_without(known)
            self.rows, where = feed._merge_gaps(self.rows), {}
            top = next((r for r in self.rows if isinstance(r, str)), None)
        fresh = [id for id in page if id not in where]
        keyed = self.has_keys(page)
        first = next((i for i, id in enumerate(page) if id in where
                      or keyed and top is not None and self.is_below(id, top)), len(page))
        risen, others = page[:first], [id for id in fresh if id not in page[:first]]
        if risen:
            self.put_on_top(risen, top, page[first:first + 1] == [top])
        self.top_told = bool(risen) or top is not None and page[:1] == [top]
        placed = list(risen)
        for id in others:
            if not keyed:
                self.out.ignored.append(id)                    # below the top, and nothing tells where
                continue
            self.splice([id], upper=None, lower=None)
            self.keep_proven_run()
            placed.append(id)
        self.accepted = placed

    def is_below(self, id, top):
        """Among equal keys the message decides: it says that the post is on top."""
        return self.key(id) < self.key(top) or self.key(id) == self.key(top) and self.feed.order != "bump"

    def put_on_top(self, page, top, shown):
        """Directly above the top only if nothing can lie between the two."""
        feed = self.feed
        joined = top is not None and feed.head.link == END and (
            shown or self.ticket.after == top and feed.order != "bump"      # it may have risen, and a name has no key
            or self.rows[0] == top and feed.is_continuous(feed.head_as_of))
        if shown and joined:
            self.shown.append(top)
        self.splice(page, upper=HEAD, lower=top if joined else None)
        if not joined:
            self.head_changed = True
            if feed.head.link != END:
                self.head = feed._edge(END)

    def lift_pushed(self, page):
        """What was pushed after this refresh was asked for, and is not on its page, lies above it."""
        feed, lifted, keyed = self.feed, [], self.has_keys(page)
        self.unlifted = self.rows
        for i, row in enumerate(self.rows):
            if isinstance(row, str) and (row in page or not self.stands_above(row, lifted)
                                         or keyed and self.key(row) <= self.key(page[0])):
                break
            lifted = self.rows[:i + 1]
        while lifted and isinstance(lifted[-1], Gap):
            lifted.pop()
        below = set(page) & set(r for r in self.rows[len(lifted):] if isinstance(r, str))
        sure = feed.message is None and feed.is_continuous(self.ticket.issued)   # a number shows only later what was missed
        if lifted and not keyed and not below and not sure:
            raise Refused("discontinuity", "plan-again")       # they may also lie below the page
        rest = self.rows[len(lifted):]
        self.lifted_from = rest[0] if lifted and rest else None
        gap = rest[0] if lifted and rest and isinstance(rest[0], Gap) else None
        self.rows = rest[1:] if gap else rest
        self.gap_below_lifted = (gap, *rest[1:2]) if gap and feed.changed > self.ticket.issued else None
        return lifted

    def stands_above(self, id, lifted):
        """It was pushed since, or was found since directly below what was."""
        return self.feed.entries[id].pushed > self.ticket.issued or \
            bool(lifted) and isinstance(lifted[-1], str) and self.is_newer(id)

    def put_above(self, lifted):
        feed = self.feed
        if not self.accepted:
            self.rows = self.unlifted
        elif lifted:
            self.lifted = [r for r in lifted if isinstance(r, str)]
            if not feed.is_continuous(self.ticket.issued) and self.rows[0] != self.lifted_from:
                lifted = lifted + [Gap(feed._link_below(lifted[-1]), feed._edge(UNKNOWN), "missed")]
                self.far_gap = True
            elif self.gap_below_lifted:                        # what was pushed since may have been evicted there
                gap, *below = self.gap_below_lifted
                up = gap.up if below == self.rows[:1] else feed._edge(UNKNOWN)
                lifted, self.far_gap = lifted + [Gap(gap.down, up, gap.why, gap.since)], True
            self.rows = lifted + self.rows
