"""R7, R8, R18: an answer at the head, below a border, above one, or anywhere."""
from __future__ import annotations

from dataclasses import replace

from .objects import ECHO_PAGES, END, Gap, HEAD, MORE, Refused, Search, UNKNOWN


class Placing:
    def refresh(self, page):
        """R7. Nothing lies above the first item of a refresh answer."""
        feed = self.feed
        rows_have_entries = any(isinstance(r, str) for r in self.rows)
        if not page:
            if rows_have_entries:                             # I8: never wipe on an empty answer
                return self.blank_head()
            return self.no_entries_yet(0)
        if self.takes_above(page):
            self.head, self.note = feed._edge(feed.head.link), "replan"
            self.head.search = Search("", sure=True)          # once more, from the first page on
            return
        self.head_changed = True
        self.head, lifted = feed._edge(END), self.lift_pushed(page)
        if feed.order == "ranked":
            self.splice_ranked(page, upper=None)
        else:
            self.splice(page, upper=HEAD, lower=self.bound(page, -1))
        self.put_above(lifted)

    def blank_head(self):
        """R7. A page without entries at the head of a numbered list that goes on: the next page is asked for."""
        feed, ticket, answer = self.feed, self.ticket, self.answer
        state = feed.head.search or Search("")
        more = answer.next == MORE or bool(self.out.opaque) or (answer.total or 0) > (ticket.start or 0)
        if answer.next == END or not more or not feed.numbered() or ticket.start is None:
            raise Refused("empty-confirm" if answer.next == END and not ticket.start else "empty")
        self.head, blanks = feed._edge(feed.head.link), state.blanks + 1
        self.head.search = replace(state, skip=(ticket.start + self.blank_rows()) // feed.unit(), blanks=blanks)
        self.note = "drift" if blanks % ECHO_PAGES else "no-progress"

    def blank_rows(self):
        """How many rows a page without entries speaks for: by offset a server may grant fewer than asked for."""
        feed, rows = self.feed, self.ticket.rows
        if feed.paging == "page" or feed.sizes != "unknown":
            return rows
        return self.out.opaque or min(rows, feed.most or rows)

    def takes_above(self, page):
        """R7. Below pages without entries, the answer would take away what is cached above what it shows: I8 asks for
        that twice."""
        state, where = self.feed.head.search, self.where()
        first = next((where[id] for id in page if id in where), 0)
        return bool(self.ticket.start) and not (state and state.sure) and \
            any(isinstance(r, str) and r not in page for r in self.rows[:first])

    def no_entries_yet(self, blanks):
        """R7. Nothing is cached, and the answer holds no entries: what it leads to comes next."""
        feed, ticket, link = self.feed, self.ticket, self.answer.next
        if ticket.op == "down" and (link == UNKNOWN or link == ticket.own or link in self.tail.tried_links):
            raise Refused("empty" if link == UNKNOWN else "no-progress")
        self.rows, tried_links = [], self.tail.tried_links + (ticket.own,) if ticket.op == "down" else ()
        self.tail = feed._edge(link, tried_links=tried_links)
        if ticket.op == "refresh":                            # R2: of two refreshes only the first to arrive counts
            self.head = feed._edge(END)                       # nothing lies above a first page
        if link == MORE and feed.numbered() and ticket.start is not None:
            step = (ticket.start + ticket.rows) // feed.unit()
            self.tail.search = Search("", skip=step, blanks=blanks + 1)
            if (blanks + 1) % ECHO_PAGES == 0:
                self.note = "no-progress"

    def second(self, page):
        """R7. The page that a first page without entries led to: nothing lies above it."""
        feed = self.feed
        if feed.server_rows():
            raise Refused("stale")                            # everything above moved away
        if not page:
            return self.no_entries_yet(self.tail.search.blanks if self.tail.search else 0)
        if feed.order == "ranked":
            return self.splice_ranked(page, upper=None)
        self.splice(page, upper=HEAD, lower=None)

    def down(self, page):
        """R8. The answer continues below the border entry u."""
        feed, out = self.feed, self.out
        at = self.find(self.ticket.edges[0])
        above = [r for r in self.rows[:at] if isinstance(r, str)]
        if not above:
            return self.second(page)
        if self.is_jump(page):
            return self.splice(page, upper=None, lower=None)  # R9: the border rose within what the answer shows
        if self.is_elsewhere(page, at):
            return self.place_anew(page)
        self.require_border()
        border = above[-1]
        start_of_segment = max((i for i, r in enumerate(self.rows[:at]) if isinstance(r, Gap)), default=-1)
        in_segment = {r for r in self.rows[start_of_segment + 1:at]}
        known_above = [id for id in page if id in set(above)]
        if border in page:
            cut = page.index(border) + 1
            rest, skipped = page[cut:], page[:cut]
            self.shown.append(border)
        else:
            rest, skipped = page, []
            if feed.order != "ranked" and (known_above or self.ticket.overlapping):
                border, rest, skipped = self.without_border(page, known_above, in_segment, border, at)
                if border is None:
                    return
        if feed.order == "ranked":
            rest = [id for id in rest if id not in set(above)]
        elif any(id in set(above) for id in rest):
            raise Refused("contradiction")                    # R10
        if feed.order == "stable" and any(self.key(id) >= feed.entries[border].key for id in rest):
            raise Refused("contradiction")
        out.ignored += [id for id in skipped if id not in feed.entries]
        if not rest:
            return self.nothing_below(at)
        if feed.order == "ranked":
            return self.splice_ranked(rest, upper=border)
        lower = self.bound(rest, at)
        against = self.require_below(border, rest, page)
        self.unproven = self.may_skip() and border not in page and lower is None
        self.join(rest, border, lower)
        if against and self.accepted:
            self.claim_between(border, self.accepted[0], "disorder")

    def require_below(self, border, rest, page):
        """R8. In a bump feed a border may have risen unseen: a page whose keys are all above the border's does not lie
        below where it stood. Returns true if the first one is."""
        feed = self.feed
        keys, limit = [self.key(id) for id in rest], feed.entries[border].key
        if feed.order != "bump" or border in page or limit is None or None in keys:
            return False
        if min(keys) > limit:
            raise Refused("discontinuity")
        return keys[0] > limit

    def is_elsewhere(self, page, at):
        """R26.9. In a feed read by links that are positions, the answer contradicts what is cached: the numbering had
        put something into the wrong place, or the numbers have moved on."""
        feed = self.feed
        if not self.ticket.claims or any(isinstance(r, Gap) for r in self.rows[:at]):
            return False                                      # R10: that gap is filled first
        border = self.border_at(at)
        known = [border] if border in page else [id for id in page if id in set(self.rows[:at])]
        if known:
            return self.is_misplaced(page, known[-1], at)
        return feed.order == "stable" and bool(page) and self.key(page[0]) >= feed.entries[border].key and \
            any(id not in feed.entries for id in page)

    def begins_above(self, page, at):
        """R26.9. Upwards, by a link that is a position, in a stable feed: the answer lies above the upper side of the gap,
        or begins above it and shows nothing known."""
        upper, known = at > 0 and self.rows[at - 1], self.where()
        if not (self.ticket.claims and self.feed.order == "stable" and page and isinstance(upper, str)):
            return False
        key = self.feed.entries[upper].key
        return self.key(page[-1]) > key or self.key(page[0]) > key and not any(id in known for id in page)

    def is_misplaced(self, page, last, at):
        """R26.10. A keyless answer shows, above the last entry that it shares with the segment, what is cached below
        that, or the other way round."""
        where, cut = self.where(), page.index(last)
        return self.feed.order in ("keyless", "append-only") and (any(where.get(id, -1) > at for id in page[:cut]) or
                                                                     any(-1 < where.get(id, -1) < at for id in page[cut + 1:]))

    def place_anew(self, page):
        """R26.10. As a jump: by the order of the page itself, or by its keys."""
        self.contradicts = True
        self.splice(page, upper=None, lower=None)

    def join(self, rest, border, lower=None):
        """R8; R26: where only a position says that the rest follows the border, the join is unverified."""
        feed, unverified = self.feed, self.ticket.claims and border not in self.shown
        if unverified and feed.strict and all(id in self.where() for id in rest):
            raise Refused("no-progress")                      # nothing but the numbering joins them
        self.splice(rest, upper=border, lower=lower)
        if unverified and self.accepted:
            self.claim_between(border, self.accepted[0])

    def claim_between(self, upper, lower, why="numbering"):
        """R25. Neighbours that no answer has shown together: unverified, or in strict feeds a gap."""
        feed, at = self.feed, self.rows.index(lower)
        if at == 0 or self.rows[at - 1] != upper:
            return
        if not feed.strict:
            self.claims.setdefault(lower, why)
            return
        link = MORE if feed.numbered() else self.ticket.own
        up = self.ticket.op == "up"
        self.rows.insert(at, Gap(feed._edge(UNKNOWN if up and link != MORE else link),
                                 feed._edge(link if up and link != MORE else UNKNOWN), why))
        self.far_gap = True

    def is_jump(self, page):
        """R9. The answer shows that its border rose, and stands on anchors of its own."""
        feed, border = self.feed, self.feed._border_of(self.ticket)
        return feed.order == "bump" and border in self.out.moved and self.has_keys(page) and \
            any(id in self.where() for id in page) and (self.ticket.overlapping or self.ticket.start is not None)

    def bound(self, page, at):
        """R8. The entry directly above which a complete bounded answer lies; None if there is none: the
        answer shows that it has moved, or went on below it and shows what is cached there; or it may have
        risen, and the answer ended where it is now (bump)."""
        rows, where = self.feed.server_rows(), self.where()
        if not self.ends_range or self.feed.order == "bump" or any(id in where for id in page):
            return None
        bound = rows[0] if at < 0 else self.feed._border_below(self.ticket.edges[1])
        return bound if bound in where else None

    def is_doubtful(self):
        """R9. An answer without its border may begin elsewhere: in keyless feeds the border may have died
        somewhere else, and a loose link begins beyond it."""
        return self.feed.order == "keyless" or self.ticket.loose

    def may_skip(self):
        """R9. A server that filters a page after cutting it leads on below what it left out."""
        return self.is_doubtful() or self.feed.order in ("stable", "bump") and not self.ticket.minted \
            and not self.feed.numbered() and self.feed.paging != "pages"

    def is_beyond(self, id, end, side):
        """Not within the page's keys, where it would have been shown (side 1: above its first item, -1: below its
        last)."""
        if None in (self.key(id), self.key(end)) or self.feed.order not in ("stable", "bump"):
            return True
        return (self.key(id) - self.key(end)) * side > 0

    def would_hide(self, id, border):
        """R9. Seen later than the border, or than its link was given; what arrived meanwhile is kept in any case."""
        return self.seen_later(id, border) and (self.is_doubtful() or not self.is_newer(id))

    def seen_later(self, id, border):
        """R9. Another answer than the border's showed it, perhaps of a later moment: what the border's answer
        knew is as of when it was asked for, not of when it arrived."""
        entry, border = self.feed.entries[id], self.feed.entries[border]
        return entry.confirmed > border.as_of and entry.confirmed != border.confirmed

    def require_border(self):
        """R8. A border that this very answer shows elsewhere is no place to attach to."""
        if self.feed._border_of(self.ticket) in self.out.moved:
            raise Refused("discontinuity")

    def without_border(self, page, known, in_segment, border, at):
        """R9. The answer lacks the border entry although it should contain it, or shows entries from
        above it.  Returns the entry the rest of the answer continues below, or None when done."""
        feed, ticket = self.feed, self.ticket
        if any(id not in in_segment for id in known):
            raise Refused("contradiction")                    # R10
        if not known:
            after = ticket.after
            if after in in_segment:
                if page:
                    return after, page, []                    # it does start below a known entry
                if after == border:                           # what lay between was deleted meanwhile
                    self.nothing_below(at)
                    return None, [], []
                if self.answer.next == END:
                    return self.doubt_below(after)
                self.positioned, self.stands_at = False, after
                self.nothing_below(at)
                return None, [], []
            raise Refused("discontinuity")
        last = known[-1]
        rest = page[page.index(last) + 1:]
        if ticket.minted and (len(known) < len(page) or self.answer.next in (UNKNOWN, END)):
            return self.distrust_link(border), [], []         # R32.3: the border is not where it is cached
        if len(known) < len(page) and not ticket.overlapping and not ticket.claims:
            raise Refused("discontinuity")                    # it claimed to start below the border
        self.shown.append(last)                               # it is alive: nothing seen before doubts it
        if rest:
            return last, rest, page[:page.index(last) + 1]
        self.out.ignored += [id for id in page if id not in feed.entries]
        if self.answer.next == END and ticket.overlapping:
            return self.doubt_below(last)
        self.positioned, self.stands_at = False, last
        self.nothing_below(at)
        return None, [], []

    def up(self, page):
        """R8 mirrored. The answer ends directly above the border entry v."""
        feed, out = self.feed, self.out
        at = self.find(self.ticket.edges[0])
        below = [r for r in self.rows[at + 1:] if isinstance(r, str)]
        if not below:
            raise Refused("stale")
        if self.begins_above(page, at):                       # the numbers have moved on: fill this gap from above
            self.rows[at].up, self.note = feed._edge(UNKNOWN), "replan"
            return
        self.require_border()
        border, below_set = below[0], set(below)
        if border in page:
            cut = page.index(border)
            rest = page[:cut]
            self.shown.append(border)
            out.ignored += [id for id in page[cut:] if id not in feed.entries]
        else:
            rest = page
            known = [id for id in page if id in below_set]
            if known and len(known) == len(page):
                rest, self.positioned = [], False
            elif known:
                raise Refused("discontinuity")
            elif self.ticket.overlapping:
                raise Refused("discontinuity")
        if any(id in below_set for id in rest):
            raise Refused("contradiction")
        if feed.order == "stable" and any(self.key(id) <= feed.entries[border].key for id in rest):
            raise Refused("contradiction")
        if not rest:
            return self.nothing_above(at, border)
        self.head_changed = self.head_changed or at < 0
        self.unproven_up = (self.may_skip() or feed.order == "bump") and border not in page
        self.splice(rest, upper=None, lower=border)
        if self.ticket.claims and border not in self.shown and self.accepted and not self.note:
            self.claim_between(self.accepted[-1], border)

    def nothing_above(self, at, border):
        feed, link = self.feed, self.answer.prev
        gap = self.rows[at] if at >= 0 else None
        edge = gap.up if gap else self.head
        if link == UNKNOWN:
            raise Refused("empty")
        if link == END and not self.positioned:
            raise Refused("discontinuity")
        if link == END:
            if gap and (not self.ticket.bounded or self.is_doubtful() and border not in self.shown):
                gap.up, self.note = feed._edge(UNKNOWN), "replan"     # R8: fill this gap from above
            elif gap:
                del self.rows[at]                             # nothing lives between: joined
            else:
                self.head = feed._edge(END)
            return
        if link == edge.link or link in edge.tried_links:
            raise Refused("no-progress")
        follow = feed._edge(link, after=None if self.positioned else border,
                            tried_links=edge.tried_links + (edge.link,),
                            loose=self.is_loose(0, border) or (edge.loose and not self.shown))
        if gap:
            gap.up = follow
        else:
            self.head = follow

    def around(self, page):
        """R18. A jump knows neither what is above nor what is below its answer."""
        if not page:
            raise Refused("empty")
        known = [id for id in page if id in self.where()]
        if any(isinstance(r, str) for r in self.rows) and not known:
            keys = [self.key(r) for r in self.rows if isinstance(r, str)]
            if self.key(page[0]) is None or None in keys:
                raise Refused("island")                       # cannot be ordered: keep it detached
        self.splice(page, upper=None, lower=None)
        self.keep_proven_run()

    def keep_proven_run(self):
        """R18. In feeds with keys, an end of the page that falls into a proven run, and leads nowhere, opens no gap."""
        feed, rows, answer = self.feed, self.rows, self.answer
        if feed.order not in ("stable", "bump") or not self.accepted:
            return
        rows[:] = feed._merge_gaps(rows)  # a post that rose may have stood alone between two gaps
        upper, lower = (side | self.inside for side in self.proven_before())
        at = rows.index(self.accepted[-1]) + 1
        if at < len(rows) and isinstance(rows[at], Gap) and rows[at + 1] in lower and answer.next == UNKNOWN \
                and -1 not in self.parted:
            del rows[at]
        at = rows.index(self.accepted[0]) - 1
        if at > 0 and isinstance(rows[at], Gap) and rows[at - 1] in upper and answer.prev == UNKNOWN \
                and 0 not in self.parted:
            del rows[at]
        first, last = rows.index(self.accepted[0]), rows.index(self.accepted[-1])
        beside = any(isinstance(r, Gap) for r in rows[max(0, first - 1):last + 2])
        if not beside and 0 < first and last < len(rows) - 1:
            self.inside |= set(self.accepted)
        self.far_gap = self.far_gap and beside

    def proven_before(self):
        """The upper and the lower entries of the joins that were proven before this answer."""
        feed, moved = self.feed, {*self.out.moved, *self.gone_for_good}
        before = feed._merge_gaps(r for r in feed.server_rows() if r not in moved)
        unverified = feed._carry_claims(feed.rows, before, moved)
        proven = [(a, b) for a, b in zip(before, before[1:])
                  if isinstance(a, str) and isinstance(b, str) and b not in unverified]
        return {a for a, _ in proven}, {b for _, b in proven}
