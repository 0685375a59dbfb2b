"""A simulated server, and what it answers."""
import math
from bisect import bisect_left

from model import END, HEAD, MORE, UNKNOWN

from .modes import INFINITY


class Server:
    """Entries have a position (larger = nearer to the head) and an arrival time at that position."""

    def __init__(self):
        self.now = 0
        self.position, self.since, self.alive = {}, {}, []      # alive: ids, top first
        self.came_on_top, self.deleted_at = {}, {}
        self.muted, self.muted_places = [], set()                  # not shown, but pages are cut as if they were
        self.count = 0

    def snapshot(self):
        rows = sorted(self.alive + self.muted, key=self.position.get, reverse=True) if self.muted else list(self.alive)
        return rows, dict(self.position), self.now

    def insert(self, index, id=None):
        self.now += 1
        if id is None:
            self.count += 1
            id = str(self.count)
        above = self.position[self.alive[index - 1]] if index > 0 else None
        below = self.position[self.alive[index]] if index < len(self.alive) else None
        if above is None:
            place = max(self.position.values(), default=0.0) + 1024.0
        elif below is None:
            place = min([above] + [self.position[id] for id in self.muted]) - 512.0
        else:
            place = below + (above - below) * (0.3 + 0.4 * ((self.now * 7919) % 101) / 101)
            if not below < place < above or place in self.position.values():
                return None                                     # no room left between the two
        self.alive.insert(index, id)
        self.position[id], self.since[id] = place, self.now
        if index == 0:
            self.came_on_top[id] = self.now
        return id

    def delete(self, id):
        self.now += 1
        self.alive.remove(id)
        self.deleted_at[id] = self.now

    def bump(self, id):
        self.alive.remove(id)
        self.insert(0, id)

    def mute(self, id):
        self.now += 1
        self.alive.remove(id)
        self.muted.append(id)
        self.muted_places.add(self.position[id])

    def unmute(self, id):
        self.now += 1
        self.muted.remove(id)
        self.alive = sorted([*self.alive, id], key=self.position.get, reverse=True)
        self.since[id] = self.now

    def shuffle(self, rng):
        self.now += 1
        rng.shuffle(self.alive)
        top = max(self.position.values(), default=0.0)
        for i, id in enumerate(self.alive):
            self.position[id], self.since[id] = top + 1024.0 * (len(self.alive) - i), self.now


class Answering:
    """The server's side of a history."""

    def link_position(self, text):
        return float(text[1:])

    def answer_for(self, plan, op, limit):
        """What the server says now.  Returns (answer fields, facts for the oracle)."""
        answer, facts = self.cut_page(plan, op, limit)
        muted = set(self.server.muted)
        link = plan.get("link", HEAD)                             # a post at which it begins is not shown
        if link[0] in "<b" and facts["high"] in self.server.muted_places:
            facts["high"] = math.nextafter(facts["high"], -INFINITY)
        if link[0] in ">a" and facts["low"] in self.server.muted_places:
            facts["low"] = math.nextafter(facts["low"], INFINITY)
        return dict(answer, items=[id for id in answer["items"] if id not in muted]), facts

    def cut_page(self, plan, op, limit):
        """The rows that the server reads, with those that it will not show."""
        alive, position, now = self.server.snapshot()
        heights = [-position[id] for id in alive]               # ascending
        facts = {"position": position, "now": now, "op": op, "low": None, "high": None}

        def below(place, inclusive=False):
            at = bisect_left(heights, -place)
            while not inclusive and at < len(alive) and position[alive[at]] >= place:
                at += 1
            return at

        if "snapshot" in plan:
            return {"items": alive}, facts
        if "ids" in plan:
            return {"items": [id for id in plan["ids"] if id in position and id in set(alive)]}, facts
        if "offset" in plan or "page" in plan:
            start = plan.get("offset", (plan.get("page", 1) - 1) * plan["limit"])
            items = alive[start:start + plan["limit"]]
            facts["start"] = start
            ends = start + plan["limit"] >= len(alive)
            facts.update(high=INFINITY if op == "refresh" else None,
                         low=-INFINITY if ends else self.lowest(items, position))
            return {"items": items, "next": END if ends else MORE}, facts
        if "around" in plan:
            target = plan["around"]
            at = below(position.get(target, 0.0), inclusive=True)
            first, last = max(0, at - limit // 2), min(len(alive), at + limit // 2 + 1)
            items = alive[first:last]
            facts.update(high=INFINITY if first == 0 else self.highest(items, position),
                         low=-INFINITY if last == len(alive) else self.lowest(items, position))
            if self.is_numbered():                              # numbers are all these servers lead to
                return {"items": items}, facts
            return {"items": items, "next": self.next_link(alive, last, position),
                    "prev": self.prev_link(alive, first, position)}, facts
        link = plan["link"]
        if link.startswith((">", "a")):
            place = self.client_key(link[1:]) if link[0] == ">" else self.link_position(link)
            last = bisect_left(heights, -place)                 # entries strictly above
            first = max(0, last - limit)
            items = alive[first:last]
            facts.update(low=place, high=INFINITY if first == 0 else self.highest(items, position))
            return {"items": items, "next": self.next_link(alive, last, position),
                    "prev": self.prev_link(alive, first, position)}, facts
        if link == HEAD:
            first, facts["high"] = 0, INFINITY
        else:
            place = self.client_key(link[1:]) if link[0] == "<" else self.link_position(link)
            first, facts["high"] = below(place), place
        last = min(len(alive), first + limit)
        until = plan.get("until")
        if until is not None:
            floor, facts["low"] = below(self.place[until], inclusive=True), self.place[until]
            if self.hard and until in alive:                    # a server that knows the post, wherever it is now
                floor, facts["low"] = alive.index(until) + self.server.now % 2, position[until]
            last = min(last, max(first, floor))
        items = alive[first:last]
        if until is not None and last >= floor:
            return {"items": items, "next": END}, facts
        facts["low"] = -INFINITY if last == len(alive) else self.lowest(items, position)
        return {"items": items, "next": self.next_link(alive, last, position),
                "prev": self.prev_link(alive, first, position)}, facts

    def client_key(self, id):
        entry = self.feed.entries.get(id)                       # a local post that became this one has no key yet
        return self.place[id] if entry is None or entry.key is None else entry.key

    @staticmethod
    def lowest(items, position):
        return position[items[-1]] if items else None

    @staticmethod
    def highest(items, position):
        return position[items[0]] if items else None

    @staticmethod
    def next_link(alive, last, position):
        return END if last >= len(alive) else f"b{position[alive[last - 1]]}" if last else UNKNOWN

    @staticmethod
    def prev_link(alive, first, position):
        return END if first == 0 else f"a{position[alive[first]]}" if first < len(alive) else UNKNOWN
