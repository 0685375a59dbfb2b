"""The rows of a feed: entries, segments, gaps, detached entries and pages, and what keeps them in order (I1-I6)."""
from __future__ import annotations

from .objects import END, Gap, UNKNOWN


class Rows:
    def ids(self):
        return [row for row in self.rows if isinstance(row, str)]

    def gaps(self):
        return [row for row in self.rows if isinstance(row, Gap)]

    def segments(self):
        runs = [[]]
        for row in self.rows:
            if isinstance(row, Gap):
                runs.append([])
            else:
                runs[-1].append(row)
        return runs if runs[-1] else []

    def in_sequence(self):
        """R25.4. An open head is a place where something is missing, as a gap is."""
        return not self.gaps() and (not self.server_rows() or self.head.link == "end")

    def unverified_joins(self):
        """R25. Pairs of neighbours that only the server's numbering joins."""
        rows = self.server_rows()
        return [(a, b) for a, b in zip(rows, rows[1:]) if b in self.unverified]

    def _carry_claims(self, old_rows, rows, gone=()):
        """R25. An unverified join stays between its neighbours' neighbours until a gap or an answer ends it."""
        passed, new = self._passed_claims(old_rows, rows, gone), [r for r in rows if not self._is_rider(r)]
        joined = {b for a, b in zip(new, new[1:]) if isinstance(a, str) and isinstance(b, str)}
        return {id: reason for id, reason in passed.items() if id in joined}

    def _is_top_doubted(self, old_rows, rows, gone=()):
        """R25. The upper side of an unverified join has left, and nothing stands above the lower one."""
        top = next((r for r in rows if not self._is_rider(r)), None)
        return top in self._passed_claims(old_rows, rows, gone)

    def _passed_claims(self, old_rows, rows, gone):
        """R25. When its lower entry leaves, a claim passes to the next one below."""
        old = [r for r in old_rows if not self._is_rider(r)]
        present = {r for r in rows if isinstance(r, str) and not self._is_rider(r)}
        carried = {}
        for id in [r for r in old if isinstance(r, str) and r in self.unverified]:
            for row in old[old.index(id):]:
                if isinstance(row, Gap):
                    break
                if row in present and row not in gone:
                    carried.setdefault(row, self.unverified[id])
                    break
        return carried

    def _is_rider(self, row):
        return isinstance(row, str) and row in self.entries and self.entries[row].detached

    def server_rows(self):
        return [row for row in self.rows if not self._is_rider(row)]

    def head_segment(self):
        """Server entries above the first gap."""
        run = []
        for row in self.server_rows():
            if isinstance(row, Gap):
                break
            run.append(row)
        return run

    def page_ranks(self):
        """Page number -> rank.  A rank is a position, never a stored index."""
        ranks = {}
        for id in self.ids():
            page = self.entries[id].page
            if page is not None and page not in ranks:
                ranks[page] = len(ranks)
        return ranks

    def page_entries(self, number):
        return [id for id in self.ids() if self.entries[id].page == number]

    def _set_rows(self, rows):
        """Normalise: no empty segment, no two neighbouring gaps, no gap at an edge.  Detached entries are put
        back afterwards, they do not separate gaps."""
        result = self._merge_gaps(row for row in rows if not self._is_rider(row))
        if not any(isinstance(row, str) for row in result):
            if result:
                self.tail = self._edge(UNKNOWN)
            result = []
        if result and isinstance(result[0], Gap):
            self.head = result.pop(0).up
        if result and isinstance(result[-1], Gap):
            self.tail = self._as_tail(result.pop().down)
        if self.unverified:
            bottom = [r for r in self.rows if isinstance(r, str)]
            while bottom and bottom[-1] not in result:         # an end below an unverified join is no better than the claim
                self.tail.assumed |= bottom.pop() in self.unverified and self.tail.link == END
            if self._is_top_doubted(self.rows, result):
                self.head_as_of = None
            self.unverified = self._carry_claims(self.rows, result)
            self.checked &= self.unverified.keys()
        self.rows = self._with_detached(result, rows)

    @staticmethod
    def _merge_gaps(rows):
        result = []
        for row in rows:
            if isinstance(row, Gap) and result and isinstance(result[-1], Gap):
                older = min(result[-1], row, key=lambda gap: gap.since or float("inf"))
                result[-1] = Gap(result[-1].down, row.up, older.why, older.since)
            else:
                result.append(row)
        return result

    def _with_detached(self, rows, old_rows):
        """R13. A detached entry stays below the nearest surviving entry above it, else on top."""
        return self._reattach(rows, old_rows, [r for r in old_rows if self._is_rider(r)])

    @staticmethod
    def _reattach(rows, old_rows, moving):
        rows, moving = list(rows), set(moving)
        present = {row for row in rows if isinstance(row, str)}
        previous = None
        for row in old_rows:
            if isinstance(row, Gap):
                continue
            if row in moving and row not in present:
                rows.insert(rows.index(previous) + 1 if previous is not None else 0, row)
                present.add(row)
            if row in present:
                previous = row
        return rows

    def _drop_empty_pages(self):
        used = {entry.page for entry in self.entries.values()}
        self.pages = {number: page for number, page in self.pages.items() if number in used}

    def check(self):
        """Invariants that can be checked from the inside (Docs/rules.md section 2)."""
        ids = self.ids()
        assert len(ids) == len(set(ids)), "I1 an id twice in one feed"
        kinds = [isinstance(row, Gap) for row in self.server_rows()]
        assert not any(a and b for a, b in zip(kinds, kinds[1:])), "I2 neighbouring gaps"
        assert not kinds or not (kinds[0] or kinds[-1]), "I2 gap at an edge"
        numbers = [edge.number for edge, _ in self._edge_holders()]
        assert len(numbers) == len(set(numbers)), "I4 an edge used twice"
        assert all(edge.link for edge, _ in self._edge_holders()), "I4 edge without a link"
        assert all(row.down.link != END for row in self.gaps()), "I4 gap below an end"
        assert len(self.unverified_joins()) == len(self.unverified), "R25 an unverified join at a gap"
        assert set(ids) == set(self.entries), "I5 index and rows differ"
        for entry in self.entries.values():
            assert entry.page is None or entry.page in self.pages, "I5 entry of a missing page"
            assert entry.id in self.cache.posts, "I6 entry without a post"
        assert {e.page for e in self.entries.values()} >= set(self.pages), "I5 page without entries"
        if self.order == "stable":
            keys = [self.entries[r].key for r in self.server_rows()
                    if isinstance(r, str) and self.entries[r].key is not None]
            assert all(a > b for a, b in zip(keys, keys[1:])), "stable keys out of order"
