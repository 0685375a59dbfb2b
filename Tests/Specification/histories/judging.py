"""What must hold after every event (I3, I7, order), judged by the server's truth and the answers alone."""
import math

import picture
from model import END, UNKNOWN

from .modes import INFINITY, KEYED, SOUND, Failure


class Judging:
    def forget_gaps(self):
        """A gap claims nothing: what was once known about its range no longer counts."""
        rows = self.feed.server_rows()
        if not rows and self.feed.tail.link in (END, UNKNOWN):     # else a page without entries leads on
            self.covered = []
        settled = self.settled(rows)
        open_ends = ([0] if self.feed.head.link != END else []) + \
            ([len(rows)] if self.feed.tail.link != END else [])
        for i in [i for i, row in enumerate(rows) if not isinstance(row, str)] + open_ends:
            if rows:
                high = min((self.place[r] for r in rows[:i] if r in settled), default=INFINITY)
                low = max((self.place[r] for r in rows[i:] if r in settled), default=-INFINITY)
                places = [[self.place[r] for r in part if isinstance(r, str) and r in self.place]
                          for part in (rows[:i], rows[i:])]
                high = min([high] + [p for p in places[0] if low < p < high])
                low = max([low] + [p for p in places[1] if low < p < high])
                # a gap begins where its link does, and so do the ends
                down, up = (self.feed.tail, None) if i == len(rows) else \
                    (None, self.feed.head) if isinstance(rows[i], str) else (rows[i].down, rows[i].up)
                high, low = self.gap_ends(down, up, high, low)
                for at, row in enumerate(rows):                 # also where a post that is gone stands below that
                    if not isinstance(row, str):
                        high, low = self.gap_ends(row.down if at < i else None, row.up if at > i else None, high, low)
                if low < high:
                    self.covered = [piece for a, b, time in self.covered
                                    for piece in ((a, min(b, low), time), (max(a, high), b, time))
                                    if piece[0] < piece[1]] + \
                                   [(p, p, t) for a, b, t in self.covered for p in (low, high) if a <= p <= b]
                    self.covered = list(dict.fromkeys(self.covered))

    @staticmethod
    def gap_ends(down, up, high, low):
        """What lay beside the gap was dropped when it arrived: it is known all the same."""
        if down and down.link[0] == "b":
            high = min(high, float(down.link[1:]))
        if up and up.link[0] == "a":
            low = max(low, float(up.link[1:]))
        return high, low

    def settled(self, rows):
        """Entries that are alive and have not moved since an answer last placed them."""
        alive = set(self.server.alive)
        return {r for r in rows if isinstance(r, str) and r in alive
                and self.place.get(r) == self.server.position[r]}

    def is_numbered(self):
        return self.mode in ("offset", "page")

    def border(self, job):
        ticket = self.runner.tickets[job["label"]]
        if ticket.op not in ("down", "up") or self.feed._stale_reason(ticket) or not self.place \
                or not any(isinstance(r, str) for r in self.feed.server_rows()):
            return None
        edge = next(e for e, _ in self.feed._edge_holders() if e.number == ticket.edges[0])
        return self.feed._border(edge, -1 if ticket.op == "down" else 1)

    def effective_border(self, job, before, border, raw):
        """An overlapping answer without the border speaks for what lies below the last entry above
        the border that it shows, else below the entry its link continues."""
        ticket = self.runner.tickets[job["label"]]
        if job["op"] != "down" or self.mode == "ranked" or not ticket.overlapping and ticket.start is None:
            return border
        at = before.index(border)
        if ticket.start is not None:                            # R26.3: used from an unverified join on, if it shows another
            at = next((i for i, r in enumerate(before[:at]) if r in self.claims and r in raw), at)
            border = before[at]
        above = {r for r in before[:at] if isinstance(r, str)}
        if border in raw:
            return border
        shown = [id for id in raw if id in above]
        return shown[-1] if shown else ticket.after if ticket.after in above else border

    def check_cover(self, job, before, border, seen, raw):
        """I7."""
        moved = set(seen["moved"])
        after = self.feed.server_rows()
        if border is None:
            return
        if job["op"] == "down":
            old = [r for r in before[:before.index(border) + 1] if isinstance(r, str) and r not in moved]
            new = [r for r in after[:after.index(border) + 1] if isinstance(r, str)]
            below = set(raw) & set(before[before.index(border) + 1:])
            if self.is_numbered() and (moved or below):         # R26.10: a false claim had put something below
                new = [r for r in new if r in old]
        elif job["op"] == "up":
            old = [r for r in before[before.index(border):] if isinstance(r, str) and r not in moved]
            new = [r for r in after[after.index(border):] if isinstance(r, str)]
        else:
            return
        if old != new:
            raise Failure(f"cover: {job['op']} at {border} changed {old} to {new}")

    def certify(self, job, facts, border, seen):
        """Remember which positions this answer covered, and when."""
        position, raw = facts["position"], facts["raw"]
        high, low = facts["high"], facts["low"]
        if low is not None and low == position.get(job["plan"].get("until")):
            low = math.nextafter(low, INFINITY)                 # the server stopped above it, wherever it is now
        if job["op"] == "down" and border in raw:
            high = position[border]
        if job["op"] == "up" and border in raw:
            low = position[border]
        accepted = [id for id in raw if id in self.feed.entries and self.feed.entries[id].page == seen["page"]]
        if job["op"] == "down" and "start" in facts and accepted:
            high = max(high or -INFINITY, position[accepted[0]])
        if high is not None and low is not None and low < high:
            self.covered.append((low, high, facts["now"]))
        for id in raw:
            if id in self.feed.entries and self.feed.entries[id].page == seen["page"]:
                self.place[id] = position[id]

    def check_page(self, seen, facts):
        """The accepted entries of a page are neighbours in the feed, in the order of the page."""
        accepted = [id for id in facts["raw"] if id in self.feed.entries and
                    seen["page"] is not None and self.feed.entries[id].page == seen["page"]]
        rows = [r for r in self.feed.server_rows() if isinstance(r, str)]
        kept = set(seen["kept"]) | set(facts["raw"]) - set(accepted)     # these stay where they were
        if accepted and self.mode != "ids":
            run = [r for r in rows[rows.index(accepted[0]):] if r not in kept][:len(accepted)]
            if run != accepted:
                raise Failure(f"page: {accepted} became {run}")

    def check(self, kind):
        feed, server = self.feed, self.server
        if self.mode == "ids":
            order = {id: i for i, id in enumerate(self.last_snapshot)}
            ranks = [order[r] for r in feed.server_rows() if r in order]
            if ranks != sorted(ranks):
                raise Failure("order: feed differs from snapshot")
            return
        if self.mode not in SOUND:
            return
        settled = self.settled(feed.server_rows())
        self.forgive_false_claims()
        lines = [feed.ids()] if self.mode in KEYED else self.proven_runs()
        for line in lines:
            line = [server.position[r] for r in line if r in settled]
            if any(a <= b for a, b in zip(line, line[1:])):
                raise Failure(f"order: {picture.show(feed)} against {server.alive}")
        rank = {id: i for i, id in enumerate(server.alive)}
        upper, between = None, set()
        for row in feed.server_rows():
            if not isinstance(row, str) or row in feed.unverified:     # a claim proves nothing
                upper, between = None, set()
            if not isinstance(row, str):
                continue
            if row in settled:
                if upper is not None:
                    for id in server.alive[rank[upper] + 1:rank[row]]:
                        if id not in between:                   # cached there, though it has moved since
                            self.judge(upper, row, id)
                upper, between = row, set()
            else:
                between.add(row)
        self.check_ends(settled, rank)

    def forgive_false_claims(self):
        """Section 9: what the numbering put below a wrong entry may be lost until its own place is fetched."""
        runs = self.proven_runs() if self.feed.unverified else []
        for upper, lower in zip(runs, runs[1:]):
            if upper and lower and \
                    self.server.position.get(upper[-1], INFINITY) <= self.server.position.get(lower[0], -INFINITY):
                self.hidden |= set(lower) if lower[0] in self.feed.unverified else set()
                self.hidden |= set(upper) if upper[0] in self.feed.unverified else set()

    def proven_runs(self):
        """Segments, cut where only the numbering joins two entries (R26)."""
        runs = []
        for segment in self.feed.segments():
            runs.append([])
            for row in segment:
                if row in self.feed.unverified:
                    runs.append([])
                runs[-1].append(row)
        return runs

    def check_ends(self, settled, rank):
        """Below an end, and above a closed head where keys tell places, nothing is missing either."""
        feed, alive = self.feed, self.server.alive
        runs = [[r for r in run if r in settled] for run in self.proven_runs()]
        if runs and runs[0] and feed.head.link == END and self.mode in KEYED:
            for id in alive[:rank[runs[0][0]]]:
                self.judge("head", runs[0][0], id)
        if runs and runs[-1] and feed.tail.link == END and not feed.tail.assumed:
            for id in alive[rank[runs[-1][-1]] + 1:]:
                self.judge(runs[-1][-1], "end", id)

    def judge(self, upper, lower, id):
        if id in self.hidden or self.is_numbered() and id in self.feed.entries:
            return                                              # a false claim put it elsewhere: a matter of order
        place = self.server.position[id]
        if any(self.place.get(r) == place for r in self.feed.entries if r != id):
            return                                              # two posts at one place: the server's mistake
        times = [time for low, high, time in self.covered if low <= place <= high]
        if not times or self.server.since[id] <= max(times):
            raise Failure(f"hole: {id} between {upper} and {lower} in {picture.show(self.feed)}, "
                          f"server {self.server.alive}")
