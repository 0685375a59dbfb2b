"""Builds the two extension modules and puts libquire.so.0 beside them, where $ORIGIN finds it.

QUIRE_LIBRARY names a library that was built before; without it build/libquire.so.0 of this checkout is
taken, and built with `make lib` if it is not there.
"""

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = "libquire.so.0"


def library() -> Path:
    given = os.environ.get("QUIRE_LIBRARY")
    if given:
        if not Path(given).is_file():
            raise SystemExit(f"QUIRE_LIBRARY={given}: there is no such file")
        return Path(given).resolve()
    built = ROOT / "build" / NAME
    if not built.exists():
        subprocess.run(["make", "-C", str(ROOT), "lib"], check=True)
    return built


class BuildWithLibrary(build_ext):
    def run(self) -> None:
        found = library()
        staged = Path(self.build_temp, NAME)
        staged.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, staged)
        for extension in self.extensions:
            if extension.name == "quire._quire":
                extension.extra_objects = [str(staged)]
                extension.extra_link_args = ["-Wl,-rpath,$ORIGIN"]
        super().run()
        package = Path(self.get_ext_fullpath("quire._quire")).parent
        shutil.copyfile(staged, package / NAME)


setup(
    cffi_modules=["build_quire.py:ffi"],
    ext_modules=[
        Extension(
            "quire._lease",
            ["src/quire/_lease.c"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
        )
    ],
    cmdclass={"build_ext": BuildWithLibrary},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
