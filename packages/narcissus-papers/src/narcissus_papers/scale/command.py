"""``narcissus-papers scale``: a game at each value of one of its parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import click

from narcissus.cli.interrupts import on_interrupt
from narcissus.cli.main import NOT_ASSESSED, OK
from narcissus.cli.options import INSIDE, Count, Opt, command_of
from narcissus.cli.playing import Run

_PAGE = Path(__file__).with_name("scale.txt").read_text(encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class ScaleOptions:
    over: str
    together: Annotated[tuple[str, ...], Opt(name="--with")] = ()
    trials: Count = None
    confidence: Annotated[float, Opt(INSIDE)] = 0.95
    run: Run


@partial(command_of, page=_PAGE.replace(r"\b", "\b"))
def scale(study: Path, *, of: ScaleOptions) -> int:
    from narcissus.study.shipped import shipped_study
    from narcissus_papers.scale import Sweep, read_parameter, write
    from narcissus_papers.scale.sweep import scale as scale_up
    from narcissus_papers.scale.texts import as_dict, text_of, verdict_of

    place = study
    if not study.is_file() and not study.suffix and len(study.parts) == 1:
        place = shipped_study(study.name).path  # a bare name that is no file here
    folder = of.run.out or Path("results") / f"{place.stem}-scale"
    sweep = Sweep(
        read_parameter(of.over, "--over"),
        tuple(read_parameter(text, "--with") for text in of.together),
        of.trials,
        of.confidence,
    )
    on_interrupt(f"what is finished is kept in {folder}; the same command continues")
    how: dict[str, Any] = {"rng": of.run.seed, "workers": of.run.workers, "restart": of.run.restart}
    how |= {"folder": folder, "allow_code": of.run.allow_code}
    scaled = of.run.play(partial(scale_up, place, sweep, **how))
    write(scaled, folder, restart=of.run.restart)
    if of.run.as_json:
        click.echo(json.dumps(as_dict(scaled), indent=1, ensure_ascii=False))
    else:
        click.echo(text_of(scaled))
        click.echo(f"wrote {folder / 'index.html'}")
    is_whole = all(step.is_whole for step in scaled.each)
    return OK if is_whole and verdict_of(scaled)[2] else NOT_ASSESSED
