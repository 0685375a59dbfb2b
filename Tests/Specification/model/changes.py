"""Changes without the server: deletion, eviction, pruning, detached entries, reset (R13-R15, R17)."""
from __future__ import annotations

from .objects import END, Entry, Gap, UNKNOWN, WORDS


class Changes:
    def reset(self):
        """Forget everything; every outstanding ticket becomes stale."""
        self.generation += 1
        tombstones = self.tombstones
        self._clear()
        self.tombstones = tombstones
        self.cache.collect()

    def delete(self, id):
        """R14. Deletion closes up: the neighbours stay contiguous."""
        id = self.cache.name(id)
        self.tombstones[id] = self.cache.tick()
        if id in self.entries:
            self._drop(id)
            if not self.server_rows():
                self.head, self.tail = self._edge(END), self._edge(UNKNOWN)
        self.cache.collect()

    def _drop(self, id):
        borders = self._borders()
        self._forget_border(id)
        if self.numbered():
            rows = self.server_rows()
            at = rows.index(id) + 1 if id in rows else len(rows)
            self._move_spots([r for r in rows[at:] if isinstance(r, str)], 0)
        self._set_rows([row for row in self.rows if row != id])
        del self.entries[id]
        self._rederive(borders, {id})
        self._drop_empty_pages()

    def evict(self, ids):
        """R15. Eviction leaves a gap with the links of the bordering pages."""
        leaving = {id for id in map(self.cache.name, ids) if id in self.entries and not self.entries[id].detached
                  and not self.entries[id].pinned}
        if not leaving:
            return
        self.changed = self.cache.tick()
        if self.paging == "ids":                               # the place is known: keep it
            for id in leaving:
                self.entries[id].placeholder, self.entries[id].page = True, None
            self._drop_empty_pages()
            return
        for id in leaving:
            page = self.pages.get(self.entries[id].page)
            if page and page.last == id:
                page.last = None
            if page and page.first == id:
                page.first = None
        old, rows = self.server_rows(), []
        i = 0
        while i < len(old):
            j = i
            while j < len(old) and (isinstance(old[j], Gap) or old[j] in leaving):
                j += 1
            run = old[i:j]
            if not run:
                rows.append(old[i])
                i += 1
                continue
            i = j
            if all(isinstance(row, Gap) for row in run):
                rows += run
                continue
            down = self._above_evicted(run[0].down) if isinstance(run[0], Gap) else \
                self._link_below(rows[-1]) if rows else None
            up = self._above_evicted(run[-1].up) if isinstance(run[-1], Gap) else \
                self._link_above(old[j]) if j < len(old) else None
            if not rows and j < len(old):
                self.head = up
                self.skipped_above += sum(isinstance(row, str) for row in run)
            elif not rows:
                self.head, self.tail = self._edge(END), self._edge(UNKNOWN)
            elif j == len(old):
                self.tail = self._as_tail(down)
            else:
                rows.append(Gap(down, up, "evicted", self.changed))
        old_rows = self.rows
        for id in leaving:
            del self.entries[id]
        self._set_rows(self._with_detached(rows, old_rows))
        self._rederive({}, leaving)
        self._drop_empty_pages()
        self.cache.collect()

    def _above_evicted(self, edge):
        """R15. The link of a gap may begin beyond what is evicted beside it; one made from the border does not."""
        if self.paging != "keyset" or edge.link in WORDS or edge.overlapping:
            return edge
        return self._edge(UNKNOWN)

    def evict_page(self, number):
        self.evict(self.page_entries(number))

    def prune_out_of_sequence(self, visible=()):
        """R17.2 alone: drop every page outside the head segment that is not visible."""
        head = set(self.head_segment())
        protected = set(map(self.cache.name, visible)) | {id for id, e in self.entries.items() if e.pinned}
        segments = [s for s in self.segments() if not head & set(s)]
        self.evict([id for s in segments if not protected & set(s) for id in s])

    def prune(self, max_entries, visible=(), now=0, ttl=None, budget=None):
        """R17. Whole pages leave, all in one change; returns True when nothing is left to do."""
        leaving, done = [], True
        for ids in self._pages_to_prune(max_entries, set(map(self.cache.name, visible)), now, ttl):
            if budget is not None and len(leaving) >= budget:
                done = False
                break
            leaving += ids
        self.evict(leaving)
        return done

    def _pages_to_prune(self, max_entries, visible, now, ttl):
        """R17. The entries of each page that leaves, page by page, from the tail up."""
        ranks = self.page_ranks()
        pages = []                                             # (number, ids)
        for number in sorted(ranks, key=ranks.get, reverse=True):
            ids = self.page_entries(number)
            if any(id in visible or self.entries[id].pinned for id in ids):
                continue
            if not all(self.entries[id].detached for id in ids):  # detached entries stay, and their page with them
                pages.append((number, ids))
        expired = [p for p in pages if ttl is not None and self.pages[p[0]].fetched_at + ttl <= now]
        head, others = set(self.head_segment()), [p for p in pages if p not in expired]
        others.sort(key=lambda page: bool(head & set(page[1])))     # out of sequence first
        count = len(self.server_rows()) - len(self.gaps())
        for page in expired + others:
            if page in others and count <= max_entries:
                return
            if self.paging != "ids":                           # an id without its body still counts
                count -= sum(not self.entries[id].detached for id in page[1])
            yield page[1]

    def insert_local(self, id):
        """R13. An optimistic entry rides on top; it is not part of the server's sequence."""
        self.entries[id] = Entry(id, detached=True, confirmed=self.cache.tick())
        self.cache.touch(id)
        self._set_rows([id] + self.rows)

    def confirm_local(self, local_id, server_id=None):
        """R13, R28. The server accepted the post: it is the one with this id, here, or it arrives later."""
        if server_id is not None:
            if local_id not in self.entries or not self.entries[local_id].detached:
                return "missing"
            return self.cache.unite(local_id, server_id)
        if local_id in self.entries and self.entries[local_id].detached:
            self._set_rows([row for row in self.rows if row != local_id])
            del self.entries[local_id]
            self.cache.collect()

    def pin(self, id, pinned=True):
        self.entries[self.cache.name(id)].pinned = pinned
