"""Between Python's values and the structures of quire.h."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any

from ._errors import Status, failure
from ._names import LinkKind
from ._quire import ffi
from ._values import Data, Id, Link, PathName


def sized(type_name: str) -> Any:
    """A new structure: struct_size is set, everything else is zero."""
    return ffi.new(f"{type_name} *", {"struct_size": ffi.sizeof(type_name)})


def id_bytes(value: Id) -> bytes:
    """The bytes of an id or a text."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, int) and not isinstance(value, bool):
        return b"%d" % value
    if not isinstance(value, bytes):
        raise TypeError(f"an id is str, bytes or int, not {type(value).__name__}")
    return value


def id_in(value: Id) -> tuple[Any, int]:
    """A quire_bytes of an id or a text; it holds what it points to."""
    text = id_bytes(value)
    return ffi.from_buffer(text), len(text)


class Buffers:
    """The buffers that one call borrows. They are given back at its end, also if it fails: a traceback
    must not go on holding a body, which would keep its snapshot open."""

    __slots__ = ("_borrowed",)

    def __init__(self) -> None:
        self._borrowed: list[Any] = []

    def __enter__(self) -> Buffers:
        return self

    def __exit__(self, *ignored: object) -> None:
        for pointer in self._borrowed:
            ffi.release(pointer)

    def data_in(self, value: Data) -> tuple[Any, int]:
        """A quire_bytes that points into the value."""
        if isinstance(value, str):
            value = value.encode("utf-8", "surrogateescape")
        pointer = ffi.from_buffer(value)
        self._borrowed.append(pointer)
        return pointer, len(pointer)


class Ids:
    """A quire_ids that holds what it points to."""

    def __init__(self, ids: Iterable[Id]) -> None:
        if isinstance(ids, (str, bytes)):
            raise TypeError("a list of ids is needed, not one id")
        self._items = [id_in(id) for id in ids]
        self._array = ffi.new("quire_bytes[]", self._items)
        self.value = (self._array, len(self._items))

    def __len__(self) -> int:
        return len(self._items)


def link_in(link: Link | str | None) -> tuple[int, int, tuple[Any, int]]:
    if link is None:
        link = Link.UNKNOWN
    elif isinstance(link, str):
        link = Link.token(link)
    elif not isinstance(link, Link):
        raise TypeError(f"a link is a Link or a str, not {link!r}")
    return (link.kind, 0, id_in(link.text) if link.text else (ffi.NULL, 0))


def number_in(value: int, bits: int = 64) -> int:
    """An unsigned number; cffi's errors would not say what is wrong."""
    value = _index(value)
    if not 0 <= value < 1 << bits:
        raise failure(Status.BAD_ARGUMENT, f"{value} is not a number from 0 to 2^{bits} - 1")
    return value


def signed_in(value: int) -> int:
    """A key, a version or a time."""
    value = _index(value)
    if not -1 << 63 <= value < 1 << 63:
        raise failure(Status.BAD_ARGUMENT, f"{value} is not a number from -2^63 to 2^63 - 1")
    return value


def _index(value: int) -> int:
    if isinstance(value, bool):
        raise TypeError("a number is needed, not bool")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"a number is needed, not {type(value).__name__}") from None


def handle_in(thing: Any, kind: type) -> Any:
    """The handle of an object. Another object is an error that names what is needed, and nothing internal."""
    return checked(thing, kind)._handle


def checked(thing: Any, kind: type) -> Any:
    if not isinstance(thing, kind):
        raise TypeError(f"a quire.{kind.__name__} is needed, not {type(thing).__name__}")
    return thing


def path_in(path: PathName) -> bytes:
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise failure(Status.BAD_ARGUMENT, "the path holds a NUL")
    return encoded


def bytes_out(value: Any) -> bytes:
    return bytes(ffi.buffer(value.data, value.size)) if value.size else b""


def text_out(value: Any) -> str:
    return bytes_out(value).decode("utf-8", "surrogateescape")


def ids_out(ids: Any) -> list[str]:
    return [text_out(ids.items[i]) for i in range(ids.count)]


_PLAIN = {kind: Link(kind) for kind in LinkKind}


def link_out(link: Any) -> Link:
    if not link.text.size and not link.is_overlapping:
        return _PLAIN[link.kind]
    return Link(LinkKind(link.kind), text_out(link.text), bool(link.is_overlapping))
