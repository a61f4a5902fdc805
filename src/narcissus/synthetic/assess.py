"""Try the three risks on a given file: attacks are chosen on some people and scored on others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus._random import child
from narcissus.errors import InputError
from narcissus.evidence.two_samples import TwoSamples, standard_score
from narcissus.observer import SILENT, Observer
from narcissus.synthetic.files import GivenFiles
from narcissus.synthetic.inference import Inference
from narcissus.synthetic.nearest import CLOSE, distances
from narcissus.synthetic.risks import FileThreat, Risk
from narcissus.synthetic.singling_out import isolated, kinds_of_predicates, singled_out

Columns = tuple[int, ...]

SPLITS = 4
"""Ways of dividing the columns that are tried where none is given."""


@dataclass(frozen=True)
class Link:
    """A way to link two sets of columns through the nearest rows of a file.

    Attributes
    ----------
    one, other
        Positions of the columns; disjoint, neither empty.
    is_rare
        Whether a meeting counts only where fewer than one is expected of as many rows drawn at
        random: where many rows tie for the nearest, that they meet says nothing.
    """

    one: Columns
    other: Columns
    is_rare: bool

    def links(self, files: GivenFiles, people: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say for whom a row of the file is nearest by both sets of columns; shape (people,)."""
        rows = files.rows("synthetic")
        found = np.zeros(len(people), np.bool_)
        pairs = zip(
            distances(files.table, people, rows, self.one),
            distances(files.table, people, rows, self.other),
            strict=True,
        )
        for (block, here), (_, there) in pairs:
            near = here <= here.min(axis=1, keepdims=True) + CLOSE
            beside = there <= there.min(axis=1, keepdims=True) + CLOSE
            meets = (near & beside).any(axis=1)
            if self.is_rare:
                meets &= near.sum(axis=1) * beside.sum(axis=1) < len(rows)
            found[block] = meets
        return found


