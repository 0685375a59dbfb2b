"""Random events on a server and a feed."""
import random

import picture
from check_scenarios import Runner
from model import END, UNKNOWN

from .healing import Healing
from .judging import Judging
from .modes import FILTERED, KEYED, MODES, UNCHANGED, Failure
from .nicknames import Nicknames
from .recording import expected
from .server import Answering, Server
from .subscription import Subscription


class History(Answering, Judging, Healing, Nicknames, Subscription):
    """Executes events against a server and a feed and checks the invariants."""

    hard = False                                                # subclasses may have a constructor of their own

    def __init__(self, mode, record=False, hard=False):
        Nicknames.__init__(self)
        self.mode, self.server, self.hard = mode, Server(), hard
        self.runner = Runner({"options": MODES[mode]})
        self.feed = self.runner.cache.feeds["main"]
        self.record, self.steps, self.last_outcome = record, [], "ok"
        self.pending, self.labels = [], 0
        self.place, self.covered = {}, []        # id -> position when last placed; certified intervals
        self.hidden = set()                      # deleted locally only
        self.last_snapshot = []

    def run(self, events):
        for kind, seed in events:
            if self.hard:
                self.connection(random.Random(seed + .5))
                self.filter_rows(random.Random(seed + .375))
                if random.Random(seed + .25).random() < .05:
                    self.name_twice(random.Random(seed + .75))
            getattr(self, kind)(random.Random(seed))
            self.forget_gaps()
            self.check(kind)

    def step(self, step):
        step = self.by_any_name(step)
        seen = self.runner.step(step)
        if step["op"] == "answer":
            self.last_outcome = seen["outcome"]
        if self.record:
            self.steps.append(dict(step, expect=expected(step, seen)))
        return seen

    def server_insert(self, rng):
        before = self.server.now
        for _ in range(rng.choice((1, 1, 2, 3, 9))):
            self.server.insert(0)
        self.announce([id for id in self.server.alive if self.server.since[id] > before])

    def server_backdate(self, rng):
        if self.server.alive and self.mode != "append-only":
            self.server.insert(rng.randint(1, len(self.server.alive)))

    def server_delete(self, rng):
        if self.server.alive and self.mode != "append-only":
            for _ in range(rng.choice((1, 1, 3))):
                if self.server.alive:
                    self.server.delete(rng.choice(self.server.alive))

    def filter_rows(self, rng):
        """The server begins, or ceases, to leave posts out of the pages that it has cut."""
        server = self.server
        if self.mode not in FILTERED or rng.random() > .15:
            return
        if server.muted and rng.random() < .5:
            at = rng.randrange(len(server.muted))
            for id in server.muted[at:at + rng.choice((1, 1, 3))]:
                server.unmute(id)
                top = next((self.place.get(r) for r in self.feed.server_rows()), None)
                if top is not None and top > server.position[id] and id not in self.feed.entries:    # not on top, and new
                    self.announce([id])
        elif server.alive:
            at = rng.randrange(len(server.alive))
            for id in server.alive[at:at + rng.choice((1, 2, 5))]:
                server.mute(id)

    def server_bump(self, rng):
        if self.server.alive and self.mode in ("bump", "ranked", "ids"):
            id = rng.choice(self.server.alive)
            at = self.server.alive.index(id)
            if self.hard and self.mode == "bump" and at > 0:    # a larger key, but not the largest
                self.server.alive.remove(id)
                if self.server.insert(rng.randint(0, at - 1), id) is None:
                    self.server.insert(0, id)
            else:
                self.server.bump(id)
            self.announce([id] if self.server.alive[0] == id else [])

    def server_shuffle(self, rng):
        if self.mode in ("ranked", "ids"):
            self.server.shuffle(rng)

    def request(self, rng):
        """Plan something; answer now or later, deliver now or later."""
        kind = rng.choice(("refresh", "append", "append", "fill", "fill", "fill", "prepend", "around"))
        step = {"request": kind, "limit": rng.choice((1, 2, 3, 5, 8))}
        if kind == "fill":
            if not self.feed.gaps():
                return
            step["gap"] = rng.randrange(len(self.feed.gaps()))
            step["direction"] = rng.choice(("down", "up"))
        if kind in ("fill", "refresh") and rng.random() < .25 and \
                self.mode in (KEYED if self.hard else ("stable", "keyset")):
            step["bounded"] = True
        if kind == "around":
            if not self.server.position:
                return
            step["target"] = rng.choice(sorted(self.server.position))
        job = self.plan(step, rng)
        if job is None:
            return
        if rng.random() < .3:                                   # slow network
            if rng.random() < .5:
                job["ready"] = self.prepare(job)
            self.pending.append(job)
            if rng.random() < .5:
                self.step({"op": "cancel", "ticket": job["label"]})
        elif rng.random() < .1:
            while job and self.refuse(job) and rng.random() < .7:
                job = self.plan(step, rng)                      # the next link is as old
        else:
            self.deliver(job)

    def plan(self, step, rng):
        """Returns the request as a job, None if there is none."""
        self.labels += 1
        label = f"t{self.labels}"
        seen = self.step(dict(step, op="plan", **{"as": label}))
        if seen["ticket"] is None:
            return None
        ticket = self.runner.tickets[label]
        return {"label": label, "plan": seen["plan"], "op": ticket.op, "limit": step["limit"],
                "bounded": ticket.bounded, "seed": rng.random(), "ready": None}

    def refuse(self, job):
        """R32: the server says that the link of this request is dead. The places stay as they are."""
        before, links = self.feed.segments(), picture.show(self.feed)
        seen = self.step({"op": "drop-link", "ticket": job["label"]})
        if self.feed.segments() != before:
            raise Failure(f"no-wipe: a dropped link changed {before} to {self.feed.segments()}")
        if seen["outcome"] != "replan" and picture.show(self.feed) != links:
            raise Failure(f"no-wipe: {seen['outcome']} changed {links} to {picture.show(self.feed)}")
        return seen["outcome"] == "replan"

    def late(self, rng):
        """A delayed answer arrives."""
        if self.pending:
            job = self.pending.pop(rng.randrange(len(self.pending)))
            self.refuse(job) if rng.random() < .08 else self.deliver(job)

    def prepare(self, job):
        rng = random.Random(job["seed"])
        for until in [job["plan"].get("until")]:
            if until is not None and until not in self.place:
                return {"error": "gone"}, None
        link = job["plan"].get("link", "")
        if link[:1] in "<>" and link[1:] and link[1:] not in self.place:
            return {"error": "gone"}, None
        answer, facts = self.answer_for(job["plan"], job["op"], job["limit"])
        luck = rng.random()
        if luck < .04:
            return {"error": "http 500", "items": answer["items"]}, None
        if luck < .07:
            return {"items": [], "next": UNKNOWN}, None         # empty and unhelpful
        if luck < .09 and job["op"] == "refresh":
            return {"items": [], "next": END}, None             # empty and wrong
        if self.hard and job["op"] == "refresh" and not self.feed.server_rows() and luck < .4:
            self.hidden |= set(answer["items"])                 # all rows of the first page are filtered away
            answer["items"] = []
        if self.hard and job["op"] == "around" and luck > .7:   # the page of one post, with nothing around it
            target = job["plan"]["around"]
            answer = {"items": [id for id in answer["items"] if id == target]}
            facts.update(low=None, high=None)
        facts["raw"] = list(answer["items"])
        fits = not self.is_numbered() or len(answer["items"]) < job["plan"].get("limit", 0)     # or sizes are not free
        if luck < .2 and answer["items"] and "ids" not in job["plan"] and fits:
            items = list(answer["items"])                       # an id twice on one page
            at = rng.randrange(len(items))
            items.insert(rng.randint(at + 1, len(items)), items[at])
            answer["items"] = items
        if self.mode in KEYED:
            answer["keys"] = {id: facts["position"][id] for id in facts["raw"]}
        if self.hard and luck > .6:
            answer["since"] = str(facts["now"])
        return answer, facts

    def deliver(self, job):
        answer, facts = job["ready"] or self.prepare(job)
        before, text = list(self.feed.server_rows()), picture.show(self.feed)
        segments = self.feed.segments()
        border, self.claims = self.border(job), {upper for upper, _ in self.feed.unverified_joins()}
        seen = self.step(dict(answer, op="answer", ticket=job["label"]))
        links = self.is_numbered() and seen["outcome"] == "discontinuity"      # section 8: links may change
        if seen["outcome"] in UNCHANGED and picture.show(self.feed) != text and \
                not (links and self.feed.segments() == segments):
            raise Failure(f"no-wipe: {seen['outcome']} changed {text} to {picture.show(self.feed)}")
        if facts is None:
            if seen["removed"]:
                raise Failure(f"no-wipe: {seen['removed']} removed by {answer}")
            return
        if seen["outcome"] in UNCHANGED or seen["outcome"] in ("drift", "confirm-end", "replan"):
            return
        if job["op"] == "snapshot":
            self.last_snapshot = facts["raw"]
        if border not in (None, *seen["moved"]):
            border = self.effective_border(job, before, border, [id for id in facts["raw"] if id not in seen["moved"]])
        if border in seen["moved"]:
            border = None                                       # the border itself came back elsewhere
        self.check_cover(job, before, border, seen, facts["raw"])
        self.certify(job, facts, border, seen)
        self.check_page(seen, facts)

    def client_delete(self, rng):
        """A post is deleted by its author here (also on the server) or only hidden here."""
        ids = [r for r in self.feed.server_rows() if isinstance(r, str)]
        if not ids or self.mode == "append-only":
            return
        id = rng.choice(ids)
        coming = [i for job in self.pending if job["ready"] for i in job["ready"][0].get("items", ())]
        if self.hard and coming:
            id = rng.choice(coming)                             # shared with another feed, say
        if rng.random() < .5 and id in self.server.alive:
            self.server.delete(id)
        else:
            self.hidden.add(id)
        self.step({"op": "delete", "id": id})

    def client_evict(self, rng):
        ids = [r for r in self.feed.server_rows() if isinstance(r, str)]
        if len(ids) > 4:
            at = rng.randrange(len(ids))
            self.step({"op": "evict", "ids": ids[at:at + rng.choice((1, 2, 4))]})

    def client_evict_page(self, rng):
        if self.feed.pages:
            self.step({"op": "evict_page", "rank": rng.randrange(len(self.feed.pages))})

    def client_prune(self, rng):
        ids = self.feed.ids()
        visible = ids[:2] if rng.random() < .5 else []
        if rng.random() < .5:
            self.step({"op": "prune_out_of_sequence", "visible": visible})
        else:
            self.step({"op": "prune", "max_entries": rng.randint(3, 12), "visible": visible,
                       "budget": rng.choice((1, 5, 99))})

    def client_local(self, rng):
        detached = [id for id in self.feed.ids() if self.feed.entries[id].detached and id.startswith("L")]
        if detached and rng.random() < .6:
            self.confirm(rng, rng.choice(detached))
        else:
            self.labels += 1
            self.step({"op": "insert_local", "id": f"L{self.labels}"})

    def client_pin(self, rng):
        ids = [id for id in self.feed.ids() if not id.startswith("L")]
        if ids:
            id = rng.choice(ids)
            self.step({"op": "unpin" if self.feed.entries[id].pinned else "pin", "id": id})

    def client_reset(self, rng):
        if rng.random() < .3:
            self.step({"op": "reset"})
            self.covered, self.place = [], {}
