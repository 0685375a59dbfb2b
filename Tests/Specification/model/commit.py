"""What an accepted answer leaves in the feed."""
from __future__ import annotations

from .objects import END, Entry, Gap, MORE, Page, UNKNOWN


class Commit:
    def commit(self):
        feed, out, ticket = self.feed, self.out, self.ticket
        answer = self.answer
        self.keep_unplaced()
        spots = self.learn_positions()
        doubted = self.doubted_joins() if (out.disorder or out.ignored or out.moved) and ticket.op != "delta" else {}
        self.now = now = feed.cache.tick()
        if ticket.op != "push":                                # it touches nothing that a jump could undo
            feed.changed = now
        old_rows, borders, covered = feed.rows, feed._borders(), feed.token_covers_top()
        is_refresh = ticket.op == "refresh" and feed.numbered() and bool(self.accepted)
        self.tops = self.searches_at_top() if is_refresh and self.landmarks else set()
        self.write_entries(now)
        if self.accepted:
            self.store_page(now)
        if is_refresh:
            self.rest_search()
        elif self.landmarks and self.accepted:
            self.forget_searches()
        if self.head is feed.head:
            feed.head.search = None                           # R7: another answer came in between
        feed.head, feed.tail = self.head, self.tail
        if ticket.op in ("refresh", "push") and self.head_changed:
            feed.skipped_above = 0
        if self.head_changed and self.head.link == END:
            feed.head_as_of = ticket.issued if ticket.op in ("refresh", "up") and not ticket.start else None
        if self.top_told:
            feed.head_as_of = ticket.issued
        self.keep_token(covered)
        for id in self.accepted if ticket.op == "push" else self.on_top:
            feed.entries[id].pushed = now
        self.write_rows(old_rows, doubted)
        self.part_pages()
        self.write_spots(spots)
        feed._rederive(borders, set(out.moved) | set(out.removed))
        for id in out.sticky:
            if id not in feed.entries:
                feed.entries[id] = Entry(id, detached=True, confirmed=now)
                feed.cache.touch(id)
                feed._set_rows([id] + feed.rows)
        feed._drop_empty_pages()
        feed.cache.collect()
        self.judge_gaps()

    def keep_token(self, covered):
        """R29. The token of an answer that told the top is of the same moment. Any other one is of a moment before it
        arrived, as late as that; and a message may have been sent before the token was made."""
        feed, ticket, since = self.feed, self.ticket, self.answer.since
        if ticket.op == "push" and feed.since and not covered:
            feed.since = feed.since[0], self.now
        tells, covers = feed.head_as_of == ticket.issued, feed.token_covers_top()
        if since is None:
            return
        newest = not feed.since or ticket.issued >= feed.since[1]
        if not covers and (tells or newest) or newest and (tells or ticket.op == "delta"):
            feed.since = since, ticket.issued if tells else self.now

    def write_entries(self, now):
        feed, out, ticket, answer = self.feed, self.out, self.ticket, self.answer
        for id in out.removed + out.moved:
            if id in feed.entries:
                feed._forget_border(id)
        out.new = [id for id in self.accepted if id not in feed.entries
                   or feed.entries[id].detached or feed.entries[id].placeholder]
        for id in [r for r in self.rows if isinstance(r, str)]:
            if id not in feed.entries:
                placeholder = ticket.op == "snapshot" and not feed.cache.has_body(id)
                feed.entries[id] = Entry(id, placeholder=placeholder, confirmed=now)
                feed.cache.touch(id)
            feed.entries[id].detached = False
        for id in self.shown:
            feed.entries[id].confirmed, feed.entries[id].as_of = now, ticket.issued
            if ticket.op == "delta":
                feed.cache.bring_body(id)
        for id in self.accepted:
            entry = feed.entries[id]
            entry.confirmed, entry.as_of, entry.placeholder = now, ticket.issued, False
            if id in answer.keys:
                entry.key = answer.keys[id]
            feed.tombstones.pop(id, None)
            feed.cache.bring_body(id)
        for id in self.removed_keep_rider:
            feed.entries[id].detached = True
        for id in out.removed:
            del feed.entries[id]
        for id in self.gone_for_good:
            feed.tombstones[id] = now

    def write_rows(self, old_rows, doubted):
        """R25. Claims pass on, and end where this answer shows both neighbours."""
        feed = self.feed
        if feed.unverified or self.claims:
            covered = set(self.accepted) | set(self.shown) if self.ticket.op != "delta" else set()
            proven = {b for a, b in zip(self.rows, self.rows[1:]) if a in covered and b in covered}
            shows_top = feed.head_as_of == self.ticket.issued and self.ticket.op != "delta"
            if not shows_top and feed._is_top_doubted(old_rows, self.rows, set(self.out.moved)):
                feed.head_as_of = None
            carried = feed._carry_claims(old_rows, self.rows, set(self.out.moved))
            feed.unverified = {id: reason for id, reason in carried.items() if id not in proven or reason[1] > self.ticket.issued}
        for id, why in doubted.items():
            self.claim_between(self.rows[self.rows.index(id) - 1], id, why)
        feed._set_rows(feed._with_detached(self.rows, old_rows))
        rows = feed.server_rows()
        for a, b in zip(rows, rows[1:]):
            if b in self.claims and isinstance(a, str):
                feed.unverified.setdefault(b, (self.claims[b], self.now))
        feed.checked = (feed.checked | {self.was_checked}) & feed.unverified.keys()
        for gap in feed.gaps():
            gap.since = gap.since or self.now

    def part_pages(self):
        """R16. What came beside a page by another link than the page's may be where that link does not reach. Where links
        can be minted, the page forgets that its link begins there."""
        feed, placed = self.feed, set(self.accepted)
        came = placed & {*self.out.new, *self.out.moved} if feed.paging == "keyset" else ()
        for upper, lower in zip(self.rows, self.rows[1:]) if came else ():
            if lower in came and isinstance(upper, str) and upper not in placed:
                page = feed._page_of(upper)
                if page and page.last == upper and page.next != self.ticket.own:
                    page.last = None
            if upper in came and isinstance(lower, str) and lower not in placed:
                page = feed._page_of(lower)
                if page and page.first == lower and page.prev != self.ticket.own:
                    page.first = None

    def write_spots(self, spots):
        """R26. Where entries were shown, and what is known of those that were not."""
        feed = self.feed
        for id, spot in spots.items():
            if id in feed.entries:
                feed.entries[id].spot = spot
        if self.beyond and self.beyond[0] in feed.entries:
            border, least = self.beyond
            at = feed.position(border)[0]
            feed.entries[border].spot = feed._spot_at(at if least is None else max(at, least))
        if feed.by_number() and feed.head.link == UNKNOWN and feed.server_rows():
            number = feed.position(feed.server_rows()[0])[0] // feed.unit() + feed.first_page - 1
            feed.head.link = f"page={number}" if number >= feed.first_page else UNKNOWN

    def judge_gaps(self):
        """Section 8. A gap that keeps an edge is the same gap; one that was split is one of its parts."""
        feed, out = self.feed, self.out
        former = {number: i for i, gap in enumerate(self.gaps_before) for number in gap}
        survived = {former.get(g.down.number, former.get(g.up.number)) for g in feed.gaps()} - {None}
        out.closed_gaps = len(self.gaps_before) - len(survived)
        out.opened_gaps = len(feed.gaps()) - len(survived)
        if self.note:
            out.outcome = self.note
        elif self.far_gap:
            out.outcome = "gap"
        elif out.closed_gaps:
            out.outcome = "joined"

    def keep_unplaced(self):
        """R6. An entry that this answer shows elsewhere, but does not place, has not moved: it goes back to
        where it was, on its own side of the gaps there."""
        feed, placed = self.feed, self.where()
        lost = [id for id in self.out.moved if id in feed.entries and not feed.entries[id].detached
                and id not in placed]
        if not lost:
            return
        self.out.moved = [id for id in self.out.moved if id not in lost]
        old = feed.server_rows()
        for at, id in enumerate(old):
            if id not in lost:
                continue
            rows = self.rows
            above, i = 0, at - 1                              # below the nearest surviving entry above
            while i >= 0 and (isinstance(old[i], Gap) or old[i] not in rows):
                i -= 1
            above = rows.index(old[i]) + 1 if i >= 0 else 0
            if any(isinstance(row, Gap) for row in old[i + 1:at]):
                while above < len(rows) and rows[above] in self.accepted:
                    above += 1                                # it stood below what fills the gap
                if above < len(rows) and isinstance(rows[above], Gap):
                    above += 1                                # it stood below the gap
                    below = next((r for r in rows[above:above + 1] if isinstance(r, str)), None)
                    run = old[at:] + [None]
                    run = run[:next(n for n, r in enumerate(run) if not isinstance(r, str))]
                    if below is not None and below not in run:
                        rows.insert(above, Gap(feed._link_below(id), feed._link_above(below)))
                elif above == len(rows) and self.tail.link != END:
                    down = feed._edge(MORE) if feed.numbered() else self.tail
                    rows.append(Gap(down, feed._link_above(id)))
                    self.tail, self.far_gap = feed.tail, True
                    above += 1
            rows.insert(above, id)

    def store_page(self, now):
        """R16. Each accepted response becomes a page; pages left without entries are dropped."""
        feed, out, answer = self.feed, self.out, self.answer
        feed._page_numbers += 1
        page = Page(feed._page_numbers, own=self.ticket.own, fetched_at=answer.at,
                    first=self.accepted[0], last=self.accepted[-1] if self.is_whole() else None,
                    loose_above=self.is_loose(0, self.accepted[0]),
                    loose_below=self.is_loose(-1, self.accepted[-1]),
                    received=len(self.accepted) + out.in_page_duplicates,
                    new=len(out.new), in_page_duplicates=out.in_page_duplicates,
                    duplicates=len(self.accepted) - len(out.new))
        whole = len(self.accepted) == len(answer.items)        # else the far link begins at the border, not here
        if whole or self.ticket.op in ("refresh", "down", "around", "recorded"):
            page.next = answer.next
        if whole and self.ticket.op == "down" or self.ticket.op in ("up", "around"):
            page.prev = answer.prev
        feed.pages[page.number] = page
        for id in self.accepted:
            feed.entries[id].page = page.number
        out.page = page.number
