"""Builds the extension modules and puts both libraries beside them, where $ORIGIN finds them.

QUIRE_LIBRARY names a libquire.so.0 that was built before; libquire-profiles.so.0 is in the same folder. Without it
those in build of this checkout are taken, and built with `make lib` if they are not there. With QUIRE_CLUSTER=1 the
package has the module quire.cluster, and libquire-cluster.so.0 takes the place of libquire.so.0 (`make lib-cluster`).
"""

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent.parent.parent
# The library of each extension module.
CLUSTER = os.environ.get("QUIRE_CLUSTER") == "1"
NAMES = {
    "quire._quire": "libquire-cluster.so.0" if CLUSTER else "libquire.so.0",
    "quire._profiles": "libquire-profiles.so.0",
}


def library(name: str) -> Path:
    given = os.environ.get("QUIRE_LIBRARY")
    if given:
        path = Path(given) if name == NAMES["quire._quire"] else Path(given).with_name(name)
        if not path.is_file():
            raise SystemExit(f"QUIRE_LIBRARY={given}: there is no file {path}")
        return path.resolve()
    built = ROOT / "build" / name
    if not built.exists():
        goal = "lib-cluster" if "cluster" in name else "lib"
        subprocess.run(["make", "-C", str(ROOT), goal], check=True)
    return built


class BuildWithLibrary(build_ext):
    def run(self) -> None:
        staged = {}
        for extension in self.extensions:
            if name := NAMES.get(extension.name):
                staged[name] = Path(self.build_temp, name)
                staged[name].parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(library(name), staged[name])
                extension.extra_objects = [str(staged[name])]
                extension.extra_link_args = ["-Wl,-rpath,$ORIGIN"]
        super().run()
        package = Path(self.get_ext_fullpath("quire._quire")).parent
        for name, path in staged.items():
            shutil.copyfile(path, package / name)


setup(
    cffi_modules=["build_quire.py:ffi", "build_quire.py:profiles_ffi"],
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
