"""The command ``narcissus-papers``: what only the papers' experiments need."""

from __future__ import annotations

from typing import Any

from narcissus.cli.main import LazyGroup, group
from narcissus.cli.main import main as run

COMMANDS = {
    "reproduce": (
        "narcissus_papers.command",
        "Make a paper's figures and tables again, next to the printed ones.",
    ),
    "scale": (
        "narcissus_papers.scale.command",
        "Compare a game's success and bound with one of its parameters.",
    ),
}


class PapersGroup(LazyGroup):
    """The commands of this package."""

    program = "narcissus-papers"
    modules = COMMANDS
    groups = {"Commands": tuple(COMMANDS)}  # noqa: RUF012 (declared by the class above)
    moved = {}  # noqa: RUF012
    starts = ""


@group(PapersGroup)
def cli() -> None:
    """Make the papers' figures again, and draw games against their parameters."""


def main(argv: list[str] | None = None) -> Any:
    """Run the command line; exit codes are those of ``narcissus``."""
    return run(argv, cli)
