"""Quire: an embedded cache for paged feeds.

    with quire.Cache("feeds.quire") as cache:
        feed = cache.feed("timeline")
        request = feed.plan()                                   # what to ask the server
        feed.ingest(request, [("1", b"hello")], next="page-2")  # what it answered
        with cache.snapshot() as snapshot:
            for row in snapshot.rows(feed)[:20]:
                ...

The manual of every call is Include/quire.h.
"""

from ._cache import Batch, Cache, compact, repair, verify
from ._errors import (
    BadArgumentError, BadHandleError, BodiesInUseError, ForkedError, NotFoundError, QuireError,
    ResyncError, Status)
from ._feed import Crawl, Feed
from ._names import (
    Alias, ChangeKind, CrawlKind, Detail, Doubt, Durability, FindingCode, Help, LinkKind, Order, Paging, Place, Refusal,
    RequestKind, RowFlag, RowKind, Sizes, Start, Update, Verdict)
from ._quire import ffi as _ffi, lib as _lib
from ._rows import SCREENFUL, Frontier, GapRow, PostRow, Row, Rows
from ._snapshot import Snapshot
from ._values import (
    Budget, Change, Data, Evictions, FeedInfo, FeedOptions, Finding, Id, Limits, Link, Outcome, Page, Post, PostInfo,
    PruneResult, RepairedFeed, RepairReport, Request, RowName, Statistics)
from ._view import Candidate, Section, Shown, View, ViewInfo, ViewOrder
from ._window import Difference, Window, WindowInfo

#: The version of the library inside this package.
__version__: str = _ffi.string(_lib.quire_version_string()).decode()

__all__ = [
    "Alias", "BadArgumentError", "BadHandleError", "Batch", "BodiesInUseError", "Budget", "Cache", "Candidate", "Change",
    "ChangeKind", "Crawl", "CrawlKind", "Data", "Detail", "Difference", "Doubt", "Durability", "Evictions", "Feed",
    "FeedInfo", "FeedOptions", "Finding", "FindingCode", "ForkedError", "Frontier", "GapRow", "Help", "Id", "Limits",
    "Link", "LinkKind",
    "NotFoundError", "Order", "Outcome", "Page", "Paging", "Place", "Post", "PostInfo", "PostRow",
    "PruneResult", "QuireError", "Refusal", "RepairReport", "RepairedFeed", "Request", "RequestKind",
    "ResyncError", "Row", "RowFlag", "RowKind", "RowName", "Rows", "SCREENFUL", "Section", "Shown", "Sizes", "Snapshot",
    "Start", "Statistics", "Status", "Update", "Verdict", "View", "ViewInfo", "ViewOrder", "Window",
    "WindowInfo", "__version__", "compact", "repair", "verify",
]
