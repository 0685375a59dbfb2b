"""The feeds that random histories play, and what may be promised of each."""

INFINITY = float("inf")
MODES = {
    "stable": dict(order="stable"),
    "keyset": dict(order="stable", paging="keyset"),
    "keyless": dict(order="keyless"),
    "bump": dict(order="bump"),
    "append-only": dict(order="append-only"),
    "offset": dict(order="keyless", paging="offset", sizes="free"),
    "page": dict(order="keyless", paging="page", sizes="free"),
    "ranked": dict(order="ranked"),
    "ids": dict(order="ranked", paging="ids"),
}
SOUND = {"stable", "keyset", "keyless", "bump", "append-only", "offset", "page"}
KEYED = {"stable", "keyset", "bump"}
FILTERED = {"keyset"}                         # rows are left out after a page was cut
UNCHANGED = {"error", "stale", "refused", "contradiction", "discontinuity", "no-progress", "empty",
             "empty-confirm", "island"}


class Failure(Exception):
    pass
