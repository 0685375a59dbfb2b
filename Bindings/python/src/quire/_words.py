"""Numbers that print as their names."""

from __future__ import annotations

from enum import IntEnum


class Word(IntEnum):
    """A number of quire.h. It prints as the library names it, such as "no-progress"."""

    def __str__(self) -> str:
        return self.name.lower().replace("_", "-")

    def __format__(self, specification: str) -> str:
        """As a text, or as a number if the specification ends as one for numbers does: f"{verdict:d}"."""
        is_number = specification[-1:] in tuple("bcdeEfFgGnoxX%")
        return format(int(self) if is_number else str(self), specification)
