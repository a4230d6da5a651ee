"""The documentation site is built with warnings as errors, and its pages ask nothing of the network."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
MISSING = [name for name in ("sphinx", "myst_parser", "furo") if importlib.util.find_spec(name) is None]
needs_sphinx = pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}: pip install 'pytocu[docs]'")


def built(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_page_is_in_the_contents() -> None:
    listed = re.findall(r"^([a-z-]+)$", (DOCS / "index.md").read_text(), flags=re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "index")


@needs_sphinx
def test_site_is_built_without_warnings_and_asks_for_nothing(tmp_path: Path) -> None:
    done = built(DOCS, tmp_path / "site")
    assert done.returncode == 0, done.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 15
    loads = r'<(?:script|img|iframe|source)[^>]*\bsrc="([^"]+)"|<link[^>]*\bhref="([^"]+)"'
    for page in pages:
        for found in re.findall(loads, page.read_text(encoding="utf-8")):
            address = "".join(found)
            assert "//" not in address, f"{page.name} loads {address}"
    for sheet in (tmp_path / "site").rglob("*.css"):
        assert not re.search(r"@import|url\(['\"]?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


@needs_sphinx
def test_a_broken_link_fails(tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    (source / "conf.py").write_text('project = "x"\nextensions = ["myst_parser"]\n')
    (source / "index.md").write_text("# X\n\n[nowhere](nothing.md)\n")
    assert built(source, tmp_path / "site").returncode != 0
