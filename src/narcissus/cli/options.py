"""Options shared by several commands; texts of a single command are arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Option = Callable[[Callable[..., Any]], Callable[..., Any]]

SUCCESS = "exact: a guess must name the very value, as in membership; any: it may cover several."

allow_code = click.option(
    "--allow-code",
    is_flag=True,
    help="Let STUDY run modules of its own (`module:attribute`): only if you trust them.",
)
yes = click.option(
    "--yes", is_flag=True, help="Start even work that takes more than ten minutes, without asking."
)
quiet = click.option("--quiet", is_flag=True, help="No progress.")

prior = click.option(
    "--prior", type=float, metavar="P", help="Success of the best guess beforehand."
)
values = click.option(
    "--values", metavar="P1,P2,...", help="Distribution of the secret, value by value."
)
zipf = click.option(
    "--zipf", metavar="S,N", help="The secret follows Zipf's law: exponent S, N values."
)
adjacency = click.option(
    "--adjacency",
    default="replace-one",
    show_default=True,
    metavar="KIND",
    help="Neighbours that the guarantee is about: replace-one or add-remove; what the latter says "
    "of a replaced record, one removed and one added, is derived and said.",
)
secret = click.option(
    "--secret",
    metavar="WHAT",
    help="What the attacker asks: value (of a record) or membership (whether the record is in).  "
    "[both, where the other options leave it open]",
)
success = click.option("--success", metavar="WHAT", help=f"With --prior: {SUCCESS}  [any]")
targets = click.option("--targets", type=int, metavar="N", help="How many people are attacked.")


def out_folder(of: str) -> Option:
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help=f"Results folder.  [default: results/<name of the {of}>]",
    )


def file(option: str, metavar: str, text: str, *, exists: bool = False) -> Option:
    """Take a file to write, or one to read, which must exist."""
    return click.option(
        option,
        type=click.Path(path_type=Path, exists=exists, dir_okay=False),
        metavar=metavar,
        help=text,
    )


priors = file("--priors", "FILE", "One prior a person: CSV or JSON, a row a person.")


def records(text: str) -> Option:
    """Take the file about single records, in a folder of the user alone."""
    return click.option(
        "--records",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help=text,
        callback=_in_own_folder,
    )


def _in_own_folder(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    from narcissus._files import require_own_folder

    if path is not None:
        require_own_folder(path)
    return path


def plot(text: str) -> Option:
    return file("--plot", "FILE.svg", text)


report = file("--report", "FILE.html", "Write a page with pictures, to be read in a browser.")


def guarantee(command: Callable[..., Any]) -> Callable[..., Any]:
    """Take one guarantee of any kind, and its adjacency."""
    options: list[Option] = [
        click.option(
            "--epsilon", type=float, metavar="E", help="Differential privacy with this epsilon."
        ),
        click.option("--delta", type=float, metavar="D", help="With --epsilon: approximate DP."),
        click.option("--mu", type=float, metavar="M", help="Gaussian DP."),
        click.option("--rho", type=float, metavar="R", help="Zero-concentrated DP."),
        click.option("--renyi", metavar="ALPHA:GAMMA", help="Renyi DP of order ALPHA."),
        click.option(
            "--dp-sgd",
            metavar="noise=..,rate=..,steps=..",
            help="DP-SGD (the extra `accounting`).",
        ),
        click.option(
            "--bayes-security", type=float, metavar="B", help="Bayes security of one record."
        ),
        file("--profile", "FILE", "A privacy curve: epsilon, delta."),
        file("--pld", "FILE", "A privacy loss distribution: loss, probability."),
        adjacency,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def seed(text: str) -> Option:
    return click.option("--seed", type=click.IntRange(min=0), help=text)


def workers(text: str) -> Option:
    return click.option("--workers", type=click.IntRange(min=1), help=text)


def engine(command: Callable[..., Any]) -> Callable[..., Any]:
    name = click.option(
        "--engine",
        metavar="NAME",
        help="Who plays: serial, processes or dask; the numbers do not depend on it.",
    )
    scheduler = click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler, such as tls://HOST:8786: the data is sent there.",
    )
    return name(scheduler(command))


def restart(text: str) -> Option:
    return click.option("--restart", is_flag=True, help=text)


def as_json(text: str) -> Option:
    return click.option("--json", "as_json", is_flag=True, help=text)
