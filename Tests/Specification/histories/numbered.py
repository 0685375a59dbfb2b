"""Servers that page by number or offset, and choose the sizes themselves (R26)."""
from model import END, MORE, UNKNOWN

# what the server does with the size asked for, and beyond its last page, and what it says of its end
KINDS = {
    "free": dict(grants=None), "capped": dict(grants="cap"), "capped-error": dict(grants="cap-error"),
    "fixed": dict(grants="fixed"), "ignored": dict(grants="fixed", declared=False), "filtered": dict(grants="fixed", filter=.2),
    "filtered-free": dict(grants=None, filter=.2),
    "clamp": dict(grants="fixed", beyond="clamp", says="nothing"), "wrap": dict(grants="fixed", beyond="wrap", says="nothing"),
    "error": dict(grants="fixed", beyond="error", says="nothing"), "silent": dict(grants="fixed", says="nothing"),
    "total": dict(grants="fixed", says="total", filter=.15), "silent-free": dict(grants=None, says="nothing"),
    # whole runs of pages are filtered; "endless" says "more" beyond its end, too
    "hidden": dict(grants="fixed", runs=.05), "hidden-free": dict(grants=None, runs=.05),
    "hidden-total": dict(grants="fixed", says="total", runs=.05), "endless": dict(grants="fixed", says="more", runs=.03),
}


class Server:
    def __init__(self, rng, grants=None, beyond="empty", says="end", filter=0, runs=0, declared=True,
                 size=None):
        self.rng, self.grants, self.beyond, self.says, self.filter = rng, grants, beyond, says, filter
        self.size = size or rng.randint(2, 6)
        self.declared, self.now, self.count, self.calls = declared, 0, 0, 0
        self.list, self.place, self.since, self.dark = [], {}, {}, set()
        self.runs, self.run = runs, 0

    def insert(self, at):
        self.now += 1
        self.count += 1
        id = f"p{self.count}"
        above = self.place[self.list[at - 1]] if at else None
        below = self.place[self.list[at]] if at < len(self.list) else None
        self.place[id] = max(self.place.values(), default=0.0) + 1024 if above is None else \
            above - 512 if below is None else (above + below) / 2
        self.since[id] = self.now
        if self.run == 0 and self.runs and self.rng.random() < self.runs:
            self.run = self.size * self.rng.randint(2, 14)
        if self.run or self.rng.random() < self.filter:
            self.dark.add(id)
        self.run = max(0, self.run - 1)
        self.list.insert(at, id)

    def rise(self, at):
        """A touched entry comes to the top with a larger key."""
        self.now += 1
        id = self.list.pop(at)
        self.place[id], self.since[id] = max(self.place.values()) + 1024, self.now
        self.list.insert(0, id)

    def delete(self, at):
        self.now += 1
        del self.list[at]

    def answer(self, plan, first_page=1):
        """What it answers, and the rows that this covers."""
        self.calls += 1
        limit = plan.get("limit", self.size)
        if self.grants == "cap-error" and limit > self.size * 2:
            return {"error": "limit too large"}, []
        size = {"fixed": self.size, "cap": min(limit, self.size * 2)}.get(self.grants, limit)
        start = plan["offset"] if "offset" in plan else (plan["page"] - first_page) * size
        if start >= len(self.list) and start > 0:
            last = max(0, (len(self.list) - 1) // size * size)
            if self.beyond == "error":
                return {"error": "404"}, []
            start = {"clamp": last, "wrap": 0}.get(self.beyond, start)
        rows = self.list[start:start + size]
        ends = start + size >= len(self.list)
        says_end = self.says == "end" and ends
        answer = {"items": [r for r in rows if r not in self.dark],
                  "next": END if says_end else MORE if self.says in ("end", "more") else UNKNOWN}
        if self.says == "total":
            answer["total"] = len(self.list)
        return answer, rows


def policies(kind):
    """Pairs of paging and size policy that are true of a server of this kind."""
    grants = KINDS[kind]["grants"]
    if grants is None:
        return [("page", "free"), ("offset", "free"), ("page", "unknown")]
    if grants in ("cap", "cap-error"):
        return [("page", "unknown"), ("offset", "unknown")]
    if not KINDS[kind].get("declared", True):
        return [("page", "unknown"), ("offset", "unknown")]
    return [("page", "fixed"), ("page", "unknown"), ("offset", "fixed")]


def false_policies(kind):
    """Pairs that are not true of it, and must do no harm."""
    if KINDS[kind]["grants"] is None:
        return []
    wrong = [("page", "free"), ("offset", "free")]
    if KINDS[kind]["grants"] == "fixed":
        wrong += [("page", "smaller"), ("page", "larger"), ("offset", "smaller"), ("offset", "larger")]
    return wrong


def size_policy(policy, size):
    """The option `sizes` for a server that fixes this size."""
    return {"fixed": size, "smaller": size - 1, "larger": size + 2}.get(policy, policy)
