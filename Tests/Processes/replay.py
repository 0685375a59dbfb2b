"""Carries out a log of commits on the specification's model, in their order, and compares what came of them."""
import model
import picture

DIRECTIONS = {"gap": "down", "above-gap": "up"}
REQUESTS = {"head": "refresh", "tail": "append", "gap": "fill", "above-gap": "fill", "open-head": "prepend",
            "around": "around"}
PER_FEED = 1 << 28     # where the tickets of a feed begin is a multiple of this


class Difference(Exception):
    pass


class Replay:
    def __init__(self, modes):
        self.cache = model.Cache()
        self.tickets, self.rows = {}, 0
        for mode, options in modes.items():
            self.cache.feed(mode, **(options | {"sizes": "unknown"}))     # as the engine's feeds have them
            self.tickets[mode] = {}

    def commit(self, order, reply):
        """Raises Difference unless the model does the same."""
        feed = self.cache.feeds[order["feed"]]
        reply = reply | {"ticket": reply["ticket"] % PER_FEED} if "ticket" in reply else reply
        done = getattr(self, order["op"].replace("-", "_"))(order, feed) or {}
        for name, value in done.items():
            if reply.get(name) != value:
                raise Difference(f"{order}: {name} is {reply.get(name)!r}, the model's {value!r}")

    def look(self, feed, reply):
        """What a reader saw. Raises Difference."""
        truth = self.cache.feeds[feed]
        truth.check()
        seen, expected = reply["picture"], picture.show(truth)
        if seen != expected:
            raise Difference(f"feed {feed} is\n  {seen}, the model's\n  {expected}")
        facts = []
        for id in truth.ids():
            facts.append(f"{id} {self.cache.references(id)}")
            facts += [f"{id} {name}={value}" for name, value in sorted(self.cache.fields(id).items())]
        if reply["facts"] != facts:
            raise Difference(f"feed {feed} knows\n  {reply['facts']}, the model\n  {facts}")
        self.rows += len(truth.rows)

    # ---- Operations. Each returns what the reply must say.

    def plan(self, order, feed):
        plan, ticket = feed.plan(
            REQUESTS[order["place"]], gap=order.get("gap"), direction=DIRECTIONS.get(order["place"], "down"),
            bounded=bool(order.get("bounded")), limit=order["limit"], target=order.get("target"))
        if ticket is None:
            return {"refusal": plan["refused"]}
        self.tickets[order["feed"]][ticket.number] = ticket
        plan = {name: value for name, value in plan.items() if value is not None}
        return {"ticket": ticket.number, ".plan": plan}

    def ingest(self, order, feed):
        outcome = feed.ingest(self.tickets[order["feed"]][order["ticket"] % PER_FEED], model.Answer(
            items=order["posts"], next=order["next"] or model.UNKNOWN,
            prev=order["previous"] or model.UNKNOWN, keys=order[".keys"]))
        return {"outcome": outcome.outcome, "added": outcome.new, "moved": outcome.moved,
                "removed": outcome.removed}

    def cancel(self, order, feed):
        feed.cancel(self.tickets[order["feed"]][order["ticket"] % PER_FEED])

    def delete(self, order, feed):
        feed.delete(order["id"])

    def evict(self, order, feed):
        before = len(feed.entries)
        feed.evict(order["posts"])
        if feed.paging != "ids":        # there, what is evicted keeps its place
            return {"count": before - len(feed.entries)}

    def evict_page(self, order, feed):
        pages = {rank: number for number, rank in feed.page_ranks().items()}
        if order["index"] in pages:
            feed.evict_page(pages[order["index"]])

    def prune(self, order, feed):
        if order.get("out_of_sequence"):
            feed.prune_out_of_sequence(order["visible"])
            return {}
        done = feed.prune(order["maximum_posts"], visible=order["visible"], budget=order["budget"])
        return {"done": int(done)}

    def pin(self, order, feed, pinned=True):
        if order["id"] not in feed.entries:
            return {"done": 0}
        feed.pin(order["id"], pinned)
        return {"done": 1}

    def unpin(self, order, feed):
        return self.pin(order, feed, False)

    def insert_local(self, order, feed):
        if order["id"] in feed.entries:
            return {"done": 0}
        feed.insert_local(order["id"])
        return {"done": 1}

    def remove_local(self, order, feed):
        is_local = order["id"] in feed.entries and feed.entries[order["id"]].detached
        feed.confirm_local(order["id"])
        return {"done": int(is_local)}

    def update(self, order, feed):
        fields = dict(zip(order["names"], order["values"]))
        return {"result": self.cache.update(order["id"], order["version"], fields)}

    def reset(self, order, feed):
        feed.reset()
