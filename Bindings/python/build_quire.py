"""Makes the extension modules `quire._quire` and `quire._profiles` (cffi, API mode) from Include/*.h.

The C compiler then checks every structure and function that was read here against the header itself.
"""

import os
import re
from pathlib import Path

from cffi import FFI

INCLUDE = Path(__file__).resolve().parent.parent.parent / "Include"

# Called by the library; defined in quire/_cache.py and quire/_view.py.
CALLBACKS = """
extern "Python" quire_status quire_python_batch(void *context, quire_batch *batch);
extern "Python" void quire_python_finding(void *context, const quire_finding *finding);
extern "Python" quire_status quire_python_progress(void *context, double done);
extern "Python" int32_t quire_python_view(void *context, const quire_row *post, quire_view_entry *entry);
extern "Python" void quire_python_release(void *context);
"""


def declarations(header: str) -> str:
    """The header without comments, preprocessor lines and annotations: what cffi can read."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL).replace("\\\n", " ")
    constants = [
        f"#define {name} ..."
        for name, value in re.findall(r"^#define (QUIRE_\w+) +(\S.*)$", text, re.MULTILINE)
        if re.fullmatch(r"[0-9]+|UINT64_MAX", value.strip())
    ]
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern "C" \{(.*)\}', r"\1", text, flags=re.DOTALL)
    text = re.sub(r"\bQUIRE_(NULLABLE|NONNULL)\b", "", text)
    return "\n".join(constants) + "\n" + re.sub(r"\n\s*\n+", "\n", text)


# With QUIRE_CLUSTER=1 the package is made of libquire-cluster, which has all of libquire.
CLUSTER = os.environ.get("QUIRE_CLUSTER") == "1"
HEADERS = ["quire.h", "quire_cluster.h"] if CLUSTER else ["quire.h"]
INCLUDES = "".join(f'#include "{header}"\n' for header in HEADERS)

ffi = FFI()
for header in HEADERS:
    ffi.cdef(declarations((INCLUDE / header).read_text(encoding="utf-8")))
ffi.cdef(CALLBACKS)
ffi.set_source(
    "quire._quire",
    INCLUDES,
    include_dirs=[str(INCLUDE)],
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    py_limited_api=True,
)

profiles_ffi = FFI()
profiles_ffi.include(ffi)
profiles_ffi.cdef(declarations((INCLUDE / "quire_profiles.h").read_text(encoding="utf-8")))
profiles_ffi.set_source(
    "quire._profiles",
    INCLUDES + '#include "quire_profiles.h"',
    include_dirs=[str(INCLUDE)],
    define_macros=[("Py_LIMITED_API", "0x030B0000")],
    py_limited_api=True,
)
