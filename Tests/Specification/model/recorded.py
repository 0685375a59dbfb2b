"""R24, R25: recorded crawls."""
from __future__ import annotations

from dataclasses import replace

from .objects import END, Gap, HEAD, MORE, Outcome, Refused, TOP, UNKNOWN


class Recorded:
    def recorded(self, page):
        """R24, R25. A page of a crawl; it should lie below ticket.after (None: at the head)."""
        feed, ticket, where = self.feed, self.ticket, self.where()
        if not page and not self.out.ignored:
            raise Refused("empty")
        if not page:
            return                                            # all of it is outdated or deleted
        known, border = [id for id in page if id in where], ticket.after
        self.all_new = not known
        keyed, top = self.has_keys(page), next((r for r in self.rows if isinstance(r, str)), page[0])
        if border == TOP and not keyed and not known:          # R25.4: the page above the open head
            self.head_changed, self.head, below = True, feed._edge(UNKNOWN), self.rows
            self.rows, self.accepted = page + below, page
            if below and isinstance(below[0], str):           # else the whole top segment has moved into the page
                self.claim_between(page[-1], below[0])
            return None
        if border is None and not (keyed and self.key(top) > self.key(page[0])):
            self.head_changed, self.head = True, feed._edge(END)         # the first page of the feed
            if feed.order == "ranked":
                return self.splice_ranked(page, upper=None)
            self.splice(page, upper=HEAD, lower=None)
            self.doubt_kept()
            return self.claim()
        if feed.order == "ranked" and border in where:
            page = [id for id in page if where.get(id, len(self.rows)) > where[border]]
            return self.record_ranked(page, border) if page else None
        above = self.segment_above(border)
        stays = self.staying(page, border, above)
        if stays:
            return self.record_below(page, border, stays)
        if not keyed and known and all(id in above for id in known):
            last = max(known, key=where.get)                  # R9: used below the last shared entry
            cut = page.index(last) + 1
            self.shown += known
            self.out.ignored += [id for id in page[:cut] if id not in where]
            page = [id for id in page[cut:] if id not in where]
            if not page:
                return self.lead_on(border, last)
            self.splice(page, upper=last, lower=None)
        else:
            self.splice(page, upper=None, lower=None)         # R18; without anchors and keys: R24
        self.doubt_kept()
        self.claim()

    def record_ranked(self, page, border):
        """R22. Below the border, or beyond the pages that are missing there (R24). No gap stays between a page and the
        one that it leads to."""
        self.splice_ranked(page, upper=border, beyond=self.ticket.beyond)
        at = self.rows.index(page[-1]) + 1
        end = next((i for i in range(at, len(self.rows)) if not isinstance(self.rows[i], Gap)), at)
        if end > at:                                          # two gaps where a segment has moved away
            below = self.feed.pages.get(self.feed.entries[self.rows[end]].page)
            if below and below.own == self.answer.next:
                del self.rows[at:end]
        first, last = self.rows.index(page[0]), self.rows.index(page[-1])
        self.far_gap = self.far_gap and any(isinstance(r, Gap) for r in self.rows[max(0, first - 1):last + 2])

    def doubt_kept(self):
        """R25.3. Without keys, an entry that stays between two which the page shows together has no proven neighbours
        there: nor have two that a gap kept apart."""
        feed, kept = self.feed, set(self.out.kept)
        if not kept or feed.order in ("stable", "bump"):
            return
        old = feed.server_rows()
        before = set(zip(old, old[1:]))
        for a, b in list(zip(self.rows, self.rows[1:])):
            if isinstance(a, str) and isinstance(b, str) and (a in kept or b in kept) and (a, b) not in before:
                self.claim_between(a, b, "disorder")

    def staying(self, page, border, above):
        """R25.5. The posts of the page that stay where they are, while the others go below the border; [] if the page
        is placed by the other rules."""
        where = self.where()
        if border in (None, TOP) or self.feed.order not in ("stable", "bump"):
            return []
        keys = [self.key(id) for id in page if self.key(id) is not None]
        known = [id for id in page if id in where]
        self.unordered, self.strays = any(a < b for a, b in zip(keys, keys[1:])), []
        if self.unordered:
            return known
        limit = self.key(border) if border in where else None
        if limit is None:
            return []
        stays = [id for id in known if where[id] < where[border]]
        strays = [id for id in page if id not in where and (self.key(id) or 0) > limit]
        if not set(stays) <= set(above) or strays and not (len(strays) <= 4 and self.has_keys(page)):
            return []
        first = min(stays, key=where.get, default=border)
        lacks = not set(above[above.index(first):-1]) <= set(page)
        if strays:
            if self.key(strays[0]) > self.key(above[0]):
                return []                                     # it belongs above the segment
            lacks = lacks or len(above) > 1 and above[-2] not in page and self.key(above[-2]) < self.key(strays[0])
        if not lacks:
            return []
        lower = [self.key(id) for id in page if id not in stays and id not in strays]
        if not lower or not all(k is not None and k <= limit for k in lower):
            return []
        self.strays = strays
        return stays + strays

    def record_below(self, page, border, stays):
        """R25.5. What is known stays; what is new and belongs further up goes to its key's place, the rest below the
        border."""
        rest, strays = [id for id in page if id not in stays], self.strays
        stays = [id for id in stays if id not in strays]
        self.stayed = stays
        if self.unordered:
            self.out.ignored += stays
            if not rest:
                return self.lead_on(border, border) if page[-1] == border else None
        else:
            self.shown += stays
        at = page.index(rest[0])
        proven = at and border not in rest and (page[at - 1] == border or not self.unordered)
        self.splice(rest, upper=border if proven else None, lower=None)
        self.claim()
        answer = self.answer
        self.answer = replace(answer, next=UNKNOWN, prev=UNKNOWN)  # its links are those of the rest
        for id in strays:
            self.splice([id], upper=None, lower=None)
            self.keep_proven_run()
            at = self.rows.index(id)                          # the page speaks for the keys between its posts
            if isinstance(self.rows[at + 1], Gap):
                del self.rows[at + 1]
            if id != page[0] and isinstance(self.rows[at - 1], Gap):
                del self.rows[at - 1]
            at = self.rows.index(id)
            self.far_gap = self.far_gap and any(isinstance(r, Gap) for r in self.rows[max(0, at - 1):at + 2])
        self.answer = answer
        self.accepted = [id for id in page if id not in stays]

    def next_of(self, id):
        page = self.feed.pages.get(self.feed.entries[id].page)
        return page.next if page else None

    def place_below(self, border):
        """R24, R25. Directly below the border, or on the far side of the gap that is there."""
        at = self.where().get(border, len(self.rows) - 1) + 1
        return at + (at < len(self.rows) and isinstance(self.rows[at], Gap))

    def fits_below(self, page):
        """R25.3. The keys do not contradict the number, wherever else they would fit: the border ends a segment, its
        key is not below the page's, and what comes after the gap there is."""
        where, border = self.where(), self.ticket.after
        at = where.get(border, -2) + 1
        if at < 0 or self.key(border) < self.key(page[0]):
            return False
        below = next((row for row in self.rows[at:] if isinstance(row, str)), None)
        return below is None or isinstance(self.rows[at], Gap) and self.key(below) < self.key(page[0])

    def lead_on(self, border, last):
        """R9. The page shows only what lies above its border: the link moves on."""
        at = self.where()[border] + 1
        edge = self.feed._edge(self.answer.next, after=None if last == border else last)
        page = self.feed.pages.get(self.feed.entries[border].page)
        if page and page.last == border == last:
            page.next = self.answer.next
        if at == len(self.rows):
            self.tail = edge
        elif isinstance(self.rows[at], Gap):
            self.rows[at].down = self.feed._as_gap_end(edge)

    def claim(self):
        """R25. Between two pages of consecutive numbers there is no gap, only an unverified join."""
        feed, rows = self.feed, self.feed._merge_gaps(self.rows)
        self.rows = rows
        if not self.accepted:
            return
        upper, lower = self.proven_before() if feed.order in ("stable", "bump") else ((), ())
        border = self.ticket.after
        follows = border in feed.entries and self.next_of(border) == self.ticket.own
        at = rows.index(self.accepted[-1]) + 1
        if at < len(rows) and isinstance(rows[at], Gap):
            below = feed.pages.get(feed.entries[rows[at + 1]].page)
            if rows[at + 1] in lower and not self.all_new:    # an entry put between these needs no gap
                del rows[at]
            elif below and below.own == self.answer.next and not feed.strict:
                self.claims.setdefault(rows[at + 1], "numbering")
                del rows[at]
        at = rows.index(self.accepted[0]) - 1
        if at > 0 and isinstance(rows[at], Gap):
            if rows[at - 1] in upper and not (self.all_new and not follows):
                del rows[at]
            elif self.ticket.own in (rows[at].down.link, self.next_of(rows[at - 1])) and not feed.strict:
                self.claims.setdefault(self.accepted[0], "numbering")
                del rows[at]
        first, last = rows.index(self.accepted[0]), rows.index(self.accepted[-1])
        self.far_gap = self.far_gap and any(isinstance(r, Gap) for r in rows[max(0, first - 1):last + 2])


