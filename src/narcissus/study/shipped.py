"""The studies that come with the package, one for each statement and example of the papers."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from narcissus._validation import did_you_mean
from narcissus.errors import InputError

FOLDER = Path(__file__).parent / "examples"


@dataclass(frozen=True)
class Shipped:
    """A shipped study.

    Attributes
    ----------
    name
        Its name, the one of its file.
    about
        One sentence.
    source
        Paper and number.
    expected
        What comes out; empty where the study says nothing.
    path
        Its file.
    """

    name: str
    about: str
    source: str
    expected: str
    path: Path


def shipped_studies() -> list[Shipped]:
    """List the shipped studies by name."""
    found: list[Shipped] = []
    for path in sorted(FOLDER.glob("*.toml"), key=lambda path: path.stem):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        about, source = str(data.get("about", data.get("title", ""))), str(data.get("source", ""))
        found.append(Shipped(path.stem, about, source, str(data.get("expected", "")), path))
    return found


def shipped_study(name: str) -> Shipped:
    """Give a shipped study by its name.

    Raises
    ------
    InputError
        There is no such study; the message names the nearest.
    """
    known = {study.name: study for study in shipped_studies()}
    if name not in known:
        raise InputError(
            f"no shipped study is called {name!r}{did_you_mean(name, known)}; "
            "`narcissus examples` lists them"
        )
    return known[name]
