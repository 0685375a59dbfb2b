"""One of several processes that change a cache, by the Python binding; run and worker.c say more.

    PYTHONPATH=... python3 worker.py FILE
"""
import json
import sys
from dataclasses import replace

import quire

WORDS = {"?": quire.LinkKind.UNKNOWN, "end": quire.LinkKind.END, "confirm-end": quire.LinkKind.CONFIRM_END,
         "head": quire.LinkKind.HEAD, "more": quire.LinkKind.MORE}
PLAIN = {kind: word for word, kind in WORDS.items()} | {
    quire.LinkKind.TOKEN: "", quire.LinkKind.BELOW: "<", quire.LinkKind.ABOVE: ">"}


def link_in(word):
    if not word:
        return quire.Link.UNKNOWN
    return quire.Link(WORDS[word]) if word in WORDS else quire.Link.token(word)


def link_text(link):
    return "@" * link.is_overlapping + PLAIN[link.kind] + link.text


def word_of(value):
    return value.name.lower().replace("_", "-")


def picture(snapshot, feed):
    info = snapshot.info(feed)
    parts = [] if info.head.kind == quire.LinkKind.END else [link_text(info.head) + "|"]
    run = []
    for row in snapshot.rows(feed):
        if isinstance(row, quire.PostRow):
            run.append("+" * row.is_detached + "?" * row.is_placeholder + row.id)
            continue
        up = "" if row.up.kind == quire.LinkKind.UNKNOWN else "^" + link_text(row.up)
        parts += [f"[{' '.join(run)}]", f"~{link_text(row.down)}{up}~"]
        run = []
    return " ".join(parts + [f"[{' '.join(run)}]", "|" + link_text(info.tail)])


class Turns:
    def __init__(self, path):
        self.cache = quire.Cache(path, durability=quire.Durability.RELAXED, map_size=1 << 18)
        self.feeds = {}

    def take(self, order):
        operation = order["op"]
        if operation == "feed":
            options = quire.FeedOptions(order=quire.Order[order["order"].upper().replace("-", "_")],
                                        paging=quire.Paging[order["paging"].upper()])
            self.feeds[order["feed"]] = self.cache.feed(order["feed"], options)
            return {}
        if operation == "check":
            return {"findings": [str(finding) for finding in self.cache.check()]}
        feed = self.feeds[order["feed"]]
        return self.look(feed) if operation == "look" else self.commit(order, feed)

    def commit(self, order, feed):
        """Exactly one commit: what happened is marked even if it changed nothing else."""
        base = None

        def change(batch):
            nonlocal base
            with self.cache.snapshot() as before:       # sees the commit before this one
                base = before.generation
                reply = getattr(self, order["op"].replace("-", "_"))(order, feed, batch, before) or {}
            feed.set_attribute("turn", order["turn"], batch=batch)
            return reply | {"base": base}

        try:
            return self.cache.batch(change)
        except quire.NotFoundError:
            return {"done": 0, "base": base, "undone": 1}

    def plan(self, order, feed, batch, before):
        gaps = [row.number for row in before.gaps(feed)]
        at = order.get("gap", len(gaps))
        request = feed.plan(
            quire.Place[order["place"].upper().replace("-", "_")],
            gap=gaps[at] if at < len(gaps) else 2**64 - 1, target=order.get("target"),
            limit=order["limit"], is_bounded=bool(order.get("bounded")), batch=batch)
        if not request:
            return {"refusal": word_of(request.refusal)}
        is_jump = request.kind == quire.RequestKind.AROUND
        link = request.link.text if is_jump else link_text(replace(request.link, is_overlapping=False))
        return {"request": word_of(request.kind), "ticket": request.ticket, "position": request.position,
                "limit": request.limit, "link": link,
                "overlapping": int(request.is_overlapping), "ids": request.ids, "until": request.until or ""}

    def ingest(self, order, feed, batch, before):
        keys = order.get("keys") or [None] * len(order["posts"])
        posts = [quire.Post(id, f"body of {id}", None if key is None else int(key))
                 for id, key in zip(order["posts"], keys)]
        outcome = feed.ingest(order["ticket"], posts, next=link_in(order.get("next")),
                              previous=link_in(order.get("previous")), fetched_at=0, batch=batch)
        return {"outcome": word_of(outcome.verdict), "reason": outcome.reason, "added": outcome.added,
                "duplicates": outcome.duplicates, "moved": outcome.moved, "removed": outcome.removed}

    def cancel(self, order, feed, batch, before):
        feed.cancel(order["ticket"], batch=batch)

    def delete(self, order, feed, batch, before):
        feed.delete(order["id"], batch=batch)

    def evict(self, order, feed, batch, before):
        return {"count": feed.evict(order["posts"], batch=batch)}

    def evict_page(self, order, feed, batch, before):
        page = next(before.pages(feed, order["index"]), None)
        ids = [row.id for row in before.page(feed, page.number)] if page else []
        return {"count": feed.evict(ids, batch=batch)}

    def pin(self, order, feed, batch, before):
        feed.pin(order["id"], batch=batch)
        return {"done": 1}

    def unpin(self, order, feed, batch, before):
        feed.unpin(order["id"], batch=batch)
        return {"done": 1}

    def insert_local(self, order, feed, batch, before):
        return {"done": int(feed.insert_local(order["id"], batch=batch))}

    def remove_local(self, order, feed, batch, before):
        return {"done": int(feed.remove_local(order["id"], batch=batch))}

    def update(self, order, feed, batch, before):
        fields = dict(zip(order["names"], order["values"]))
        return {"result": word_of(self.cache.update_fields(
            order["id"], fields, order["version"], batch=batch))}

    def prune(self, order, feed, batch, before):
        result = feed.prune(out_of_sequence=bool(order.get("out_of_sequence")),
                            maximum_posts=order.get("maximum_posts"), visible=order["visible"],
                            budget=order["budget"], batch=batch)
        return {"done": int(result.is_done)}

    def reset(self, order, feed, batch, before):
        feed.reset(batch=batch)

    def look(self, feed):
        with self.cache.snapshot() as snapshot:
            facts = []
            for row in snapshot.rows(feed):
                if isinstance(row, quire.PostRow):
                    post = snapshot.post(row.id)
                    facts.append(f"{row.id} {post.feeds}")
                    facts += [f"{row.id} {name}={value.decode()}"
                              for name, value in sorted(post.fields.items())]
            return {"generation": snapshot.generation, "picture": picture(snapshot, feed), "facts": facts}


turns = Turns(sys.argv[1])
for line in sys.stdin:
    print(json.dumps(turns.take(json.loads(line))), flush=True)
