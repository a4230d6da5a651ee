"""The documentation site: ``sphinx-build -W -b html docs site``. The pages are the Markdown files of this folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, Text

project = "pytocu"
author = "The pytocu developers"
copyright = author
release = re.findall(r'^VERSION = "(.*)"', (Path(__file__).parent.parent / "pytocu" / "config.py").read_text(), re.MULTILINE)[0]

extensions = ["myst_parser"]
exclude_patterns = ["conf.py"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"pytocu {release}"
html_copy_source = False
html_show_sourcelink = False
html_theme_options: dict[str, Any] = {"sidebar_hide_name": False}
html_static_path = ["static"]
html_css_files = ["site.css"]


class Console(RegexLexer):
    """Commands behind ``$``, and what they print: the IR, mostly."""

    name = "pytocu console"
    tokens = {  # noqa: RUF012 - as Pygments wants it
        "root": [
            (r"^(\$ )((?:.*\\\n)*.*\n)", bygroups(Generic.Prompt, Generic.Strong)),
            (r"(#|//) .*?$", Comment),
            (r'"[^"\n]*"', String),
            (r"%[\w.]+", Name.Variable),
            (r"@\w+", Name.Function),
            (r"\b(func|host|facts|for|if|while|return|yield|kernel|launch|const|int|float|extern)\b", Keyword),
            (r"\b([fiu]\d+|bool|index|ptr|weak)\b", Keyword.Type),
            (r"-?\b\d[\w.]*\b", Number),
            (r"[=+*/<>-]", Operator),
            (r"\w+", Text),
            (r"\s+", Text),
            (r".", Text),
        ]
    }


def outside(app: Any, name: str, source: list[str]) -> None:
    """Links to files beside this folder lead to the pages that include them."""
    source[0] = source[0].replace("(../SECURITY.md)", "(security.md)").replace("(../CHANGELOG.md)", "(changelog.md)")
    # A comment that says what an example needs is for the tests.
    source[0] = re.sub(r"^<!-- example: .* -->\n", "", source[0], flags=re.MULTILINE)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.add_lexer("console", Console)
    app.connect("source-read", outside)
