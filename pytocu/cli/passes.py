"""pytocu passes: list the passes in order, and why they are in that order."""

from __future__ import annotations

import argparse

from pytocu.cli.terminal import show, table
from pytocu.passes.pipeline import PIPELINE, pass_names

EPILOG = "any name can be given to pytocu dump --after"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are no options."""


def run(options: argparse.Namespace) -> None:
    """Print the list."""
    rows = [("lower", "The front end: Python source becomes array IR.")]
    for name, step in zip(pass_names(), PIPELINE, strict=True):
        rows.append((name, step.doc))
        rows.extend(("", f"after {needed}, because {reason}") for needed, reason in step.after)
    show(table(rows, indent=""))
