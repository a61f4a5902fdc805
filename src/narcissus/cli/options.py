"""Options shared by several commands; texts of a single command are arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

Option = Callable[[Callable[..., Any]], Callable[..., Any]]

SUCCESS = "exact: a guess must name the very value, as in membership; any: it may cover several."


def take(
    option: str,
    metavar: str | None,
    text: str,
    kind: Any = None,
    *,
    name: str | None = None,
    shown: Any = None,
    **more: Any,
) -> Option:
    """Take a value under the name of the option or ``name``; the help shows a default ``shown``."""
    more |= {} if shown is None else {"default": shown, "show_default": True}
    names = [option] if name is None else [option, name]
    return click.option(*names, type=kind, metavar=metavar, help=text, **more)


def flag(option: str, text: str, *, name: str | None = None) -> Option:
    return click.option(*([option] if name is None else [option, name]), is_flag=True, help=text)


def file(option: str, metavar: str, text: str, *, exists: bool = False, **more: Any) -> Option:
    """Take a file to write, or one to read, which must exist."""
    return take(
        option, metavar, text, click.Path(path_type=Path, exists=exists, dir_okay=False), **more
    )


def _beside_files(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse, before any work, a page or a picture that cannot be written."""
    from narcissus.errors import InputError

    if path is None:
        return None
    name, picture = option.opts[0], option.opts[0] == "--plot"
    if path.suffix not in ({".svg", ".pdf", ".png"} if picture else {".html"}):
        ends = ".svg, .pdf or .png" if picture else ".html"
        raise InputError(f"`{name}` must end in {ends}, got {path}")
    if not path.resolve().parent.is_dir():
        raise InputError(f"`{name}`: the folder of {path} does not exist; make it first")
    return path


def _in_own_folder(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    from narcissus._files import require_own_folder

    if path is not None:
        require_own_folder(path)
    return path


allow_code = flag(
    "--allow-code", "Let STUDY run modules of its own (`module:attribute`): only if you trust them."
)
yes = flag("--yes", "Start even work that takes more than ten minutes, without asking.")
quiet = flag("--quiet", "No progress.")
force = flag("--force", "Replace FILE if it exists.")
prior = take("--prior", "P", "Success of the best guess beforehand.", float)
values = take("--values", "P1,P2,...", "Distribution of the secret, value by value.")
zipf = take("--zipf", "S,N", "The secret follows Zipf's law: exponent S, N values.")
priors = file("--priors", "FILE", "One prior a person: CSV or JSON, a row a person.")
adjacency = take(
    "--adjacency",
    "KIND",
    "Neighbours that the guarantee is about: replace-one or add-remove; what the latter says "
    "of a replaced record, one removed and one added, is derived and said.",
    shown="replace-one",
)
secret = take(
    "--secret",
    "WHAT",
    "What the attacker asks: value (of a record) or membership (whether the record is in).  "
    "[both, where the other options leave it open]",
)
success = take("--success", "WHAT", f"With --prior: {SUCCESS}  [any]")
targets = take("--targets", "N", "How many people are attacked.", int)
confidence = take("--confidence", "C", "Level.", float, shown=0.95)
report = file(
    "--report",
    "FILE.html",
    "Write a page with pictures, to be read in a browser.",
    callback=_beside_files,
)


def out_folder(of: str, after: str = "") -> Option:
    text = f"Results folder.  [default: results/<name of the {of}>{after}]"
    return take("--out", "FOLDER", text, click.Path(path_type=Path, file_okay=False))


def records(text: str) -> Option:
    """Take the file about single records, in a folder of the user alone."""
    return file("--records", "FILE", text, callback=_in_own_folder)


def plot(text: str) -> Option:
    return file("--plot", "FILE.svg", text, callback=_beside_files)


def seed(text: str) -> Option:
    return click.option("--seed", type=click.IntRange(min=0), help=text)


def workers(text: str) -> Option:
    return click.option("--workers", type=click.IntRange(min=1), help=text)


restart = partial(flag, "--restart")
as_json = partial(flag, "--json", name="as_json")


def several(*options: Option) -> Option:
    """Take several options, in the order of the help page."""

    def take_all(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return take_all


guarantee = several(
    take("--epsilon", "E", "Differential privacy with this epsilon.", float),
    take("--delta", "D", "With --epsilon: approximate DP.", float),
    take("--mu", "M", "Gaussian DP.", float),
    take("--rho", "R", "Zero-concentrated DP.", float),
    take("--renyi", "ALPHA:GAMMA", "Renyi DP of order ALPHA."),
    take("--dp-sgd", "noise=..,rate=..,steps=..", "DP-SGD (the extra `accounting`)."),
    take("--bayes-security", "B", "Bayes security of one record.", float),
    file("--profile", "FILE", "A privacy curve: epsilon, delta."),
    file("--pld", "FILE", "A privacy loss distribution: loss, probability."),
    adjacency,
)
engine = several(
    take(
        "--engine", "NAME", "Who plays: serial, processes or dask; the numbers do not depend on it."
    ),
    take(
        "--scheduler", "ADDRESS", "Dask scheduler, such as tls://HOST:8786: the data is sent there."
    ),
)
