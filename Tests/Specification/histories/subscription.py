"""R27: a server that pushes what comes on top, over a connection that is not always there."""
import random

from .modes import INFINITY, KEYED, SOUND, Failure


class Subscription:
    connected, counter = False, None             # counter: of the messages, if they are numbered

    def connection(self, rng):
        """The connection comes and goes."""
        if self.feed.since and self.mode in ("stable", "keyset", "bump", "keyless") and rng.random() < .08:
            self.changes()
        if self.mode != "ids" and rng.random() < .08:
            self.connected = not self.connected
            self.counter = rng.choice((None, 0)) if self.connected else self.counter
            number = {"number": self.counter} if self.connected and self.counter is not None else {}
            self.step({"op": "live" if self.connected else "offline", **number})

    def changes(self):
        """R29: the client asks what has changed."""
        server, since = self.server, int(self.feed.since[0])
        items = [id for id in server.alive if server.since[id] > since]
        random.Random(server.now).shuffle(items)
        step = {"op": "delta", "items": items, "since": str(server.now),
                "deleted": [id for id, time in server.deleted_at.items() if time > since and id not in server.alive]}
        if self.mode in KEYED:
            step["keys"] = {id: server.position[id] for id in items}
        seen = self.step(step)
        for id in items:
            if seen.get("page") is not None and id in self.feed.entries and self.feed.entries[id].page == seen["page"]:
                self.place[id] = server.position[id]
        on_top = []
        for row in self.feed.server_rows():
            if row not in items or self.feed.entries[row].page != seen.get("page"):
                break
            on_top.append(row)
        if on_top and on_top[0] == server.alive[0]:
            self.covered.append((server.position[on_top[-1]], INFINITY, server.now))
            self.judge_push(on_top)

    def announce(self, ids):
        """Tells of new or risen posts, topmost first; numbered messages may be lost, and then it is seen."""
        server = self.server
        ids = [id for id in ids if id in server.alive]
        if not self.connected or not ids:
            return
        step = {"op": "push", "items": ids}
        if self.counter is not None:
            self.counter += 1
            step["number"] = self.counter
            if random.Random(server.now).random() < .2:
                return
        if self.mode in KEYED:
            step["keys"] = {id: server.position[id] for id in ids}
        seen = self.step(step)
        for id in ids:
            if id in self.feed.entries and self.feed.entries[id].page == seen["page"]:
                self.place[id] = server.position[id]
        if ids[0] == server.alive[0] and ids[0] in self.feed.entries:
            self.covered.append((server.position[ids[-1]], INFINITY, server.now))
            self.judge_push(ids)

    def judge_push(self, ids):
        """Nothing lies between what was pushed and what it was joined to."""
        rows, alive = self.feed.server_rows(), self.server.alive
        on_top = [id for id in ids if id in self.feed.entries]
        at = rows.index(on_top[-1]) + 1
        if self.mode not in SOUND or at >= len(rows) or not isinstance(rows[at], str):
            return
        below = next((r for r in rows[at:] if isinstance(r, str) and r in alive
                      and self.place.get(r) == self.server.position[r]), None)
        if below is None or below not in self.proven_runs()[0]:
            return
        between = alive[alive.index(on_top[-1]) + 1:alive.index(below)]
        missed = [id for id in between if id not in self.hidden and id not in self.feed.entries
                  and self.server.came_on_top.get(id) == self.server.since[id]]
        if missed:
            raise Failure(f"push: {missed} between {on_top[-1]} and {below}")
        unseen = [self.server.since[id] - 1 for id in between]     # what came between two others is not pushed
        self.covered.append((self.place[below], INFINITY, min(unseen, default=self.server.now)))
