"""The program of the article prints what the article says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ARTICLE = Path(__file__).resolve().parents[3] / "Docs" / "Quire.docc" / "FiveMinutesPython.md"


@pytest.mark.skipif(not ARTICLE.exists(), reason="not in the repository")
def test_article(tmp_path: Path) -> None:
    text = ARTICLE.read_text()
    [program] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    *_, expected = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == expected
