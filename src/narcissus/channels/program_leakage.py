"""What a program leaks, by running it until the answer is narrow enough.

The models are LeakWatch (Chothia et al. 2014) and dudect (Reparaz et al. 2017).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narcissus._validation import between, integer
from narcissus.channels.estimate import estimate
from narcissus.channels.evidence_ahead import LeakageEvidence, evidence_of_leakage
from narcissus.channels.kept_runs import KeptRuns
from narcissus.channels.leakage import LeakageEstimate
from narcissus.channels.programs import Program, Run, runs
from narcissus.channels.sampled_leakage import SampledLeakage, sampled_leakage
from narcissus.errors import InputError, LongWorkError
from narcissus.observer import SILENT, Observer
from narcissus.results import Grade, Result

TRIED = 3
"""Runs to see that it works, and as many to see how long they take; these do not count."""


@dataclass(frozen=True)
class StopWhen:
    """When to stop running a program.

    Attributes
    ----------
    width
        As `until` of `narcissus.channels.estimate`: when both intervals are this narrow (where
        outputs are continuous, the upper limits this near the estimates).
    confidence
        Of each interval.
    most
        Runs at most; looks are at 50 runs a secret (200 at least) and ever twice as many, so that
        the last look may be at fewer.
    hours
        Longest time that all runs may take; None is any.
    """

    width: float = 0.1
    confidence: float = 0.95
    most: int = 20_000
    hours: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        between("width", self.width, 0, 1, open_low=True)
        between("confidence", self.confidence, 0, 1, open_low=True, open_high=True)
        integer("most", self.most, low=1)

    def looks(self, secrets: int) -> tuple[int, int]:
        """Return the first and the last number of runs at which to look."""
        first = last = max(200, 50 * secrets)
        if self.most < first:
            raise InputError(
                f"`most` is {self.most:,}, but {secrets} secrets need {first:,} runs at least"
            )
        while 2 * last <= self.most:
            last *= 2
        return first, last


@dataclass(frozen=True)
class ProgramLeakage(Result):
    """What a program leaks.

    Attributes
    ----------
    program
        The command.
    estimate
        Bayes security and Bayes risk; their limits hold although it was stopped when they were
        narrow enough.
    evidence
        Whether it leaks at all.
    leakage
        Other measures, if asked for; they hold likewise.
    runs
        The file of runs.
    width
        How narrow it was to become.
    """

    program: str
    estimate: LeakageEstimate
    evidence: LeakageEvidence
    leakage: SampledLeakage | None
    runs: Path
    width: float

    @property
    def grade(self) -> Grade:
        """Always 'sampled'."""
        return "sampled"

    @property
    def slack(self) -> float:
        """How far the wider of both limits leaves its quantity open."""
        return max(e.high - (e.value if e.low is None else e.low) for e in (
            self.estimate.beta_star, self.estimate.bayes_risk) if e.high is not None)  # fmt: skip

    @property
    def parts(self) -> list[LeakageEstimate | SampledLeakage | LeakageEvidence]:
        """What was found, one after the other."""
        return [self.estimate, *([self.leakage] if self.leakage else []), self.evidence]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers under the keys of the command line."""
        return {
            "program": self.program,
            **self.estimate.to_dict(),
            "no_leakage": {"p_value": self.evidence.p_value},
            **({"leakage": self.leakage.to_dict()} if self.leakage else {}),
            "runs": str(self.runs),
        }

    def __str__(self) -> str:
        reached = (
            "narrow enough"
            if self.slack <= self.width
            else f"not as narrow as asked ({self.width:g}): allow more runs, the same command goes "
            "on where this stopped"
        )
        head = f"{self.program}: {self.estimate.samples} runs, {reached}"
        return "\n\n".join([head, *map(str, self.parts)])


def program_leakage(
    program: Program,
    *,
    path: Path | str,
    stop: StopWhen = StopWhen(),
    measures: Sequence[str] = (),
    gain: Any = None,
    estimators: Any = None,
    kind: str = "auto",
    rng: int = 0,
    observer: Observer = SILENT,
) -> ProgramLeakage:
    """Run a program with random secrets until its leakage is known well enough.

    Parameters
    ----------
    program
        What to run, with the rights of this process, and the secrets that it is told.
    path
        Where runs are kept; runs of the same program that are there are taken up.
    stop
        How narrow limits must get, at which confidence, and after how many runs to give up.
    measures, gain
        Of `sampled_leakage`; none if left out.
    estimators, kind, observer
        As in `narcissus.channels.estimate`.
    rng
        Seed of the secrets and of the split.

    Raises
    ------
    InputError
        A run that fails or hangs; a file of other runs.
    LongWorkError
        The runs would take longer than was agreed to.

    Notes
    -----
    Look ``t`` spends ``(1 - confidence) / (t (t + 1))`` of the chance to miss, at a number of runs
    fixed beforehand: the limits of all looks hold together with the confidence, whichever is the
    last, also where another call goes on with more runs.
    """
    first, last = stop.looks(len(program.secrets))
    place = Path(path)
    if not place.resolve().parent.is_dir():
        raise InputError(f"the folder of {place} does not exist; make it first")
    with runs(program) as run:
        kept = KeptRuns(program, run, place, rng, observer)
        if len(kept.rows) < last:
            _announce(program, run, last, len(kept.rows), stop.hours, observer)
        found = estimate(
            kept, confidence=stop.confidence, estimators=estimators, kind=kind, until=stop.width,
            first=first, most=last, rng=rng,
        )  # fmt: skip
    secret, output = kept.all()
    by_name = dict(zip(program.secrets, program.weights.tolist(), strict=True))
    looks = len(found.history)
    others = None
    if measures:
        others = sampled_leakage(
            secret, output, measures=measures, prior=by_name, gain=gain, estimators=estimators,
            confidence=1 - (1 - stop.confidence) / (looks * (looks + 1)), kind=kind, rng=rng,
        ).said_at(stop.confidence)  # fmt: skip
    evidence = evidence_of_leakage(secret, output, by_name, estimators=estimators)
    return ProgramLeakage(program.name, found, evidence, others, place, stop.width)


def _announce(
    program: Program,
    run: Run,
    last: int,
    done: int,
    hours: float | None,
    observer: Observer,
) -> None:
    """Try the program, and say how long all runs may take; these do not count."""
    for secret in program.secrets[:TRIED]:  # the first of all may have to load a good deal
        run(secret)
    began = time.monotonic()
    for _ in range(TRIED):
        run(program.secrets[0])
    each = (time.monotonic() - began) / TRIED
    seconds = each * (last - done)
    kept = f" ({done:,} are there already)" if done else ""
    said = (
        f"`{program.name}`: at most {last:,} runs{kept}, about {seconds:,.0f} s at "
        f"{1000 * each:.3g} ms a run"
    )
    if hours is not None and seconds > 3600 * hours:
        raise LongWorkError(f"{said}. Start it all the same with --yes, or allow fewer runs")
    observer.note(said)
