"""R26: the answers of feeds paged by offset or number."""
from __future__ import annotations

from dataclasses import replace

from .objects import CONFIRM_END, ECHO_PAGES, END, Gap, MORE, Refused, Search, UNKNOWN


class Numbers:
    def numbered(self, page):
        """R26. The answer to a page number, or to an offset inside the caller's limit."""
        feed, out, answer, ticket = self.feed, self.out, self.answer, self.ticket
        at = self.find(ticket.edges[0])
        above = [r for r in self.rows[:at] if isinstance(r, str)]
        if not above:
            return self.second(page)
        if self.is_jump(page):
            return self.splice(page, upper=None, lower=None)
        if feed._border_of(ticket) in out.moved:
            return self.search_above(at, above[-1])
        border = above[-1]
        start = max((i for i, r in enumerate(self.rows[:at]) if isinstance(r, Gap)), default=-1)
        segment = set(self.rows[start + 1:at])
        known = [id for id in page if id in segment]
        foreign = [id for id in page if id in set(above) - segment]
        if not page:
            return self.blank(at, border)
        if feed.order == "ranked":
            rest = [id for id in page if id not in set(above)]
            return self.splice_ranked(rest, upper=border) if rest else self.moves_on(at, border, (known + foreign)[-1])
        last = border if border in page else known[-1] if known else None
        if last is None and foreign:                          # the estimate is too small: these stand above the gap
            return self.moves_on(at, border, foreign[-1])
        if last is None:
            return self.nothing_known(page, at, border)
        if feed.order == "keyless" and any(self.where().get(id, -1) > at for id in page[:page.index(last)]):
            return self.place_anew(page)
        last = self.false_claim(page, last) or last
        rest = page[page.index(last) + 1:]
        out.ignored += [id for id in page[:page.index(last)] if id not in feed.entries]
        if rest:
            higher = self.where()[last]                       # they stood above, or in another segment
            strays = [id for id in rest if id in set(above) and (id not in segment or self.where()[id] < higher)]
            rest = self.lift(strays, rest)
        if rest:
            self.shown.append(last)
            return self.splice(rest, upper=last, lower=None)
        if answer.next == END:
            self.shown.append(last)
            return self.number_end(at) if last == border else self.doubt_below(last)
        self.moves_on(at, border, last)

    def false_claim(self, page, last):
        """R26. The upper entry of an unverified join that the page shows with something else below it: the answer is
        used from there on."""
        feed = self.feed
        rows = [r for r in self.rows if not isinstance(r, Gap)]
        below = dict(zip(rows, rows[1:]))
        return next((a for a, b in zip(page, page[1:]) if below.get(a) in feed.unverified and below[a] != b
                     and page.index(a) < page.index(last) and below[a] in page), None)

    def nothing_known(self, page, at, border):
        """R26. An answer that shows nothing known above its end: joined by the numbering, or not at all."""
        feed, ticket, edge = self.feed, self.ticket, self.edge_at(at)
        if ticket.probe:                                      # there is more, far below: the numbers go on
            self.put_edge(at, self.again(at, border, echo=None, probe=None, solid=True))
            self.note = "drift"
            return
        if feed.order in ("stable", "bump") and self.has_keys(page) and any(id not in feed.entries for id in page) and \
                self.key(page[0]) >= feed.entries[border].key:
            return self.splice(page, upper=None, lower=None)  # R25.3: the keys decide
        if not ticket.claims:
            return self.search_above(at, border)
        where = self.where()
        anchors = [where[id] for id in page if id in where and where[id] > where[border]]
        between = self.rows[at:min(anchors)] if anchors else []
        if any(isinstance(r, str) for r in between) and not (edge.search and edge.search.sure):
            self.put_edge(at, self.again(at, border, sure=True))
            self.beyond = (border, None)                      # ask for the border again before anything is removed
            self.note = "replan"
            return
        self.join(page, ticket.after if ticket.after in where else border)

    def again(self, at, border, **changes):
        """The edge with what this answer has shown; its number is new."""
        feed, old = self.feed, self.edge_at(at)
        edge = feed._edge(MORE)
        state = old.search if old.search and old.search.border == border else Search(border)
        edge.search = replace(state, **changes)
        self.fresh.append(edge)
        edge.suspect = old.suspect or old.link == CONFIRM_END
        return edge

    def rest_search(self):
        """R26. A refresh is the last step of a search upwards: what it shows is a landmark. Any other search goes on
        where it was if known entries tell how far everything has moved."""
        at = next((i for i, r in enumerate(self.rows) if isinstance(r, Gap)), len(self.rows))
        for i in self.edges():
            edge = self.edge_at(i)
            state = edge.search
            if not state:
                continue
            last, is_there = self.accepted[-1], self.border_at(i) == state.border
            if is_there and self.landmarks and i not in self.tops:
                continue
            mine = i == at and is_there and last != state.border and state.back
            renewed = self.again(i, state.border)
            renewed.link = edge.link
            renewed.search = Search(state.border, after=last, ceiling=state.ceiling) if mine else None
            self.put_edge(i, renewed)

    def searches_at_top(self):
        """R26. Those searches upwards that have no page left to ask for but the first. Positions are still those of
        all entries, also of those that this answer removes."""
        def is_at_top(state):
            at = self.feed.position(state.border)[0]
            return state.back and (at // self.feed.unit() if self.feed.by_number() else at) - state.back < 1
        states = {i: self.edge_at(i).search for i in self.edges()}
        return {i for i, state in states.items() if state and state.border in self.feed.entries
                and self.border_at(i) == state.border and is_at_top(state)}

    def edges(self):
        """The rows of all gaps, and the tail."""
        return [i for i, r in enumerate(self.rows) if isinstance(r, Gap)] + [len(self.rows)]

    def forget_searches(self):
        """R26. Entries were placed and others seen where they are: searches elsewhere begin anew."""
        for i in self.edges():
            edge = self.edge_at(i)
            if edge.search and edge not in self.fresh and edge.link != END:
                renewed = self.feed._edge(edge.link)
                renewed.suspect = edge.suspect
                self.put_edge(i, renewed)

    def search_above(self, at, border):
        """R26. The border is not where it should be, and no known entry tells where: look further up."""
        state, ticket = self.edge_at(at).search, self.ticket
        state = state if state and state.border == border else Search(border)
        place = ticket.nth if ticket.nth is not None else ticket.start
        self.put_edge(at, self.again(at, border, back=state.back * 2 + 1, blanks=0, skip=0, stall=False,
                                     probe=None, ended=False, ceiling=min(state.ceiling, place)))
        self.note = "discontinuity"

    def moves_on(self, at, border, last):
        """R26. Only known entries: they tell where the border is now.  The same rows under numbers far apart:
        the numbers have ended (a server that repeats its last page, or its first)."""
        feed, ticket = self.feed, self.ticket
        self.shown.append(last)
        edge, first = self.edge_at(at), next(iter(self.server_index))
        state = edge.search if edge.search and edge.search.border == border else Search(border)
        place, step = (ticket.nth, 1) if feed.by_number() else (ticket.start, ticket.rows)
        top = next(r for r in self.rows if isinstance(r, str))
        # a row that is shown where it was estimated has moved there, and repeats nothing
        unit = feed.unit() if feed.by_number() else 1
        moved = first in self.where() and feed.position(first)[0] // unit == place
        wraps = first == top and place > 0 and last != border and not moved and not state.solid
        if wraps and not ticket.claims and not ticket.probe:
            self.shown.remove(last)                           # perhaps the first page again: it tells no position
            return self.search_above(at, border)
        echo, probe = None, None
        if ticket.claims or ticket.probe or not wraps:
            echo = (first, place)
            if state.echo and state.echo[0] == first and place > state.echo[1] and not moved:
                echo = state.echo
                if place - echo[1] >= ECHO_PAGES * step:
                    if last == border:                        # the last page, whatever is asked for
                        self.ends_page = border
                        return self.number_end(at)
                    self.shown.remove(last)
                    return self.number_end(at) if last == state.after else self.seems_ended(at, border)
            if (wraps or echo is state.echo) and not state.solid:
                probe = echo[1] + ECHO_PAGES * step
        if wraps:
            self.shown.remove(last)
            self.put_edge(at, self.again(at, border, echo=echo, probe=probe))
            self.note = "drift"
            return
        changes = dict(echo=echo, probe=probe, ended=False, back=0, blanks=0, skip=0, stall=last in (border, state.after))
        if changes["stall"] and feed.paging == "page" and not feed.by_number():      # the rest of the page was empty
            changes["skip"] = max(state.skip, ticket.rows - self.server_index[last] - 1)
            changes["blanks"] = state.blanks
        elif last == border:                                  # it has moved: what was empty below it moved with it
            changes.update(skip=max(0, state.skip - 1) if feed.by_number() else state.skip, blanks=state.blanks)
        if last == border:
            self.ends_page = border
            changes.update(after=None, ceiling=float("inf"))
            if state.ended:                                   # here before and after: nothing was below it
                return self.number_end(at)
        else:
            reach = ticket.start + (ticket.rows if feed.by_number() else self.rows_seen)
            if feed.position(border)[0] >= reach:              # it was to be here, and the page may have been cut short
                reach = ticket.start + ticket.rows
            self.beyond = (border, reach)
            same = self.segment_above(border)
            if state.ended and last == state.after:
                return self.number_end(at)
            changes["lost"] = last not in same and state.ceiling < float("inf")
            if last in same:
                changes.update(after=last, nth=place)
        self.put_edge(at, self.again(at, border, **changes))
        self.note = "drift"

    def blank(self, at, border):
        """R26. A page without rows: perhaps beyond the last, perhaps filtered. One that says that more follows is no
        evidence of an end, two others in a row are. After each eight the search gives up for now."""
        feed, ticket, answer = self.feed, self.ticket, self.answer
        edge = self.edge_at(at)
        state = edge.search if edge.search and edge.search.border == border else Search(border)
        blanks = state.blanks + 1
        says_more = answer.next != UNKNOWN or (answer.total or 0) > (ticket.start or 0)
        unsaid = answer.total is None and not self.out.opaque
        if ticket.probe:                                      # nothing so far below: no echo
            self.put_edge(at, self.again(at, border, echo=None, probe=None, solid=True))
            self.note = "drift"
        elif not ticket.claims:
            self.search_above(at, border)
        elif answer.next == END or not says_more and blanks >= (2 if unsaid else ECHO_PAGES):
            self.seems_ended(at, border)
        else:
            step = 1 if feed.by_number() else self.blank_rows()
            self.put_edge(at, self.again(at, border, blanks=blanks, skip=state.skip + step))
            self.note = "drift" if blanks % ECHO_PAGES else "no-progress"

    def seems_ended(self, at, border):
        """R26. Nothing was found where the border was shown to be followed: ask for the border once more."""
        self.put_edge(at, self.again(at, border, ended=True, echo=None, probe=None))
        self.beyond, self.note = (border, None), "drift"

    def lift(self, strays, rest):
        """R6. Entries of the answer that stand on the other side of the border have moved."""
        if strays and self.feed.order == "append-only" and not self.was_claimed([id for id in rest if id in self.where()]):
            raise Refused("contradiction")
        self.out.ignored += [id for id in strays if self.is_newer(id)]
        self.out.moved += [id for id in strays if not self.is_newer(id)]
        self.rows_without(self.out.moved)
        return [id for id in rest if id not in self.out.ignored]

    def numbered_up(self, page):
        """R26. The page above the first entry of an open head."""
        feed, ticket = self.feed, self.ticket
        self.require_border()
        border = next(r for r in self.rows if isinstance(r, str))
        known = [id for id in page if id in self.where()]
        if not page:
            raise Refused("empty")
        if border in page:
            rest = page[:page.index(border)]
            self.shown.append(border)
        elif known:
            self.require_news_of(known[0])
            self.shown.append(known[0])
            self.head, self.note = feed._edge(feed.head.link), "drift"
            return
        elif ticket.claims:
            rest = page
        else:
            raise Refused("discontinuity")
        rest = self.lift([id for id in rest if id in self.where()], rest)     # they stood below the border
        if not rest:                                          # it begins with the border: look one page further up
            self.head, self.note = feed._edge(feed.head.link), "drift"
            return
        self.splice(rest, upper=None, lower=border)
        self.head_changed = True
        if self.accepted and border not in self.shown:
            self.claim_between(self.accepted[-1], border)

    def require_news_of(self, id):
        """R26. Where an entry is known to be already, the same page would be asked for again."""
        feed, row = self.feed, self.server_index[id]
        last = row == self.rows_seen - 1
        spot = (self.ticket.nth, row, last) if feed.by_number() else (self.ticket.start + row, 0, last)
        if feed.entries[id].spot == spot:
            raise Refused("no-progress")

    def verify(self, page):
        """R26. The page above an unverified join, asked for again."""
        feed, out = self.feed, self.out
        upper, lower = self.ticket.join
        where = self.where()
        at = where.get(lower)
        if upper in out.moved or lower in out.moved or upper not in where or at is None:
            raise Refused("stale")
        if not page:
            raise Refused("empty")
        above = [r for r in self.segment_above(upper) if r in set(page)]
        if upper in page:
            self.shown.append(upper)
            rest = page[page.index(upper) + 1:]
            out.ignored += [id for id in page[:page.index(upper)] if id not in feed.entries]
            if any(where.get(id, at) < where[upper] for id in rest):
                if feed.order != "keyless":
                    raise Refused("contradiction")
                return self.place_anew(page)
            if rest:
                return self.splice(rest, upper=upper, lower=None)
            if self.answer.next == END:
                return self.doubt_below(upper)
            self.was_checked = lower
            return
        if above:                                             # the join has moved to a later page
            self.shown.append(above[-1])
            self.beyond = (upper, (self.ticket.start or 0) + self.ticket.rows) if feed.numbered() else None
            if not feed.numbered():
                raise Refused("no-progress")
            self.note = "drift"
            return
        if lower in page and page.index(lower) == 0:
            self.shown.append(lower)
        self.rows.insert(at, Gap(feed._link_below(upper), feed._link_above(lower), "drift"))
        self.far_gap = True

    def move_by_push(self):
        """R27. Old entries stand lower by as many as were put above them."""
        feed, above = self.feed, 0
        for id in [r for r in self.rows if isinstance(r, str)]:
            if id in self.accepted:
                above += 1
            elif above and id in feed.entries:
                feed._move_spots([id], above)
        return {id: feed._spot_at(i) for i, id in enumerate(self.rows[:len(self.accepted)])
                if isinstance(id, str) and id in self.accepted}

    def learn_positions(self):
        """R26. What the answer shows tells where it is; what stands below moves with the last known entry shown."""
        feed, ticket, shown = self.feed, self.ticket, self.server_index
        if ticket.op in ("push", "delta") and feed.numbered():
            return self.move_by_push()
        if ticket.start is None or not feed.numbered():
            return {}
        n, k = feed.unit(), ticket.nth
        seen = {}
        for id in [*self.accepted, *self.shown]:
            if id in shown and (id not in feed.entries or feed.entries[id].as_of <= ticket.issued):
                row = shown[id]
                last = row == self.rows_seen - 1 or id == self.ends_page
                seen[id] = (k, row, last) if feed.by_number() else (ticket.start + row, 0, last)
        old = [r for r in feed.server_rows() if isinstance(r, str)]
        known = [id for id in old if id in seen and id not in self.out.moved]
        if ticket.op == "recorded":
            return seen
        for id in seen if self.lifted else ():                # R27: what was pushed since stands above
            number, row, _ = seen[id]
            seen[id] = feed._spot_at((number * n if feed.by_number() else number) + row + len(self.lifted))
        if not known:
            if ticket.op == "refresh" and self.accepted:      # at least the accepted ones are above it now
                feed._move_spots([id for id in old if id not in seen], len(self.accepted))
            return seen
        self.landmarks = True
        ref = max(known, key=lambda id: shown[id])
        was = feed.position(ref)[0]
        number, row, last = seen[ref]
        now = number + row if not feed.by_number() else (number + 1) * n - 1 if last else number * n + min(row, n - 1)
        if now != was:
            feed._move_spots([id for id in old[old.index(ref) + 1:] if id not in seen], now - was)
        return seen
