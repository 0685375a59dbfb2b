"""The conformance file, every case of it. QUIRE_CONFORMANCE names another file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from replay import Replay

FILE = Path(os.environ.get(
    "QUIRE_CONFORMANCE", Path(__file__).resolve().parents[2] / "conformance.json"))


def cases() -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = []
    for text in FILE.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if line["op"] == "case":
            found.append([])
        found[-1].append(line)
    return found


CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]['id']}-{case[0]['title']}" for case in CASES])
def test_case(case: list[dict[str, Any]], tmp_path: Path) -> None:
    replay = Replay(tmp_path / "case.quire")
    for number, line in enumerate(case[1:], 1):
        complaints = replay.step(line)
        assert complaints == [], f"step {number}, {line}"
    replay.close()


def test_there_are_cases() -> None:
    assert len(CASES) >= 200
    assert len({case[0]["id"] for case in CASES}) == len(CASES)
