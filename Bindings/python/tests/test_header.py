"""What was read from quire.h is all of quire.h, and every number in it has a name here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import quire
from quire import _names
from quire._quire import ffi, lib

HEADER = Path(__file__).resolve().parents[3] / "Include" / "quire.h"
TEXT = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
SOURCES = "".join(path.read_text() for path in (HEADER.parent.parent / "Bindings/python/src").rglob("*.py"))


def test_every_function_is_there_and_used() -> None:
    functions = set(re.findall(r"\b(quire_\w+)\(", TEXT))
    assert len(functions) >= 50
    assert {name for name in functions if not hasattr(lib, name)} == set()
    # Names of numbers are the enumerations', the version number is the package's, texts of numbers are Python's.
    unused = {name for name in functions if not re.search(rf"lib\.{name}\b", SOURCES)}
    assert unused == {
        "quire_version_number", "quire_status_name", "quire_finding_name", "quire_refusal_name",
        "quire_verdict_name", "quire_help_name", "quire_doubt_name", "quire_row_id"}


def test_every_structure_has_the_compiler_s_layout() -> None:
    structures = re.findall(r"^typedef struct (quire_\w+) \{", TEXT, re.MULTILINE)
    assert len(structures) >= 20
    for name in structures:
        assert ffi.sizeof(name) > 0  # complete, and cffi compared it with the compiler's when first used


@pytest.mark.parametrize("prefix, names, function", [
    ("STATUS", quire.Status, lib.quire_status_name),
    ("FINDING", quire.FindingCode, lib.quire_finding_name),
    ("REFUSAL", quire.Refusal, lib.quire_refusal_name),
    ("VERDICT", quire.Verdict, lib.quire_verdict_name),
    ("HELP", quire.Help, lib.quire_help_name),
    ("DOUBT", quire.Doubt, lib.quire_doubt_name),
])
def test_names_are_the_library_s(prefix: str, names: type, function: object) -> None:
    for member in names:  # type: ignore[attr-defined]
        if member is not quire.Status.BODIES_IN_USE:
            name = ffi.string(function(member)).decode()  # type: ignore[operator]
            assert name == member.name.lower().replace("_", "-")


def test_every_number_has_a_name() -> None:
    numbers = set(re.findall(r"^    (QUIRE_\w+) = -?[0-9]+", TEXT, re.MULTILINE))
    assert len(numbers) >= 90
    named = set(re.findall(r"lib\.(QUIRE_\w+)", SOURCES))
    assert numbers - named == {"QUIRE_OK"}
    assert issubclass(_names.Verdict, int)


def test_the_library_is_as_new_as_the_header() -> None:
    assert lib.quire_version_number() >= lib.QUIRE_VERSION_NUMBER