def ways_to_link(
    files: GivenFiles, given: tuple[Columns, Columns] | None, rng: np.random.Generator
) -> dict[str, Link]:
    """Give the ways that are tried, by name: the division that was given, or random ones.

    Parameters
    ----------
    files
        At least two columns.
    given
        The two sets of columns; None draws `SPLITS` divisions of all columns in two.
    rng
        Draws them.
    """
    width = files.table.columns
    splits = {given} if given is not None else set[tuple[Columns, Columns]]()
    possible = math.comb(width, width // 2) // (2 - width % 2)
    while given is None and len(splits) < min(SPLITS, possible):
        order = [int(j) for j in rng.permutation(width)]
        halves = [tuple(sorted(order[: width // 2])), tuple(sorted(order[width // 2 :]))]
        splits.add((min(halves), max(halves)))
    return {
        f"{_named(files, one)} with {_named(files, other)}{', rare meetings' * is_rare}": Link(
            one, other, is_rare
        )
        for one, other in sorted(splits)
        for is_rare in (True, False)
    }


def _named(files: GivenFiles, columns: Sequence[int]) -> str:
    return ", ".join(files.table.names[j] for j in columns)


Positions = NDArray[np.int64]
Wins = NDArray[np.bool_]

FEWEST = 20
"""Fewest people of a file that can be divided."""
ALIKE = 0.001
"""Error of the test of whether the control is of the same population."""
NAMED = 10
"""Fewest people of a file whose value is named: the record is made to be shown."""


@dataclass(frozen=True)
class Halves:
    """People to choose attacks on, and others to score them on.

    Attributes
    ----------
    chosen_on, scored
        Positions in the table of the people of the real data.
    control_chosen_on, control_scored
        The same of the control; empty where there is none.
    """

    chosen_on: Positions
    scored: Positions
    control_chosen_on: Positions
    control_scored: Positions

    @property
    def crowd(self) -> Positions:
        """Everybody that attacks were chosen on."""
        return np.concatenate([self.chosen_on, self.control_chosen_on])


@dataclass(frozen=True)
class Unlike:
    """The value whose share differs most between the real data and the control.

    ``p_value`` is Fisher's, two-sided, times the number of values looked at, at most 1.
    """

    column: str
    value: str
    real: float
    control: float
    p_value: float

    @property
    def is_shown(self) -> bool:
        """Whether the control is shown to be of another population."""
        return self.p_value < ALIKE


@dataclass(frozen=True)
class Assessment:
    """What was found.

    Attributes
    ----------
    halves
        Who was scored.
    risks
        Inference of each secret, singling out, linkability.
    unlike
        Where the control differs most; None without a control.
    """

    halves: Halves
    risks: tuple[Risk, ...]
    unlike: Unlike | None


def assess_file(
    files: GivenFiles, threat: FileThreat, *, entropy: int, observer: Observer = SILENT
) -> Assessment:
    """Try the three risks on a given file.

    The people of the real data and of the control are each divided at random in halves. On the
    one, the attack is chosen that sets the two apart most, in standard errors; on the other, it is
    scored. If the synthetic file was made without the people of ``real`` (or tells nothing of
    them in particular), those scored are exchangeable with the control's, given the file, the
    choice and everybody it was made on; so a test of exchangeability errs as often as it says.

    Parameters
    ----------
    files
        The files.
    threat
        What the attacker is after.
    entropy
        The seed.
    observer
        Hears of each risk.

    Raises
    ------
    InputError
        The threat does not fit the columns, or a file has fewer than `FEWEST` rows.
    """
    secrets, division = threat.secrets(files), threat.division(files)
    halves = _halves(files, threat.people, child(entropy, 0))
    unknown = {j for columns in secrets.values() for j in columns}
    known = [j for j in range(files.table.columns) if j not in unknown]
    risks: list[Risk] = []
    observer.start("risks", len(secrets) + 2)
    for name, columns in secrets.items():
        risks.append(_inference(files, halves, name, Inference(files, columns, known)))
        observer.advance()
    risks.append(_singling_out(files, halves, child(entropy, 1)))
    observer.advance()
    risks.append(_linkability(files, halves, division, child(entropy, 2)))
    observer.advance()
    observer.finish()
    return Assessment(halves, tuple(risks), _unlike(files) if files.control else None)


def _halves(files: GivenFiles, most: int, rng: np.random.Generator) -> Halves:
    found: list[Positions] = []
    for name in ("real", "control"):
        rows = files.rows(name)
        if 0 < len(rows) < FEWEST:
            raise InputError(
                f"the {name} file has {len(rows)} rows: at least {FEWEST} are needed, half to "
                "choose an attack on and half to score it on"
            )
        drawn = rng.permutation(rows)[:most]
        found += [drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]]
    return Halves(*found)


def _chosen(
    attempts: Mapping[str, Callable[[Positions], Wins]], halves: Halves
) -> tuple[str, dict[str, tuple[float, float | None]]]:
    """Choose the attack that sets both sides apart most; without a control, the most successful."""
    tried: dict[str, tuple[float, float | None]] = {}
    scores: dict[str, tuple[float, float]] = {}
    for name, attempt in attempts.items():
        won = attempt(halves.crowd)
        real, control = won[: len(halves.chosen_on)], won[len(halves.chosen_on) :]
        score = 0.0
        if control.size:
            counts = TwoSamples(int(real.sum()), real.size, int(control.sum()), control.size)
            score = standard_score(counts)
        tried[name] = float(real.mean()), float(control.mean()) if control.size else None
        scores[name] = (score, tried[name][0])
    return max(scores, key=lambda name: scores[name]), tried


def _scored(attempt: Callable[[Positions], Wins], halves: Halves) -> tuple[Wins, Wins | None]:
    won = attempt(np.concatenate([halves.scored, halves.control_scored]))
    real, control = won[: len(halves.scored)], won[len(halves.scored) :]
    return real, control if control.size else None


def _inference(files: GivenFiles, halves: Halves, name: str, inference: Inference) -> Risk:
    """Guess a secret from the synthetic rows, and from people who are not scored."""
    attempts = inference.attempts()
    rows = files.rows("synthetic")
    with_file = {a: (lambda people, f=f: f(people, rows)) for a, f in attempts.items()}
    attack, tried = _chosen(with_file, halves)
    real, control = _scored(with_file[attack], halves)
    # Who knows the population guesses without the file: the same attacks, on other people's
    # records. With a control these are its own half, and the real half chooses among the attacks;
    # without one the real half is divided once more.
    if halves.control_chosen_on.size:
        others, choose_on = halves.control_chosen_on, halves.chosen_on
    else:
        middle = len(halves.chosen_on) // 2
        others, choose_on = halves.chosen_on[:middle], halves.chosen_on[middle:]
    guesses = {a: (lambda people, f=f: f(people, others)) for a, f in attempts.items()}
    guess = max(guesses, key=lambda a: guesses[a](choose_on).mean())
    guessed_real, guessed_control = _scored(guesses[guess], halves)
    return Risk(
        "inference", name, attack, tried, real, control, guess, guessed_real, guessed_control
    )


def _singling_out(files: GivenFiles, halves: Halves, rng: np.random.Generator) -> Risk:
    kinds = kinds_of_predicates(files, rng)
    crowd = halves.crowd
    attack, tried = _chosen(
        {
            name: (lambda people, s=subsets: singled_out(files, s, people, crowd, inside=True))
            for name, subsets in kinds.items()
        },
        halves,
    )
    subsets = kinds[attack]
    real, control = _scored(lambda people: singled_out(files, subsets, people, crowd), halves)
    # groups of the same size, so that the counts can be compared
    size = min(len(halves.scored), len(halves.control_scored) or len(halves.scored))
    found = isolated(files, subsets, halves.scored[:size], halves.control_scored[:size], crowd)
    facts = {"crowd": len(crowd), "predicates": found.predicates}
    facts |= {"people of each side": size, "isolate one in the data": found.first}
    if control is not None:
        facts["isolate one in the control"] = found.second
    return Risk("singling out", "", attack, tried, real, control, facts=facts)


def _linkability(
    files: GivenFiles,
    halves: Halves,
    division: tuple[tuple[int, ...], tuple[int, ...]] | None,
    rng: np.random.Generator,
) -> Risk:
    ways = ways_to_link(files, division, rng)
    attempts = {
        name: (lambda people, way=way: way.links(files, people)) for name, way in ways.items()
    }
    attack, tried = _chosen(attempts, halves)
    real, control = _scored(attempts[attack], halves)
    return Risk("linkability", "", attack, tried, real, control)


def _unlike(files: GivenFiles) -> Unlike:
    """Find the value whose share differs most, of those that nobody or enough people have."""
    found: list[tuple[float, int, int, float, float]] = []
    looked_at = 0
    for j in range(files.table.columns):
        codes = files.coarse[:, j]
        size = int(codes.max()) + 1
        real = np.bincount(codes[files.rows("real")], minlength=size)
        control = np.bincount(codes[files.rows("control")], minlength=size)
        for code in range(size):
            a, b = int(real[code]), int(control[code])
            together = files.real + files.control
            tails = scipy.stats.hypergeom.sf(a - 1, together, a + b, files.real)
            tails = min(tails, scipy.stats.hypergeom.cdf(a, together, a + b, files.real))
            looked_at += 1
            if not (0 < a < NAMED or 0 < b < NAMED):
                p_value = min(1.0, 2 * float(tails))
                found.append((p_value, j, code, a / files.real, b / files.control))
    if not found:
        return Unlike("every column", f"what fewer than {NAMED} people have", 0.0, 0.0, 1.0)
    p_value, j, code, real, control = min(found)
    return Unlike(
        files.table.names[j],
        files.label(files.table.names[j], code),
        real,
        control,
        min(1.0, p_value * looked_at),
    )
