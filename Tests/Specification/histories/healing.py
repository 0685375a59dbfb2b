"""A quiet server and an obedient client: the cache must become equal to the server."""
import picture
from model import END

from .modes import KEYED, Failure


class Healing:
    def heal(self):
        """A quiet server and an obedient client: the cache must become equal to the server."""
        self.pending = []
        if self.mode in ("ranked", "append-only"):
            return 0
        budget = 60 + 4 * (len(self.server.alive) + len(self.feed.ids()))
        spent, refreshed, reach = 0, False, 5
        request = {"request": "refresh"}
        while spent < budget:
            spent += 1
            outcome = self.heal_once(request)
            self.check("heal")
            if outcome == "empty-confirm" and not self.server.alive:
                return 0                                        # an empty server: reset() is manual
            if outcome == "discontinuity" and self.is_numbered():
                continue                                        # the planner looks further up
            if outcome in ("contradiction", "discontinuity", "stale", "refused", "no-progress", "empty"):
                reach *= 2
                request = {"request": "refresh", "limit": reach}
                continue
            if self.feed.gaps():
                request = {"request": "fill", "gap": 0, "limit": 5}
            elif self.feed.head.link != END:
                request = {"request": "refresh", "limit": 5}
            elif self.feed.tail.link != END or any(e.placeholder and not e.detached for e in self.feed.entries.values()):
                request = {"request": "append", "limit": 5}
            elif not refreshed:
                refreshed = True
                request = {"request": "refresh", "limit": 5}
            else:
                break
        got = [r for r in self.feed.server_rows() if isinstance(r, str)]
        dead = [id for id in got if id not in set(self.server.alive)]
        want = [id for id in self.server.alive if id in set(got) or id not in self.hidden]
        if spent >= budget:
            raise Failure(f"heal: no convergence after {spent} requests: {picture.show(self.feed)} "
                          f"against {self.server.alive}")
        return spent, dead, [id for id in want if id not in set(got)]

    def heal_once(self, request):
        self.labels += 1
        label = f"t{self.labels}"
        request = dict({"limit": 5}, **request)
        seen = self.step(dict(request, op="plan", **{"as": label}))
        if seen["ticket"] is None:
            return "refused"
        ticket = self.runner.tickets[label]
        job = {"label": label, "plan": seen["plan"], "op": ticket.op, "limit": request["limit"],
               "bounded": False, "seed": 0, "ready": None}
        answer, facts = self.answer_for(job["plan"], job["op"], job["limit"])
        facts["raw"] = list(answer["items"])
        if self.mode in KEYED:
            answer["keys"] = {id: facts["position"][id] for id in facts["raw"]}
        job["ready"] = (answer, facts)
        self.deliver(job)
        return self.last_outcome
