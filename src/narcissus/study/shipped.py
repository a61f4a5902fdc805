"""The studies that come with the package: a table, a language model, and games of the papers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from narcissus._toml import read_toml
from narcissus._validation import did_you_mean
from narcissus.errors import InputError

FOLDER = Path(__file__).parent / "examples"


@dataclass(frozen=True)
class Shipped:
    """A shipped study."""

    name: str  # that of its file
    about: str
    kind: str
    source: str  # paper and number; empty where it is about none
    expected: str  # what comes out; empty where the study says nothing
    path: Path
    tables: tuple[Path, ...]  # the files that it reads, which lie beside it, and beside a copy


def shipped_studies() -> list[Shipped]:
    studies: list[Shipped] = []
    for path in sorted(FOLDER.glob("*.toml"), key=lambda path: path.stem):
        data = read_toml(path.read_text(encoding="utf-8"))
        about, source = str(data.get("about", data.get("title", ""))), str(data.get("source", ""))
        kind, tables = str(data.get("kind", "table")), tuple(_beside(data))
        expected = str(data.get("expected", ""))
        studies.append(Shipped(path.stem, about, kind, source, expected, path, tables))
    return studies


def _beside(value: object) -> Iterator[Path]:
    """Name the files that a study reads, whatever its kind: what it calls so lies next to it."""
    if isinstance(value, dict | list):
        inner = cast("dict[str, object] | list[object]", value)
        for part in inner.values() if isinstance(inner, dict) else inner:
            yield from _beside(part)
    elif isinstance(value, str) and Path(value).suffix and (FOLDER / value).is_file():
        yield FOLDER / value


def shipped_study(name: str) -> Shipped:
    known = {study.name: study for study in shipped_studies()}
    if name not in known:
        raise InputError(
            f"no shipped study is called {name!r}{did_you_mean(name, known)}; "
            "`narcissus init --example` lists them"
        )
    return known[name]
