"""``narcissus measure``: what disclosure control measures of files, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import click

from narcissus.cli.options import AsJson, Opt, command, print_json
from narcissus.cli.playing import _binned, _names, _ways
from narcissus.cli.rooms import disclosure
from narcissus.errors import InputError
from narcissus.tables import Bins


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    known: Annotated[str | None, Opt(check=_names)] = None
    secret: Annotated[str | None, Opt(check=_names)] = None
    weights: str | None = None
    population: float | None = None
    unit: str | None = None
    bins: Annotated[tuple[str, ...], Opt(check=_binned)] = ()
    read_as: Annotated[tuple[str, ...], Opt(check=_ways)] = ()
    missing: Annotated[str, Opt(click.Choice(["any", "value"]))] = "any"
    as_json: AsJson = False


@command
def measure(files: Annotated[tuple[str, ...], Opt(click.Path())], *, of: MeasureOptions) -> None:
    how: dict[str, Any] = {"known": of.known, "secrets": of.secret, "weights": of.weights}
    how |= {"population": of.population, "unit": of.unit, "missing": of.missing}
    how["bins"] = {name: Bins(**way) for name, way in dict(of.bins).items()}
    how["read_as"] = dict(of.read_as)
    found = []
    for file in files:
        try:
            found.append(disclosure.measure_disclosure(file, **how))
        except InputError as error:
            told = str(error) if file in str(error) else f"{Path(file).name}: {error}"
            raise type(error)(told) from error
    if of.as_json:
        print_json({"files": [{"file": Path(f).name, **one.to_dict()}
                              for f, one in zip(files, found, strict=True)]})  # fmt: skip
        return
    for file, one in zip(files, found, strict=True):
        click.echo(f"{Path(file).name}\n{one}\n")
