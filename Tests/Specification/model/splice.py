"""R6, R9, R10, R22: a page replaces a window of the cache."""
from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from .objects import CONFIRM_END, END, Gap, HEAD, MORE, Refused, UNKNOWN


class Splice:
    def splice(self, page, upper, lower):
        """R7-R9. Replace a window of the cache by the page.

        upper: HEAD (nothing above), an id (it is directly above), None (unknown)
        lower: an id (it is directly below), None (unknown)
        """
        feed, out = self.feed, self.out
        page = self.choose_anchors(page)
        if not page:
            return
        self.doubt_risen(page)
        self.doubt_equal_keys(page, upper, lower)
        self.doubt_claimed(page, upper)
        rows, where = self.rows, self.where()
        anchors = [id for id in page if id in where]
        in_page = set(page)

        # the window: from the known boundary or the first anchor, to the last anchor or boundary
        top = 0 if upper == HEAD else where[upper] + 1 if upper else None
        bottom = where[lower] if lower else None
        start = top if top is not None else where[anchors[0]] if anchors else None
        end = bottom if bottom is not None else where[anchors[-1]] + 1 if anchors else None
        if start is None and end is None:
            start = end = self.place_below(self.ticket.after) \
                if self.ticket.op == "recorded" and (self.unordered or not self.has_keys(page) or self.fits_below(page)) \
                else self.place_for_key(self.key(page[0]))
        elif start is None:
            start = end
        elif end is None:
            end = start
        rerun = self.ticket.op == "recorded" and rows[start:end] == page
        if feed.order in ("stable", "bump") and not self.unordered and not rerun:  # a page speaks for its key interval
            keys = [self.key(r) if isinstance(r, str) else None for r in rows]
            high, low = self.key(page[0]), self.key(page[-1])
            total = feed.order == "stable"                    # no two posts share a key: both ends included
            if bottom is None and low is not None:
                for i in range(start, len(rows)):             # up to the first one that is lower
                    if keys[i] is not None and (keys[i] > low or total and keys[i] == low):
                        end = max(end, i + 1)
                    elif keys[i] is not None and i >= end:
                        break
            if top is None and high is not None:
                for i in range(end - 1, -1, -1):
                    if keys[i] is not None and (keys[i] < high or total and keys[i] == high):
                        start = min(start, i)
                    elif keys[i] is not None and i < start:
                        break
        above, window, below = rows[:start], rows[start:end], rows[end:]

        # entries of the window that the page does not show
        missing = [r for r in window if isinstance(r, str) and r not in in_page]
        if self.unproven:                                     # seen later than the border, above all that is shown
            doubtful = rows[start:where[anchors[0]] if anchors else end]
            if any(isinstance(r, str) and r not in in_page and self.is_beyond(r, page[0], 1)
                   and self.would_hide(r, upper) for r in doubtful):
                return self.distrust_link(upper)
        if self.unproven_up:
            doubtful = rows[where[anchors[-1]] + 1 if anchors else start:end]
            if any(isinstance(r, str) and r not in in_page and self.is_beyond(r, page[-1], -1)
                   and (feed.order == "bump" or self.would_hide(r, lower)) for r in doubtful):
                gap = self.rows[self.find(self.ticket.edges[0])]
                gap.up = feed._edge(UNKNOWN, tried_links=gap.up.tried_links + (self.ticket.own,))
                self.note = "replan"                          # fill this gap from above
                return
        blind = feed.order == "append-only" or self.ticket.op == "recorded"      # absence proves nothing
        kept = [r for r in missing if self.is_newer(r) or blind]
        self.leave([r for r in missing if r not in kept])
        out.kept += kept

        # the lower side of the page
        if bottom is None:
            below = self.lower_side(page, anchors, above, window, below)
        # the upper side of the page
        if top is None:
            above = self.upper_side(page, anchors, above)
        self.rows = self.put_back(above + page + below, rows, kept, page[0], page[-1])
        if self.ticket.op == "recorded" and feed.order in ("stable", "bump"):
            self.reopen(rows, set(kept))
        self.accepted = page
        if (feed.numbered() or feed.paging == "pages") and self.ticket.op != "recorded":
            self.doubt_kept()
        self.require_order_around(page)

    def require_order_around(self, page):
        """R6. In a stable feed a page that does not fit between its neighbours is a contradiction."""
        if self.feed.order != "stable":
            return
        line = [r for r in self.rows if isinstance(r, str)]
        line = line[max(0, line.index(page[0]) - 1):line.index(page[-1]) + 2]
        keys = [self.key(r) for r in line if self.key(r) is not None]
        if any(a <= b for a, b in zip(keys, keys[1:])):
            raise Refused("contradiction")

    def distrust_link(self, border):
        """R9. The border may have died: start the next request above it."""
        feed, at = self.feed, self.find(self.ticket.edges[0])
        if feed.numbered():
            self.put_edge(at, self.again(at, border, sure=True))
            self.beyond, self.note = (border, None), "replan"
            return
        page = feed.pages.get(feed.entries[border].page)
        if page and page.last == border:
            page.last = None
        edge = feed._link_below(border)
        if feed.paging == "keyset" and edge.link == UNKNOWN:     # minted from the border it would be the same request
            edge = feed.minted_above(feed._border_of(self.ticket), self.ticket.after)
        if at < len(self.rows):
            self.rows[at].down = edge
        else:
            self.tail = edge
        self.note = "replan"

    def put_back(self, rows, old_rows, kept, first, last):
        """R9. A kept entry goes directly above its nearest surviving neighbour below, else below the one above; in a
        feed with keys its key decides. The search begins above the page, at the nearest row whose key none exceeds."""
        highest = max((self.key(id) for id in kept if self.key(id) is not None), default=0)
        top = next((r for r in rows[rows.index(first)::-1] if isinstance(r, str) and r != first
                    and self.key(r) is not None and self.key(r) >= highest), None) if kept else None
        for id in reversed(kept):
            entries = [r for r in rows[rows.index(top) if top else 0:] if isinstance(r, str)]
            if self.feed.order in ("stable", "bump") and self.key(id) is not None:
                lower = next((r for r in entries if self.key(r) is not None and (self.key(r) < self.key(id)
                              or r == last and self.key(r) == self.key(id))), None)
            else:
                later = old_rows[old_rows.index(id) + 1:]
                lower = next((r for r in later if isinstance(r, str) and r in entries), None)
            if lower is not None:
                rows.insert(rows.index(lower), id)
                continue
            upper = next((r for r in reversed(old_rows[:old_rows.index(id)]) if r in entries), None)
            rows.insert(rows.index(upper) + 1 if upper else 0, id)
        return rows

    def reopen(self, before, kept):
        """R25.3. A gap beside a kept entry stays: the page should have shown that entry and did not, so it proves
        nothing about the gap. If the gap is beside the page now as well, it becomes two gaps."""
        feed, before = self.feed, self.feed._merge_gaps(before)
        for upper, gap, lower in zip(before, before[1:], before[2:]):
            if not isinstance(gap, Gap) or not (upper in kept or lower in kept) or lower not in self.rows:
                continue
            at = self.rows.index(lower)
            if at == 0 or self.rows[at - 1] != upper:
                continue
            if any(isinstance(r, Gap) and (r.down.number == gap.down.number or r.up.number == gap.up.number)
                   for r in self.rows):
                gap = Gap(feed._link_below(upper), feed._link_above(lower), "missing-page")
            self.rows.insert(at, gap)

    def choose_anchors(self, page):
        """R6. Known ids in cache order are anchors; the others have moved."""
        where = self.where()
        known = [id for id in page if id in where]
        keep = {known[i] for i in longest_increasing([where[id] for id in known])}
        strays = [id for id in known if id not in keep]
        if strays and self.feed.order == "append-only" and not self.was_claimed(known):
            raise Refused("contradiction", "check-options")
        newer = [id for id in strays if self.is_newer(id)]    # a later answer placed them: leave them
        moved = [id for id in strays if id not in newer]
        self.out.ignored += newer
        self.out.moved += moved
        self.rows_without(moved)
        return [id for id in page if id not in set(newer)]

    def doubt_equal_keys(self, page, upper, lower):
        """R6. A key tells a post's place in a bump feed, but not among equal keys. If a post with the key of the
        page's last is cached above that, and the page does not show it, it may be below: the last is no anchor. The same
        mirrored at the first. A page that delivered both has told their order."""
        feed, where = self.feed, self.where()
        anchors = [id for id in page if id in where]
        if feed.order != "bump" or self.unordered or self.ticket.op == "recorded" or not anchors:
            return
        start = 0 if upper == HEAD else where[upper] + 1 if upper else where[anchors[0]]
        end = where[lower] if lower else where[anchors[-1]] + 1
        in_page, guessed = set(page), set()

        def may_be_beyond(id, anchor):
            a, b = feed.entries[id], feed.entries[anchor]
            return id not in in_page and self.key(id) == self.key(anchor) \
                and (a.page != b.page or not a.page)

        for id in anchors:
            if self.is_newer(id) or self.key(id) is None:
                continue
            above, below = self.rows[start:where[id]], self.rows[where[id] + 1:end]
            if lower is None and self.key(id) == self.key(page[-1]) and \
                    any(isinstance(r, str) and may_be_beyond(r, id) for r in above):
                guessed.add(id)
                self.parted.add(-1)
            if upper is None and self.key(id) == self.key(page[0]) and \
                    any(isinstance(r, str) and may_be_beyond(r, id) for r in below):
                guessed.add(id)
                self.parted.add(0)
        moved = [id for id in anchors if id in guessed]
        self.out.moved += moved
        self.rows_without(moved)

    def doubt_claimed(self, page, upper):
        """R6, R26.10. What an append-only page lacks between its upper side and its first anchor, and what only the
        numbering put directly above that: the anchors have moved, and it stays below the page."""
        feed, where = self.feed, self.where()
        anchors = [id for id in page if id in where]
        if feed.order != "append-only" or not (feed.numbered() or feed.paging == "pages") or upper is None or not anchors \
                or self.ticket.op == "recorded":
            return
        start, first = 0 if upper == HEAD else where[upper] + 1, where[anchors[0]]
        lacking = [row for row in self.rows[start:first] if isinstance(row, str)]
        apart = first > 0 and (isinstance(self.rows[first - 1], Gap) or anchors[0] in feed.unverified)
        if not lacking or not apart or any(self.is_newer(id) for id in anchors):
            return
        self.out.moved += anchors
        self.rows_without(anchors)

    def doubt_risen(self, page):
        """R6. If a first page shows that posts rise without a larger key, an anchor below a post that the page lacks may
        be one of them: it has moved, and that post stays below the page. Keys that do not descend speak for no
        interval."""
        feed = self.feed
        if self.ticket.op != "refresh" or feed.order not in ("bump", "keyless"):
            return
        if feed.order == "bump":
            keys = [self.key(id) for id in page if self.key(id) is not None]
            self.unordered = any(a < b for a, b in zip(keys, keys[1:]))
            if not self.unordered:
                return
        if not self.out.disorder:
            return
        in_page, lacks, risen = set(page), False, []
        for row in self.rows:
            if row in in_page:
                risen += [row] if lacks and not self.is_newer(row) else []
            elif isinstance(row, str) and not self.is_newer(row):
                lacks = True
        self.out.moved += risen
        self.rows_without(risen)

    def was_claimed(self, shown):
        """R6. In a feed read by links that are positions only what lies between unverified joins is known to be in
        order: the numbering may have put a whole run into the wrong place."""
        feed, where, run, runs = self.feed, self.where(), 0, {}
        if feed.paging != "pages" and not feed.numbered():
            return False
        for row in self.rows:
            run += isinstance(row, Gap) or row in feed.unverified
            runs[row] = run
        last = {}
        for id in shown:
            if last.get(runs[id], -1) > where[id]:
                return False
            last[runs[id]] = where[id]
        return True

    def place_for_key(self, key):
        if key is None:
            return 0
        for i, row in enumerate(self.rows):
            if isinstance(row, str) and self.key(row) < key:
                return i
        return len(self.rows)

    def lower_side(self, page, anchors, above, window, below):
        feed, link = self.feed, self.answer.next
        joined = page[-1] in anchors
        if joined and not self.is_whole():
            link = UNKNOWN                                    # it continues below an entry that moved
        ends, loose = link == END, self.is_loose(-1, page[-1])
        if not any(isinstance(r, str) for r in below):
            self.tail = feed._renewed(self.tail, link, loose) if joined else feed._edge(link, loose=loose)
            return []
        first = below[0]
        confirmed = isinstance(first, Gap) and joined and ends and \
            (first.down.number == self.ticket.confirms)
        outrun = any(self.is_newer(r) for r in below if isinstance(r, str))
        if ends and (feed.trust_end or confirmed) and not outrun:
            self.leave([r for r in below if isinstance(r, str)])
            self.tail = feed._edge(END)
            return []
        if joined and not isinstance(first, Gap) and not ends:
            return below                                      # the old adjacency still holds
        why, since = self.reason(), 0
        if isinstance(first, Gap):
            down, up, why, since, below = first.down, first.up, first.why, first.since, below[1:]
        else:
            down = None
            split = above[-1] if above and not window and isinstance(above[-1], Gap) else None
            up = split.up if split else feed._link_above(first)
        if joined and down is not None and not (ends and down.link != CONFIRM_END):
            down = down if ends else feed._renewed(down, link, loose)
        elif ends:
            down = feed._edge(CONFIRM_END)
        else:
            down = feed._edge(link, loose=loose)
        if feed.numbered() and down.link == UNKNOWN:
            down.link = MORE
        self.far_gap = True
        return [Gap(down, up, "end-in-doubt" if ends and not since else why, since)] + below

    def reason(self):
        """Why a gap beside this page exists."""
        if self.contradicts:
            return "contradiction"
        return {"around": "jump", "recorded": "missing-page", "verify": "contradiction",
                "push": "missed"}.get(self.ticket.op, "unfetched")

    def upper_side(self, page, anchors, above):
        feed, link = self.feed, self.answer.prev
        joined, loose = page[0] in anchors, self.is_loose(0, page[0])
        has_entries = any(isinstance(r, str) for r in above)
        if joined:
            if not has_entries:
                self.head = feed._renewed(self.head, link, loose)
            elif isinstance(above[-1], Gap) and link != END:   # there is no end below entries
                above[-1] = replace(above[-1], up=feed._renewed(above[-1].up, link, loose))
            return above
        if not has_entries:
            self.head = feed._edge(link, loose=loose)
            if self.ticket.start == 0 and feed.numbered():
                self.head = feed._edge(END)                   # R26: the first page lies at the head
            self.head_changed = True
            return []
        if link == END and self.ticket.op == "up" and self.ticket.bounded and \
                not (self.unproven_up and (self.is_doubtful() or feed.order == "bump")):
            return above[:-1] if isinstance(above[-1], Gap) else above
        up = feed._edge(UNKNOWN if link == END else link, loose=loose)
        self.far_gap = True
        if isinstance(above[-1], Gap):
            return above[:-1] + [replace(above[-1], up=up)]
        return above + [Gap(feed._link_below(above[-1]), up, self.reason())]

    def splice_ranked(self, page, upper, beyond=False):
        """R22. Ranked feeds: a page proves its own order and nothing else. Beyond a missing page: R24."""
        feed, out = self.feed, self.out
        where, rows = self.where(), self.rows
        start = where[upper] + 1 if upper else 0
        if beyond and start < len(rows) and isinstance(rows[start], Gap):
            start += 1                                        # the far side of the gap
        run = page[-min(feed.min_run, len(page)):]
        at = where.get(run[0], -1)
        consecutive = at >= start and rows[at:at + len(run)] == run
        displaced = [r for r in rows[start:at if consecutive else start]
                     if isinstance(r, str) and r not in set(page)]
        joined = consecutive and not displaced
        out.moved += [id for id in page if id in where and not (joined and id in run)]
        in_page = set(page)
        above = rows[:start]
        rest = [r for r in rows[at + len(run) if joined else start:]
                if not (isinstance(r, str) and r in in_page)]
        while not joined and len(rest) > 1 and isinstance(rest[0], Gap) and isinstance(rest[1], Gap):
            rest.pop(0)
        out.displaced += displaced if not joined else []
        if beyond:
            above = self.upper_side(page, run if joined else [], above)
        below = self.lower_side(page, run if joined else [], above, [True], rest)
        self.rows = above + page + below
        self.accepted = page


def longest_increasing(values):
    """Indices of a longest increasing subsequence, O(n log n).

    Of several, the one ending at the smallest value, and so on backwards (see R6)."""
    tails, tail_values, previous = [], [], [None] * len(values)
    for i, value in enumerate(values):
        pile = bisect_left(tail_values, value)
        previous[i] = tails[pile - 1] if pile else None
        if pile == len(tails):
            tails.append(i)
            tail_values.append(value)
        else:
            tails[pile], tail_values[pile] = i, value
    chain, i = [], tails[-1] if tails else None
    while i is not None:
        chain.append(i)
        i = previous[i]
    return chain[::-1]