class Crawl:
    """R24, R25. Feeds the pages of a crawl, one after the other, into a feed.

    Links are the numbers ("page=17"): page n leads to page n + 1 unless the answer says otherwise."""

    def __init__(self, feed):
        self.feed, self.ends = feed, {}                       # page number -> its last entry

    def add(self, number, answer):
        """`answer` is None, or has an error, when the page is missing (R24)."""
        feed = self.feed
        if answer is None or answer.error:
            return Outcome("error", answer.error if answer else "missing")
        if feed.paging == "ids":
            return Outcome("refused", "unsupported", help="check-options")
        answer = feed._named(answer)
        if answer.next in (UNKNOWN, MORE):
            answer = replace(answer, next=f"page={number + 1}")
        own = f"page={number}"
        after, beyond = (None, False) if number == feed.first_page else self.border(number, own)
        position = {"start": (number - feed.first_page) * feed.unit(), "rows": feed.unit(),
                    "nth": number - feed.first_page} if feed.by_number() else {}
        out = feed.ingest(feed._issue("recorded", (), {}, 0, own=own, after=after, beyond=beyond, extra=number,
                                       **position)[1], answer)
        if feed.head.link == UNKNOWN and feed.server_rows() and number > feed.first_page and \
                feed.server_rows()[0] == next((id for id in answer.items if id in feed.entries), None):
            feed.head = feed._edge(f"page={number - 1}")       # R25.4: only the head request closes the head
        shown = feed.last_placed if feed.last_placed is not None else [id for id in answer.items if id in feed.entries]
        if shown:
            self.ends[number] = shown[-1]
        return out

    def border(self, number, own):
        """The end of the page before; else the edge that names this page; else (R24) the edge at
        which the nearest earlier page of the run ends, else the tail.  "" in an empty feed.

        True beside it if pages are missing between the two."""
        feed, rows = self.feed, self.feed.server_rows()
        earlier = [n for n, id in self.ends.items() if n < number and id in rows]
        if number - 1 in earlier:
            return self.ends[number - 1], False
        if rows and feed.head.link == own:
            return TOP, False                                  # R25.4: directly above the open head
        for edge in [gap.down for gap in feed.gaps()] + [feed.tail]:
            if rows and edge.link == own:
                return feed._entry_above(edge), False
        at = rows.index(self.ends[max(earlier)]) if earlier else len(rows) - 1
        while at + 1 < len(rows) and isinstance(rows[at + 1], str):
            at += 1
        return rows[at] if rows else "", True
