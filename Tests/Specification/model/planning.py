"""Requests and tickets: R1, R2."""
from __future__ import annotations

from .objects import CONFIRM_END, END, HEAD, Ticket, UNKNOWN, WORDS


class Planning:
    def plan(self, request, gap=None, direction="down", bounded=False, limit=None, link=None,
             target=None, ids=()):
        """R1. Returns (request description, ticket) or ({'refused': reason}, None)."""
        limit, ids = limit or self.limit, tuple(map(self.cache.name, ids))
        if self.paging == "ids" and request != "delta":
            return self._plan_ids(request, limit, ids)
        if request == "bodies":                                # of no post a body is missing
            return {"refused": "end" if self.rows else "empty"}, None
        if request == "delta":
            return self._plan_delta(limit)
        if request == "refresh":
            plan = {"link": link or HEAD}
            position = {}
            if self.numbered() and link in (None, HEAD):
                self._take_limit(limit)
                start = self.head.search.skip * self.unit() if self.head.search else 0         # R7
                plan, position = self._plan_at(start, limit)
            bounded = bounded and bool(self.server_rows())     # R8: without a bound it is not bounded
            if bounded:
                plan["until"] = self.server_rows()[0]
            return self._issue("refresh", (self.head,), plan, limit, own=link or HEAD, bounded=bounded, **position)
        if request == "verify":
            return self._plan_verify(gap or 0, limit)
        if request == "around":
            if self.order == "ranked":
                return {"refused": "unsupported"}, None
            if self.by_number() and str(target).startswith("page="):
                self._take_limit(limit)
                plan, position = self._plan_at((int(target[5:]) - self.first_page) * self.unit(), limit)
                return self._issue("around", (), plan, limit, own=target, extra=target, **position)
            target = self.cache.name(target)
            return self._issue("around", (), {"around": target}, limit, own=UNKNOWN, extra=target)
        if request == "prepend":
            return self._plan_up(self.head, None, bounded, limit)
        if request == "append":
            return self._plan_down(self.tail, None, bounded, limit)
        if request == "fill":
            gaps = self.gaps()
            if gap is None or gap >= len(gaps):
                return {"refused": "no-such-gap"}, None
            found = gaps[gap]
            if direction == "up":
                return self._plan_up(found.up, found, bounded, limit)
            return self._plan_down(found.down, found, bounded, limit)
        raise ValueError(request)

    def _plan_down(self, edge, gap, bounded, limit):
        if not self.server_rows():
            return self._plan_second(edge, limit)
        if edge.link == END:
            return {"refused": "end"}, None
        if any(g.down.link == CONFIRM_END and g is not gap for g in self._gaps_above(gap)):
            return {"refused": "fill-first"}, None             # everything below is in doubt
        if self.numbered():
            return self._plan_numbered(edge, gap, limit)
        bounded = bounded and gap is not None
        edges = (edge, gap.up) if bounded else (edge,)
        link, after, border, minted = edge.link, edge.after, self._entry_above(edge), None
        loose = edge.loose
        if link in (UNKNOWN, CONFIRM_END) and self.paging == "keyset":
            after = after if after and self._leads_to(after, border) else None      # R32
            link, minted = "<" + (after or border), None if after else border
        elif link in (UNKNOWN, CONFIRM_END, HEAD) or (after and not self._leads_to(after, border)):
            link, after, loose = self._nearest_link(border)
            if link == HEAD == edge.link and edge.number < self.head.number and self.paging == "keyset":
                top = self.server_rows()[0]                     # R32: the head was asked for since
                link, after, minted = "<" + top, (None, top)[top != border], (None, border)[top == border]
        claims = self.paging == "pages"                         # R26: a position, not a place
        overlapping = after is not None
        if link == UNKNOWN:
            return {"refused": "fill-first" if self._first_gap() not in (None, gap) else "no-link"}, None
        if link == HEAD:                                       # no page ends above the border
            return self._issue("refresh", (self.head,), {"link": HEAD}, limit, own=HEAD,
                               confirms=edge.number if edge.link == CONFIRM_END else None)
        plan = {"link": link}
        if overlapping:
            plan["overlapping"] = True
        if bounded:
            plan["until"] = self._entry_below(gap.up)
        return self._issue("down", edges, plan, limit, own=link, overlapping=overlapping,
                           bounded=bounded, after=after, minted=minted, loose=loose, claims=claims)

    def _plan_delta(self, limit):
        """R29. What has changed since the last answer that said how to ask for it."""
        if self.since is None:
            return {"refused": "no-link"}, None
        return self._issue("delta", (), {"since": self.since[0]}, limit, own=self.since[0])

    def _plan_second(self, edge, limit):
        """R7. The first page held no entries, but led on."""
        if self.numbered() and edge.search:
            plan, position = self._plan_at(edge.search.skip * self.unit(), limit)
            return self._issue("down", (edge,), plan, limit,
                               own=f"page={plan['page']}" if self.by_number() else UNKNOWN, **position)
        if edge.link in WORDS:
            return {"refused": "empty"}, None
        return self._issue("down", (edge,), {"link": edge.link}, limit, own=edge.link)

    def _plan_up(self, edge, gap, bounded, limit):
        if not self.server_rows():
            return {"refused": "empty"}, None
        if self.by_number() and gap is None and self.order != "ranked":
            return self._plan_numbered_up(edge, limit)
        if self.order == "ranked" or self.numbered():
            return {"refused": "no-link" if gap is None and self.order != "ranked" else "unsupported"}, None
        link, minted = edge.link, None
        if gap is None and link == END and self.paging != "keyset":
            return {"refused": "closed"}, None                 # nothing is open: refresh instead
        if link in (UNKNOWN, END):
            if self.paging != "keyset":
                return {"refused": "no-link"}, None
            minted = self._entry_below(edge)
            link = ">" + minted
        edges = (edge, gap.down) if bounded and gap else (edge,)
        plan = {"link": link}
        if edge.overlapping:
            plan["overlapping"] = True
        return self._issue("up", edges, plan, limit, own=link, overlapping=edge.overlapping,
                           bounded=bounded, minted=minted, loose=edge.loose,
                           claims=self.paging == "pages")

    def _gaps_above(self, gap):
        gaps = self.gaps()
        return gaps[:gaps.index(gap)] if gap in gaps else gaps

    def _first_gap(self):
        return next(iter(self.gaps()), None)

    def _issue(self, op, edges, plan, limit, extra=None, **fields):
        """Two identical requests on the same edge share one ticket; requests for bodies are identical
        only if they name the same posts (R21 takes a post that the answer lacks for gone)."""
        numbers = tuple(edge.number for edge in edges)
        same = (op, numbers, extra, limit, fields.get("bounded"), fields.get("own"), fields.get("start"),
                fields.get("ids"))
        ticket = self.open_tickets.get(same)
        if ticket is None:
            self._ticket_numbers += 1
            ticket = Ticket(self._ticket_numbers, op, self.generation, self.cache.tick(),
                            edges=numbers, **fields)
            ticket.asked_rows = self.asked or ticket.rows
            ticket.sizes = self.sizes
            self.open_tickets[same] = ticket
        return plan, ticket

    def cancel(self, ticket):
        """The caller gave up waiting.  A late answer is still judged by its ticket."""
        self.open_tickets = {k: t for k, t in self.open_tickets.items() if t is not ticket}

    def _stale_reason(self, ticket):
        """R2. What makes an answer unusable."""
        if ticket.used:
            return "used"
        if ticket.generation != self.generation:
            return "reset"
        living = {edge.number for edge, _ in self._edge_holders()}
        if any(number not in living for number in ticket.edges):
            return "edge-changed"
        if ticket.minted and ticket.minted != self._border_of(ticket):
            return "edge-changed"                              # the link was made from another border
        if ticket.join and ticket.join not in self.unverified_joins():
            return "edge-changed"
        if ticket.start is not None and ticket.sizes != self.sizes:
            return "sizes-changed"                             # its number means another place now
        if ticket.op == "around" and self.changed > ticket.issued:
            return "feed-changed"                              # a jump names no edge
        return None

    def _plan_ids(self, request, limit, ids):
        """R21. refresh = fetch the id list, append/fill = fetch bodies of missing ids in order,
        bodies = fetch those of the ids named, as far as they are missing."""
        if request == "refresh":
            return self._issue("snapshot", (self.head,), {"snapshot": True}, limit)
        if request not in ("append", "fill", "bodies"):
            return {"refused": "unsupported"}, None
        asked = dict.fromkeys(ids) if request == "bodies" else self.server_rows()
        missing = tuple(id for id in asked if id in self.entries and self.entries[id].placeholder)[:limit]
        if not missing:
            return {"refused": "end" if self.rows else "empty"}, None
        return self._issue("ids", (self.head,), {"ids": list(missing)}, limit, ids=missing)
