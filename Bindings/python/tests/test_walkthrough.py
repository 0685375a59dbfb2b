"""The example and the README run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


def test_walkthrough(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", FOLDER / "examples" / "walkthrough.py", tmp_path / "walk.quire"],
        capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "a b c ~ x y z" in done.stdout and "a b c d x y z" in done.stdout


def test_readme(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(), re.DOTALL)
    assert blocks
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks)], cwd=tmp_path, capture_output=True,
        text=True)
    assert (done.returncode, done.stderr) == (0, "")
