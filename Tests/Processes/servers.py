"""Simulated servers and what callers ask of them: the specification's, for runs that go on for minutes."""
import random
import struct

import histories
from histories.server import Server as Simulated
from model import END

LONGEST = 36            # of a server's list
PENDING = 24            # requests on their way, for each feed


class Server(Simulated):
    """The specification's server searches all posts that ever were; this one remembers the top and what is taken."""

    def __init__(self, prefix):
        super().__init__()
        self.prefix, self.top, self.taken = prefix, 0.0, set()
        self.random = random.Random(1)

    def snapshot(self):
        return list(self.alive), self.position, self.now

    def insert(self, index, id=None):
        self.now += 1
        if id is None:
            self.count += 1
            id = f"{self.prefix}{self.count}"
        if index == 0:
            self.top += 1024.0
            place = self.top
        elif index == len(self.alive):
            place = self.position[self.alive[-1]] - 512.0
        else:
            above, below = self.position[self.alive[index - 1]], self.position[self.alive[index]]
            place = below + (above - below) * self.random.uniform(0.3, 0.7)
            if not below < place < above:
                return
        if place in self.taken:         # a key is never used twice (R9)
            return
        self.taken.add(place)
        self.alive.insert(index, id)
        self.position[id], self.since[id] = place, self.now

    def shuffle(self, rng):
        rng.shuffle(self.alive)
        for id in reversed(self.alive):
            self.top += 1024.0
            self.position[id] = self.top

    def live(self, rng, mode):
        """Something happens to the list."""
        for _ in range(rng.choice((1, 1, 2, 3, 9))):
            self.insert(0)
        if mode == "append-only":
            del self.alive[LONGEST:]    # too far down for anyone to ask
            return
        if rng.random() < .3 and self.alive:
            self.insert(rng.randint(1, len(self.alive)))
        while self.alive and (len(self.alive) > LONGEST or rng.random() < .4):
            self.delete(rng.choice(self.alive))
        if mode in ("bump", "ranked", "ids") and self.alive and rng.random() < .5:
            self.bump(rng.choice(self.alive))
        if mode in ("ranked", "ids") and rng.random() < .1:
            self.shuffle(rng)


def whole(key):
    """The bits of a double as a number that sorts as it does."""
    bits = struct.unpack("<q", struct.pack("<d", key))[0]
    return str(-(1 << 63) - bits if bits < 0 else bits)


class Feed(histories.History):
    """The specification's answers for one feed, and random operations on it. It knows nothing of the cache."""

    def __init__(self, mode):
        # Posts of an id feed are its own: what others know of them would show (R21).
        self.mode, self.server = mode, Server("i" if mode == "ids" else "")
        self.place = self.server.position
        self.pending = []

    def client_key(self, id):
        return self.server.position[id]

    def id(self, rng):
        return rng.choice(self.server.alive or ["1"])

    def operation(self, rng):
        """An operation as workers read it, with what the model needs in members that begin with a dot."""
        luck = rng.random()
        if luck < .12:
            self.server.live(rng, self.mode)
        if luck < .35 and self.pending:
            return self.answer(rng)
        if luck < .75:
            return self.plan(rng)
        return getattr(self, rng.choice(OPERATIONS))(rng)

    def plan(self, rng):
        place = rng.choice(("head", "tail", "tail", "gap", "gap", "above-gap", "open-head", "around"))
        order = {"op": "plan", "place": place, "limit": rng.choice((1, 2, 3, 5, 8))}
        if place in ("gap", "above-gap"):
            order["gap"] = rng.choice((0, 0, 1, 2, 3))
        if place in ("gap", "above-gap", "head") and self.mode in ("stable", "keyset") and rng.random() < .25:
            order["bounded"] = 1
        if place == "around":
            order["target"] = self.id(rng)
        return order

    def planned(self, order, reply, rng):
        """A request is on its way. Answers come late, to whatever process, or never."""
        if "ticket" not in reply:
            return
        self.pending.append({
            "ticket": reply["ticket"], "plan": plan_of(reply), "op": "refresh" if order["place"] == "head" else "",
            "limit": order["limit"], "seed": rng.random()})

    def answer(self, rng):
        job = self.pending.pop(rng.randrange(len(self.pending)) if rng.random() < .4 else -1)
        if len(self.pending) > PENDING:
            job = self.pending.pop(0)
        answer, _ = self.prepare(job)
        if "error" in answer or rng.random() < .05:
            return {"op": "cancel", "ticket": job["ticket"]}
        order = {"op": "ingest", "ticket": job["ticket"], "posts": answer["items"],
                 "next": answer.get("next", ""), "previous": answer.get("prev", ""), ".keys": {}}
        if "keys" in answer:
            order[".keys"] = answer["keys"]
            order["keys"] = [whole(answer["keys"][id]) for id in answer["items"]]
        return order

    def delete(self, rng):
        if self.mode == "append-only":
            return self.evict(rng)
        id = self.id(rng)
        if rng.random() < .5 and id in self.server.alive:
            self.server.delete(id)
        return {"op": "delete", "id": id}

    def evict(self, rng):
        at = rng.randrange(max(1, len(self.server.alive)))
        return {"op": "evict", "posts": self.server.alive[at:at + rng.choice((1, 2, 4))]}

    def evict_page(self, rng):
        return {"op": "evict-page", "index": rng.choice((0, 0, 1, 2, 4))}

    def prune(self, rng):
        order = {"op": "prune", "visible": self.server.alive[:2] if rng.random() < .5 else [],
                 "budget": 10_000}
        if rng.random() < .5:
            return order | {"out_of_sequence": 1}
        return order | {"maximum_posts": rng.randint(3, 12), "budget": rng.choice((1, 5, 99))}

    def local(self, rng):
        return {"op": rng.choice(("insert-local", "remove-local")), "id": f"L{rng.randint(1, 4)}"}

    def pin(self, rng):
        return {"op": rng.choice(("pin", "unpin", "unpin")), "id": self.id(rng)}

    def update(self, rng):
        names = rng.sample(("likes", "title", "seen"), rng.randint(1, 2))
        return {"op": "update", "id": self.id(rng), "names": names,
                "values": [str(rng.randint(0, 3)) for _ in names], "version": rng.randint(0, 5)}

    def reset(self, rng):
        return {"op": "reset"} if rng.random() < .2 else self.update(rng)


OPERATIONS = ("delete", "delete", "evict", "evict", "evict_page", "prune", "local", "pin", "update", "update",
              "reset")


def plan_of(reply):
    """A request in the model's words."""
    kind = reply["request"]
    if kind == "position":
        plan = {"offset": reply["position"], "limit": reply["limit"]}
    elif kind == "page":
        plan = {"page": reply["position"], "limit": reply["limit"]}
    elif kind == "snapshot":
        plan = {"snapshot": True}
    elif kind == "bodies":
        plan = {"ids": reply["ids"]}
    else:
        plan = {kind: reply["link"]}
    if kind == "link" and reply["overlapping"]:
        plan["overlapping"] = True
    if reply.get("until"):
        plan["until"] = reply["until"]
    return plan
