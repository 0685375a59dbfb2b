"""The types of the package are right, as far as mypy can tell."""

import subprocess
import sys
from pathlib import Path


def test_types() -> None:
    folder = Path(__file__).parents[1]
    command = ["-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir=/dev/null", "src/quire"]
    checked = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
