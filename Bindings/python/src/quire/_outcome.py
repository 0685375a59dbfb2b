"""What the library says of requests and answers, as plain values."""

from __future__ import annotations

from typing import Any

from ._convert import ids_out, link_out, text_out
from ._names import Help, Refusal, RequestKind, Sizes, Verdict
from ._quire import lib
from ._values import Outcome, Request


def request_out(out: Any) -> Request:
    return Request(
        kind=RequestKind(out.kind),
        refusal=Refusal(out.refusal) if out.refusal else None,
        ticket=out.ticket,
        position=out.position,
        limit=out.limit,
        link=link_out(out.link),
        ids=ids_out(out.ids),
        until=text_out(out.until) if out.until.size else None,
        is_overlapping=bool(out.is_overlapping),
        help=Help(out.help) if out.help else None)


def take_outcome(out: Any) -> Outcome:
    """The outcome as a value; what C had made for it is freed."""
    try:
        return outcome_out(out)
    finally:
        lib.quire_outcome_free(out)


def outcome_out(out: Any) -> Outcome:
    return Outcome(
        verdict=Verdict(out.verdict),
        is_unchanged=bool(out.is_unchanged),
        page=out.page or None,
        duplicates_in_page=out.duplicates_in_page,
        opaque_rows=out.opaque_rows,
        gaps_closed=out.gaps_closed,
        gaps_opened=out.gaps_opened,
        updated=out.updated,
        help=Help(out.help) if out.help else None,
        reason=text_out(out.reason),
        added=ids_out(out.added),
        duplicates=ids_out(out.duplicates),
        moved=ids_out(out.moved),
        removed=ids_out(out.removed),
        kept=ids_out(out.kept),
        displaced=ids_out(out.displaced),
        ignored=ids_out(out.ignored),
        sticky=ids_out(out.sticky),
        disorder=ids_out(out.disorder),
        unplaced=ids_out(out.unplaced),
        disproved_sizes=Sizes(out.disproved_sizes) if out.disproved_sizes else None,
        disproved_rows=out.disproved_rows)
