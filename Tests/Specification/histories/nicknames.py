"""R28: a server that calls some posts by two ids, and local posts that it accepts."""
import random


class Nicknames:
    def __init__(self):
        self.nicknames = {}                      # own id -> the other one

    def name_twice(self, rng):
        """The client learns a second id of a post."""
        id = rng.choice(sorted(self.server.position)) if self.server.position else None
        if id and id not in self.nicknames:
            self.nicknames[id] = f"n{id}"
            self.step({"op": "alias", "id": f"n{id}", "as": id})

    def confirm(self, rng, local):
        """The server's post is here already, or comes later, or is gone again."""
        if self.hard and self.server.position and rng.random() < .5:
            self.step({"op": "confirm_local", "id": local, "as": rng.choice(sorted(self.server.position))})
        else:
            self.step({"op": "confirm_local", "id": local})

    def by_any_name(self, step):
        """What comes in calls posts by either of their ids."""
        if not self.nicknames or step["op"] in ("alias", "confirm_local", "insert_local"):
            return step
        rng = random.Random(f"{self.server.now} {self.labels} {len(self.steps)} {step}")

        def either(id):
            return self.nicknames[id] if id in self.nicknames and rng.random() < .4 else id

        step = dict(step)
        for field in ("id", "target"):
            if field in step:
                step[field] = either(step[field])
        new = {id: either(id) for id in step.get("keys", ())}
        for field in ("ids", "items", "visible", "deleted"):
            if field in step:
                step[field] = [id and new.get(id, either(id)) for id in step[field]]
        if "keys" in step:
            step["keys"] = {new[id]: key for id, key in step["keys"].items()}
        return step
