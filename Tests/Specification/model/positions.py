"""R26: positions, and the requests of feeds that are paged by them."""
from __future__ import annotations

from .objects import CONFIRM_END, END, MORE, Search, UNKNOWN


class Positions:
    def numbered(self):
        return self.paging in ("offset", "page")

    def by_number(self):
        """Pages have a fixed size, or one that is not ours to choose: only their numbers are certain."""
        return self.paging == "page" and self.sizes != "free"

    def unit(self):
        return (self.size or self.asked or self.limit) if self.by_number() else 1

    def position(self, id):
        """The estimated position of an entry, and whether it was shown as the last row of its page."""
        spot = self.entries[id].spot
        if spot is None:
            rows = [r for r in self.server_rows() if isinstance(r, str)]
            at = rows.index(id)
            for i in range(at, -1, -1):
                if self.entries[rows[i]].spot:
                    return self.position(rows[i])[0] + at - i, False
            at += self.skipped_above
            return at, self.by_number() and (at + 1) % self.unit() == 0
        number, row, last = spot
        if not self.by_number():
            return number + row, last
        n = self.unit()
        return ((number + 1) * n - 1, True) if last else (number * n + min(row, n - 1), False)

    def _spot_at(self, position):
        position, n = max(0, position), self.unit()
        return (position // n, position % n, False)

    def _move_spots(self, ids, by):
        """Evidence that entries have moved: estimates follow, and what was seen as a page's last row is so no more.
        An entry without a place of its own follows the one above."""
        found = {id: self.position(id)[0] for id in ids if self.entries[id].spot}
        for id, at in found.items():
            self.entries[id].spot = self._spot_at(at + by)

    def _plan_at(self, start, limit):
        """The request for the rows from a position on, and what its ticket remembers."""
        self._take_limit(limit)
        if self.paging == "offset":
            plan = {"offset": start} if self.unnamed else {"offset": start, "limit": limit}
            return plan, {"start": start, "rows": self._rows_expected(limit)}
        if self.sizes == "free":
            return {"page": start // limit + self.first_page, "limit": limit}, {"start": start // limit * limit, "rows": limit}
        n = self.unit()
        plan = {"page": start // n + self.first_page}
        if self.asked:
            plan["limit"] = self.asked
        return plan, {"start": start, "rows": n, "nth": start // n}

    def _plan_numbered(self, edge, gap, limit):
        """R26. The page with the border, if something may follow there; else the page after it."""
        self._take_limit(limit)
        border = self._entry_above(edge)
        (at, last), n = self.position(border), self.unit()
        state = edge.search if edge.search and edge.search.border == border else Search(border)
        higher, floor = self._gaps_above(gap), 0
        if higher:
            floor = (self.position(self._entry_above(higher[-1].down))[0] // n + 1) * n
        again, after = edge.link == CONFIRM_END, None
        landmark = state.after if state.after in self.entries and self._leads_to(state.after, border) and not state.back \
            else None
        if higher and state.lost:
            return {"refused": "fill-first"}, None
        if state.probe is not None:
            start, claims = state.probe * n, False
        elif self.by_number():
            claims, nth = last and not state.back and not again, at // n - state.back
            if claims:
                nth = at // n + 1 + state.skip
            elif landmark and state.ended:
                nth = state.nth
            elif landmark and not state.nth + 1 < nth < state.ceiling:
                nth, claims, after = state.nth + 1 + state.skip, True, landmark
            start = nth * n
        else:
            if landmark and at >= state.ceiling:               # start with the landmark, not with the border
                at, last = self.position(landmark)[0], False
                last, after = state.stall and not state.ended, landmark if state.stall and not state.ended else None
            claims = last and (state.stall or limit == 1) and not state.back and not again
            start = at + 1 + state.skip if claims else at - state.back
        if state.back and start < max(floor, 1):               # the search reached what is above
            return ({"refused": "fill-first"}, None) if higher else self.plan("refresh", limit=limit)
        if self.paging == "page" and self.sizes == "free":
            first = at + 1 + (state.skip if claims else 0) if state.probe is None else state.probe
            again = edge.search and edge.search.ended or state.sure and not last
            return self._plan_free(edge, first, state.back, again, claims or state.probe is not None, limit,
                                   state.probe is not None, after)
        plan, position = self._plan_at(max(0, start), limit)
        own = f"page={plan['page']}" if "page" in plan else UNKNOWN
        return self._issue("down", (edge,), plan, limit, own=own, claims=claims,
                           after=after, probe=state.probe is not None, **position)

    def _plan_free(self, edge, first, back, again, claims, limit, probe, after):
        """Any size up to the limit: the border and the row below it on one page, as much as possible new."""
        fits = [(s - first % s, s) for s in range(1, limit + 1) if claims or first % s > back]
        if not fits and not back and not again:                # `again`: only if the border is still there
            claims, fits = True, [(s, s) for s in range(1, limit + 1) if first % s == 0]
        size = max(fits)[1] if fits else limit
        start = (first if fits else max(0, first - 1 - back)) // size * size
        return self._issue("down", (edge,), {"page": start // size + self.first_page, "limit": size},
                           limit, own=UNKNOWN, claims=claims and not probe, after=after, probe=probe, start=start, rows=size)

    def _plan_numbered_up(self, edge, limit):
        """R26. The page above the first entry of an open head."""
        if edge.link == END:
            return {"refused": "closed"}, None
        n, at = self.unit(), self.position(self._entry_below(edge))[0]
        if at == 0:
            return self.plan("refresh", limit=limit)
        plan, position = self._plan_at((at - 1) // n * n, limit)
        return self._issue("up", (edge,), plan, limit, own=f"page={plan['page']}",
                           claims=at % n == 0, **position)

    def _plan_verify(self, join, limit):
        """R26. Asks again for the page with the upper entry of an unverified join."""
        joins = self.unverified_joins()
        if join >= len(joins):
            return {"refused": "no-such-join"}, None
        upper, lower = joins[join]
        if self.numbered():
            at, n = self.position(upper)[0], self.unit()
            if self.by_number():
                plan, position = self._plan_at(at // n * n, limit)
            elif self.paging == "offset":
                plan, position = self._plan_at(at, limit)
            else:
                size = max(((s - (at + 1) % s, s) for s in range(1, limit + 1) if (at + 1) % s), default=(0, limit))[1]
                plan, position = {"page": at // size + self.first_page, "limit": size}, \
                                 {"start": at // size * size, "rows": size}
            return self._issue("verify", (), plan, limit, extra=(upper, lower), join=(upper, lower),
                               own=f"page={plan['page']}" if self.by_number() else UNKNOWN, **position)
        page = self.pages.get(self.entries[upper].page)
        if self.paging not in ("cursor", "pages"):
            return {"refused": "unsupported"}, None
        if not page or page.own in (UNKNOWN, END, CONFIRM_END, MORE):
            return {"refused": "no-link"}, None                # or the server refused it (R32)
        return self._issue("verify", (), {"link": page.own}, limit, extra=(upper, lower), join=(upper, lower), own=page.own)
