"""Verdicts that rest on sampling, each with worlds in which its claim is false, or plainly true.

An entry names the places in the code where its limit or test is used: a new place without an entry
fails `tests/test_nulls.py`. A world plays the verdict once, from a generator, and returns whether
a false claim was made; worlds stand at the boundary of the claim. `power` returns whether an effect
of a given size was found. `tests/nulls/run.py` plays them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy import stats

import narcissus
from narcissus import Game, evidence, play
from narcissus.audits import Audit
from narcissus.audits.play import play as replay
from narcissus.channels import sampled_leakage
from narcissus.counts import AsPublished, Cell, Rules, Structure, TablesGame, Variable, WantedSecret
from narcissus.counts import play as play_tables
from narcissus.counts.marks import Meaning
from narcissus.counts.reading import Statistic
from narcissus.counts.rules import PLUS_MINUS_ONE
from narcissus.errors import InputError
from narcissus.evidence.intervals import TwoSamples, auc
from narcissus.evidence.refutation import refuted_by_runs
from narcissus.extraction.canaries import NamedCanaries
from narcissus.extraction.images import CaptionedImages, DividedImages, ImageLayout
from narcissus.extraction.recovered import (
    Division,
    TextDocument,
    recovered_documents,
)
from narcissus.guarantees import dp_sgd
from narcissus.kinds.memorization.classifier import kind as classifier
from narcissus.kinds.memorization.classifier.kind import ImageSides
from narcissus.kinds.memorization.classifier.schema import ClassifierStudy
from narcissus.kinds.memorization.engine import limits_of
from narcissus.kinds.memorization.image import kind as image
from narcissus.kinds.memorization.image.kind import AttackedImages, ImageStudy
from narcissus.kinds.memorization.language.attacks import AttackedDocuments, is_misread
from narcissus.kinds.memorization.language.kind import KIND, FoundAboutModel
from narcissus.kinds.memorization.language.schema import LanguageStudy
from narcissus.kinds.synthetic.decisions import TOLD, guessed_by_file
from narcissus.kinds.synthetic.kind import KIND as SYNTHETIC
from narcissus.kinds.synthetic.schema import ExcessThreshold
from narcissus.kinds.table.experiment import Experiment
from narcissus.kinds.table.held_out import SURE, held_out_attempts
from narcissus.kinds.table.kind import prepare
from narcissus.kinds.table.left_out import guess_by_order, of_values
from narcissus.kinds.table.other_priors import is_allowed
from narcissus.kinds.table.row_order import BY_CHANCE, ordered_rows, sorted_columns
from narcissus.kinds.table.schema import TableStudy
from narcissus.kinds.table.tested import prior_test
from narcissus.mechanisms import RandomizedResponse
from narcissus.membership import audit_membership, blind_baseline, shadow_scores
from narcissus.observer import SILENT
from narcissus.profiles import Bayes, write_out
from narcissus.report.first_screen import surely_largest
from narcissus.study.kinds import RunOptions
from narcissus.study.load import load_study
from narcissus.success import Resilience
from narcissus.success.relations import OneOfPair
from narcissus.synthetic import FileThreat, assess_file, read_files
from narcissus.synthetic.assessment import ALIKE
from narcissus.synthetic.changes import CHANGED_ERROR
from narcissus.synthetic.column_sets import ERROR as SETS_ERROR
from narcissus.synthetic.column_sets import look_at_sets
from narcissus.synthetic.column_swaps import people_elsewhere
from narcissus.synthetic.copies import Copies, Views, file_facts
from narcissus.synthetic.digits import swapped_digits
from narcissus.synthetic.extra_columns import HELD_ERROR
from narcissus.synthetic.full_files import read_whole
from narcissus.synthetic.mirrors import look_mirrored, nearer_mirrored
from narcissus.synthetic.names_in_values import INSIDE_ERROR
from narcissus.synthetic.near_copies import (
    NEARER_ERROR,
    NEAREST_OTHERS,
    NEAREST_PAIRS,
    SHARES,
    nearer_people,
)
from narcissus.synthetic.notation import ways_of_numbers
from narcissus.synthetic.part_copies import partly_copied
from narcissus.synthetic.recoding import look_recoded
from narcissus.synthetic.row_groups import look_grouped
from narcissus.synthetic.row_rules import look_by_row
from narcissus.synthetic.rows_in_order import ORDER_ERROR, look_at_order
from narcissus.synthetic.traces import ALIKE_ROWS, OWN_VALUES, traces_of
from narcissus.tables.tally import RawColumn
from narcissus.worlds import Pairs

Draws = np.random.Generator
World = Callable[[Draws], bool]
ALPHA = 0.05


@dataclass(frozen=True)
class Power:
    """An effect in words, its sizes from small to large, and whether one was found."""

    effect: str
    sizes: Sequence[float]
    found: Callable[[float, Draws], bool]


@dataclass(frozen=True)
class Null:
    """A verdict, what it rests on, and how often it is wrong where it is false."""

    verdict: str
    at: tuple[str, ...]  # places in the code, `room/module function`
    theorem: str
    assumes: str  # hypotheses: independence of what, exchangeability, fixed beforehand
    kept_by: str  # where the code sees to that
    else_: str  # what happens to the rate where it fails
    worlds: Mapping[str, World]
    power: Power
    declared: float = ALPHA
    repeats: float = 1.0  # times the usual number: less where a play takes long
    is_approximate: bool = False  # then a higher rate is shown, and fails nothing
    outside: Mapping[str, World] = field(default_factory=dict)
    """Worlds beyond the assumptions: the rate is shown, and fails nothing."""


def misses(found: evidence.Estimate, truth: float) -> bool:  # pyright: ignore
    """Return whether limits do not hold the truth."""
    low = -np.inf if found.low is None else found.low
    high = np.inf if found.high is None else found.high
    return bool(low > truth + 1e-12 or high < truth - 1e-12)


# Means of trials -------------------------------------------------------------------------------


def mean(draw: Callable[[Draws], np.ndarray], truth: float, people: int, g: Draws) -> bool:
    return misses(evidence.mean_limits(draw(g), people=people), truth)


def rare_ruin(g: Draws) -> np.ndarray:
    """Return .9 nearly always and 0 with chance 1/30: of mean .87."""
    return np.where(g.random(60) < 1 / 30, 0.0, 0.9)


MEANS = {
    "shares of 100 people, 30 trials": partial(mean, lambda g: g.binomial(100, 0.87, 30) / 100,
                                               0.87, 100),
    "trials that are right or wrong": partial(mean, lambda g: g.binomial(1, 0.3, 60) * 1.0, 0.3, 1),
    "all right but for a rare ruin": partial(mean, rare_ruin, 0.87, 100),
    "shares of 1e-4": partial(mean, lambda g: g.binomial(100, 1e-4, 200) / 100, 1e-4, 100),
    "a constant": partial(mean, lambda g: np.full(20, 0.5), 0.5, 100),
}  # fmt: skip


def beyond(shares: np.ndarray) -> bool:
    """Return whether the last of several works shows a gain over the others."""
    *works, own = np.asarray(shares, dtype=float)
    high = evidence.next_limit(works).high
    return high is not None and own > high


def difference(ours: float, theirs: float, trials: int, g: Draws) -> bool:
    first, second = (g.binomial(100, p, trials) / 100 for p in (ours, theirs))
    return misses(evidence.difference_limits(first, second, people=100), ours - theirs)


def advantage(g: Draws) -> bool:
    base = g.beta(8, 2, 60)
    won = g.binomial(50, 0.25 + 0.75 * base) / 50
    return misses(evidence.advantage_limits(won, base, people=50), 0.25)


def enclosed(g: Draws) -> bool:
    low = g.binomial(100, 0.6, 80) / 100
    values = low + (1 - low) * g.binomial(1, 0.1, 80)
    sums = evidence.PeopleSums(100 * low, 100 * low, 100)
    found = evidence.enclosed_limits(
        values, evidence.Envelope(low, sums), evidence.Envelope(np.ones(80)), people=100
    )
    return misses(found, 0.64)


def people_upper(chance: float, g: Draws) -> bool:
    sums = g.binomial(50, chance, 20).astype(float)
    return misses(evidence.population_mean_upper(sums, sums, 50), chance)


def median(g: Draws) -> bool:
    values = g.normal(size=15).round(1)
    return misses(evidence.median_limits(values), 0.0)


def student(draw: Callable[[Draws], np.ndarray], truth: float, g: Draws) -> bool:
    return misses(evidence.studentised_limits(draw(g)), truth)


def anytime(g: Draws) -> bool:
    """Stop at the first look at which the limits are wrong."""
    seen = g.binomial(1, 0.3, 400) * 1.0
    return any(misses(evidence.anytime_limits(seen[:n]), 0.3) for n in range(20, 401, 20))


def count(chance: float, trials: int, g: Draws) -> bool:
    return misses(evidence.clopper_pearson(int(g.binomial(trials, chance)), trials), chance)


# Two samples -----------------------------------------------------------------------------------


def two(p: float, n: int, q: float, m: int, g: Draws) -> bool:
    found = TwoSamples(int(g.binomial(n, p)), n, int(g.binomial(m, q)), m)
    return found.refuses(p - q, error=ALPHA / 2) or found.reversed.refuses(q - p, error=ALPHA / 2)


def gain(n: int, m: int, share: float, more: float, g: Draws) -> bool:
    ours, theirs = int(g.binomial(n, share + more)), int(g.binomial(m, share))
    low, high = limits_of(ours, n, theirs, m, 1 - ALPHA)
    return not low <= more + 1e-12 <= high + 2e-12


def area(n: int, m: int, decimals: int, g: Draws) -> bool:
    return misses(auc(g.normal(size=n).round(decimals), g.normal(size=m).round(decimals)), 0.5)


def fisher(share: float, g: Draws) -> bool:
    """Divide documents at random, of which a share comes back whatever was trained on."""
    came = g.permutation(np.arange(120) < 120 * share)
    chance = recovered_documents(came[:40], came[40:]).chance
    return chance is not None and chance <= ALPHA


def canaries(g: Draws) -> bool:
    ranks = tuple(int(r) for r in g.integers(1, 21, 30))
    return NamedCanaries(1, 30, ranks, 19, 0, 6).chance() <= ALPHA


# Given files -----------------------------------------------------------------------------------


def rows_of(
    people: int, first: int, g: Draws, *, each: int = 1, ties: bool = False
) -> pd.DataFrame:
    """Draw people with columns of their own, in several rows of which one column varies."""
    found = pd.DataFrame({
        "who": np.arange(people) + first, "age": g.integers(0, 3 if ties else 50, people),
        "town": g.integers(0, 8, people), "ill": g.integers(0, 2, people),
        "always": np.where(np.arange(people) > 0, "x", "y"),
    })  # fmt: skip
    found = found.loc[found.index.repeat(each)].reset_index(drop=True)
    return found.assign(ward=g.integers(0, 5, len(found)))


def homes_of(homes: int, first: int, g: Draws) -> pd.DataFrame:
    """Draw households of 1 to 5 people, who live in one town and are ill together."""
    found = rows_of(homes, first, g)
    found = found.loc[found.index.repeat(g.integers(1, 6, homes))].reset_index(drop=True)
    return found.assign(age=g.integers(0, 50, len(found)), ward=g.integers(0, 5, len(found)))


def given(
    g: Draws,
    *,
    each: int = 1,
    unit: bool = False,
    homes: bool = False,
    ties: bool = False,
    known: bool = False,
    copied: float = 0.0,
) -> tuple[bool, bool]:
    """Return whether an excess is claimed of a file, and whether its control is called foreign."""
    real, other, control = (
        homes_of(80, k, g) if homes else rows_of(80, k, g, each=each, ties=ties)
        for k in (0, 500, 1000)
    )
    if known:
        real, other, control = (one.assign(same=one.ill) for one in (real, other, control))
    if copied:
        other = pd.concat([real[: round(copied * len(real))], other[round(copied * len(real)) :]])
    how = {"unit": "who"} if unit else {"drop": ["who"]}
    made = other.drop(columns="who") if unit else other
    found = assess_file(read_files(real, made, control, **how), FileThreat(("ill",)),
                        entropy=int(g.integers(2**31)))  # fmt: skip
    error = ALPHA / 2 / (len(found.risks) + 1)
    counts = [*(risk.counts() for risk in found.risks), found.facts.beside]
    return any(c.refuses(0.0, error=error) for c in counts if c), bool(found.unlike.is_shown)


def copied(
    g: Draws,
    *,
    share: float = 0.0,
    of: str = "real",
    each: int = 1,
    unit: bool = False,
    ties: bool = False,
    beside: bool = False,
    towns: int = 8,
    years: int = 0,
) -> bool:
    """Return whether copies of a side are claimed, by coincidences or beside a control."""
    real, made, control = (rows_of(150, k, g, each=each, ties=ties) for k in (0, 500, 1000))
    made["town"] %= towns
    control["age"] += years
    many = round(share * len(made))
    made = pd.concat([(control if of == "control" else real)[:many], made[many:]])
    how = {"unit": "who"} if unit else {"drop": ["who"]}
    files = read_files(real, made.drop(columns="who") if unit else made, control, **how)
    facts = file_facts(files, [files.table.index("ill")], entropy=int(g.integers(2**31)))
    if beside:
        return facts.beside is not None and facts.beside.refuses(0.0, error=ALPHA / 2)
    if of == "control":
        return facts.control.excess(ALIKE)[1] > 0
    return facts.copies.excess(ALPHA / 2)[1] > 0


def traced(
    g: Draws,
    *,
    beside: bool = False,
    made_by: str = "others",
    places: int | None = None,
    share: float = 0.0,
    nearly: bool = False,
    linked: bool = False,
) -> bool:
    """Return whether people are said to stand in a published file, by any of its columns."""
    real, others, control, _ = (register(150, g) for _ in range(4))
    fitted = {"others": others, "margins": shuffled(others, g)}
    made = fitted[made_by].assign(line=np.arange(150))
    names = ["case", "admitted", "bill"]
    many = round(share * len(made))
    if nearly:
        made.loc[: many - 1, "bill"] = real["bill"][:many] * (1 + g.normal(0, 1e-9, many))
        made.loc[: many - 1, "rate"] = real["rate"][:many] * (1 + g.normal(0, 1e-9, many))
    elif linked:
        made["age"] = np.where(g.random(150) < share, real["age"], made["age"])
    else:
        made.loc[: many - 1, names] = real[names][:many]
    sides = [real, made, control] if beside else [real, made]
    if places is not None:
        sides = [one.round({"bill": places, "rate": places}) for one in sides]
    found = traces_of(read_whole(*sides), ["age", "ward"], [], entropy=int(g.integers(2**31)))
    if linked:
        return any(one.is_alike for one in found.linked)
    best = found.deciding(ALPHA / 2, beside=beside)
    return best.excess(ALPHA / 2, beside=beside)[1] > 0


def earned(
    g: Draws, *, beside: bool = False, kind: str = "incomes", share: float = 0.0, by: int = 0
) -> bool:
    """Return whether people are said to stand in a file with numbers that lie close together.

    kind: "incomes" that rise with age; "taxed": a tax follows from them; "given": numbers that one
        person has each, in the order of another column.
    by: How far the incomes of people who are put into the file are moved, at most, with their age.
    """

    def drawn(n: int = 150) -> pd.DataFrame:
        age = g.integers(18, 90, n)
        pay = 1_000 + 10 * age + g.integers(0, 1_800, n)
        if kind == "given":
            pay = 1_000 + g.choice(500, n, replace=False)
            age = pay // 10 + g.integers(0, 5, n)
        frame = pd.DataFrame({"age": age, "pay": pay, "sex": g.choice(["f", "m"], n)})
        return frame.assign(tax=pay // 5) if kind == "taxed" else frame

    real, made, control = drawn(), drawn(), drawn()
    many = round(share * len(made))
    made[:many] = real[:many]
    made.loc[: many - 1, "pay"] += g.integers(-by, by + 1, many)
    made.loc[: many - 1, "age"] += g.integers(-1, 2, many) * min(1, by)
    sides = [real, made, control] if beside else [real, made]
    found = traces_of(read_whole(*sides), list(real), [], entropy=int(g.integers(2**31)))
    best = found.deciding(ALPHA / 2, beside=beside)
    return best.excess(ALPHA / 2, beside=beside)[1] > 0


def in_units(g: Draws, unit: str, share: float = 0.0) -> bool:
    """Return whether a file of other people in other units is said to move the data's numbers."""
    draw, change = {
        "inches": (lambda: g.normal(170, 9, 400).round(4), lambda x: (x / 2.54).round(2)),
        "dollars": (lambda: g.lognormal(10, 0.7, 400).round(2), lambda x: (x * 0.92).round(2)),
        "days": (lambda: g.integers(0, 1000, 400) * 1.0, lambda x: x + 17),
        "ages": (lambda: g.integers(18, 90, 400) * 1.0, lambda x: x + 2),
    }[unit]
    real, made = draw(), draw()
    many = round(share * len(made))
    made[:many] = real[:many]
    (known, people), (own, times) = (
        np.unique(side, return_counts=True) for side in (real, change(made))
    )
    ways = ways_of_numbers(known, own, times, people)
    return any("units" in way.words or "moved" in way.words for way in ways)


def by_digits(g: Draws, population: str, share: float = 0.0) -> bool:
    """Return whether copies are claimed by last digits, of a file of as many other people."""

    def draw() -> pd.DataFrame:
        pay = g.lognormal(8, 0.5, 200)
        pay = pay.round(2 if population == "cents" else 0)
        if population == "half of them in hundreds":
            pay = np.where(g.random(200) < 0.5, pay.round(-2), pay)
        frame = pd.DataFrame({"pay": pay, "sex": g.integers(0, 2, 200)})
        return frame.assign(tax=3 * pay) if population == "with their tax" else frame

    real, made = draw(), draw()
    many = round(share * len(made))
    files = read_whole(real, pd.concat([real[:many], made[many:]]))
    found = swapped_digits(files, Views(files, g), files.rows("real"), g)
    return found is not None and found.excess(ALPHA / 2)[1] > 0


def own_values(g: Draws, made_by: str = "others", share: float = 0.0) -> bool:
    """Return whether values of single columns are said to be those of people of the data."""
    real, others = (register(150, g) for _ in range(2))
    made = {"others": others, "margins": shuffled(others, g), "rounded": others.round(-1)}[made_by]
    many = round(share * len(made))
    made["bill"] = np.r_[real["bill"][:many], made["bill"][many:]]
    found = traces_of(read_whole(real, made), list(real), [], entropy=int(g.integers(2**31)))
    return bool(found.values)


def in_control(g: Draws, *, ties: bool = False, share: float = 0.0) -> bool:
    """Return whether a control is said to hold people of the data."""
    real, made, control = (
        rows_of(150, k, g, ties=ties).drop(columns="who") for k in (0, 500, 1000)
    )
    many = round(share * len(control))
    control = pd.concat([real[:many], control[many:]])
    found = traces_of(read_whole(real, made, control), list(real), [],
                      entropy=int(g.integers(2**31)))  # fmt: skip
    return found.facts.shared is not None and found.facts.shared.excess(ALIKE)[1] > 0


def told_by_file(g: Draws, share: float = 0.0) -> bool:
    """Return whether a file is said to guess a secret better than other people's records do."""
    real, made = (
        linked(200, g).assign(case=g.integers(0, 60, 200), blood=g.integers(0, 4, 200))
        for _ in range(2)
    )
    many = round(share * len(made))
    made = pd.concat([real[:many], made[many:]])
    files = read_files(real, made)
    found = assess_file(files, FileThreat(("ill", "blood")), entropy=int(g.integers(2**31)))
    threshold = ExcessThreshold.model_validate({})
    findings = SYNTHETIC.measured(files, found, threshold, confidence=1 - ALPHA)
    return guessed_by_file(SYNTHETIC.conclude(findings)) is not None


def register(people: int, g: Draws) -> pd.DataFrame:
    """Draw people with a number, a date, a bill and columns that hang together."""
    age = g.integers(18, 90, people)
    rate = g.lognormal(3, 1, people)
    return pd.DataFrame({
        "line": np.arange(people), "case": g.choice(90_000_000, people, replace=False),
        "number": g.choice(4 * people, people, replace=False),
        "admitted": np.datetime_as_string(np.datetime64("2020-01-01") + g.integers(0, 700, people)),
        "age": age, "ward": g.choice(["a", "b", "c"], people), "rate": rate,
        "bill": rate * age * g.integers(1, 9, people),
    })  # fmt: skip


def shuffled(frame: pd.DataFrame, g: Draws) -> pd.DataFrame:
    """Shuffle each column by itself."""
    return frame.apply(lambda column: g.permutation(column.to_numpy()))


def answered(people: int, g: Draws, *, trait: float = 0.7, values: int = 5) -> pd.DataFrame:
    """Draw people who answer seven questions, mildly alike, and have an income."""
    drawn = 3 + trait * g.normal(size=(people, 1)) + 1.1 * g.normal(size=(people, 7))
    answers = pd.DataFrame(np.clip(np.round(drawn), 1, values).astype(int), columns=list("abcdefg"))
    return answers.assign(income=np.round(g.lognormal(10, 1, people), 2))


def partly_kept(
    g: Draws, *, made_by: str = "others", share: float = 0.0, values: int = 5, beside: bool = False
) -> bool:
    """Return whether people stand in a file by columns that half of them choose."""
    real, others, control = (answered(160, g, values=values) for _ in range(3))
    fitted = {
        "others": others,
        "margins": shuffled(others, g),
        "another trait": answered(160, g, trait=1.4, values=values),
        "incomes of the data": others.assign(income=g.permutation(real["income"].to_numpy())),
    }
    made, many = fitted[made_by].astype(float), round(share * len(real))
    made.loc[: many - 1, list("aceg")] = real[list("aceg")][:many]
    files = read_whole(real, made, control if beside else None)
    found = partly_copied(files, files.rows("real"), files.rows("control"), g)
    assert found is not None
    if beside:
        return found[2] is not None and found[2].refuses(0.0, error=ALPHA / 2)
    return found[1].excess(ALPHA / 2)[1] > 0


def kinds_of_people(people: int, g: Draws, law: str) -> pd.DataFrame:
    """Draw people whose columns hang together: by traits, a code, or 60 kinds; or have heavy ties.

    Each has an income too, rounded so that some share theirs; of "own incomes" nobody does.
    """
    fixed = np.random.default_rng(6)
    if law == "traits":
        loads = fixed.normal(size=(2, 6)) * [1, 1, 2, 2, 3, 3]
        drawn = g.normal(size=(people, 2)) @ loads + g.normal(size=(people, 6))
    elif law == "a code":
        code = g.integers(0, 60, (people, 1))
        drawn = np.where(g.random((people, 6)) < 0.02, g.integers(0, 60, (people, 6)), code)
        drawn = drawn * [1, 7, 1, 1, 1, 1] // [1, 1, 3, 5, 7, 11]
    elif law == "kinds":
        kinds, weights = fixed.integers(0, 8, (60, 6)), fixed.dirichlet(np.full(60, 0.5))
        drawn = kinds[g.choice(60, people, p=weights)]
        drawn = np.where(g.random((people, 6)) < 0.08, g.integers(0, 8, (people, 6)), drawn)
    elif law == "ties":
        drawn = np.where(g.random((people, 6)) < 0.8, 0, g.geometric(0.15, (people, 6)))
    else:
        drawn = g.normal(size=(people, 1)) + g.normal(size=(people, 6)) > fixed.normal(size=6) / 2
    answers = pd.DataFrame(np.rint(drawn).astype(int), columns=list("abcdef"))
    return answers.assign(income=g.lognormal(10, 0.6, people).round(2 if law == "own" else -2))


def strikes(g: Draws, *, law: str, of_data: bool = False) -> bool:
    """Return whether a file of other people, or of columns of the data, strikes by some columns."""
    real, made = (kinds_of_people(200, g, law) for _ in range(2))
    files = read_whole(real, shuffled(real, g) if of_data else made)
    return bool(look_at_sets(files, Views(files, g), (files.rows("real"), files.rows("control")), g)
                .striking)  # fmt: skip


def some_kept(g: Draws, *, made_by: str = "others", many: int = 0) -> bool:
    """Return whether people stand in a file by any two or three columns, or larger sets."""
    real, others = (register(200, g).drop(columns=["line", "case", "number"]) for _ in range(2))
    fitted = {
        "others": others,
        "margins": shuffled(others, g),
        "margins of the data": shuffled(real, g),
        "drawn again": others.iloc[g.integers(0, 200, 200)].reset_index(drop=True),
    }
    made, names = fitted[made_by], ["age", "admitted", "ward"]
    made.loc[: many - 1, names] = real[names][:many]
    files = read_whole(real.round({"rate": 0, "bill": -1}), made.round({"rate": 0, "bill": -1}))
    sides = files.rows("real"), files.rows("control")
    return bool(look_at_sets(files, Views(files, g), sides, g).striking)


def far_nearer(g: Draws, *, made_by: str = "others", share: float = 0.0) -> bool:
    """Return whether rows are said to be far nearer to people than chance explains."""
    real, others = (answered(150, g, values=9) for _ in range(2))
    names = list("abcdefg")
    fitted = {
        "others": others,
        "margins": shuffled(real, g),
        "nearer the middle": (0.6 * others + 0.4 * others.mean()).round(),
        "repeating": pd.concat([others[:50]] * 3, ignore_index=True),
        "rounded in some rows": others.assign(
            income=others["income"].where(others.index % 3 > 0, others["income"].round(-3))
        ),
        "many": pd.concat(
            [others, *(answered(150, g, values=9) for _ in range(2))], ignore_index=True
        ),
    }
    made, many = fitted[made_by].astype(float), round(share * len(real))
    noise = g.uniform(-0.5, 0.5, (many, len(names)))
    made.loc[: many - 1, names] = (real[names][:many] + noise).round(1).to_numpy()
    made.loc[: many - 1, "income"] = real["income"][:many] * g.uniform(0.9, 1.1, many)
    files = read_whole(real, made)
    sides = files.rows("real"), files.rows("control")
    return nearer_people(files, Views(files, g), sides) is not None


def half_answered(g: Draws, *, many: int = 0, scale: float = 1.0) -> bool:
    """Return whether rows of a long questionnaire are said to be far nearer to people."""
    loads = np.random.default_rng(99).normal(size=(3, 40))
    drawn = (g.normal(size=(120, 3)) @ loads + 2 * g.normal(size=(120, 40)) for _ in range(2))
    real, made = (np.digitize(one, [-2, -0.6, 0.6, 2]) for one in drawn)
    if scale != 1:  # a generator that is too sure of the middle
        made = np.rint(2 + scale * (made - 2)).astype(int)
    for row in range(many):
        kept = g.permutation(40)[:20]
        made[row, kept] = real[row, kept]
    files = read_whole(*(pd.DataFrame(side).add_prefix("q") for side in (real, made)))
    sides = files.rows("real"), files.rows("control")
    return nearer_people(files, Views(files, g), sides) is not None


def held_alone(g: Draws, *, how: str = "beside", many: int = 0) -> bool:
    """Return whether columns of the file alone are said to hold people of the data."""
    real, made, others = (answered(150, g, values=9) for _ in range(3))
    others.loc[: many - 1] = real[:many].to_numpy()
    if how == "text":
        texts = others.astype(str).agg(" ".join, axis=1)
        return read_whole(real, made.assign(note=texts)).held is not None
    return read_whole(real, pd.concat([made, others.add_prefix("x_")], axis=1)).held is not None


def recoded(g: Draws, *, how: str = "one table", many: int = 0) -> bool:
    """Return whether people of the data are said to stand in the file under other codes."""
    real, made = (answered(200, g) for _ in range(2))
    made[:many] = real[:many]
    for name in "abcdefg" if how == "a table for each" else ["abcdefg"]:
        table = dict(zip(range(1, 6), g.permutation(5) + 1, strict=True))
        made[list(name)] = made[list(name)].replace(table)
    files = read_whole(real, made.iloc[g.permutation(200)].reset_index(drop=True))
    sides = files.rows("real"), files.rows("control")
    return look_recoded(files, sides, Copies(200, 0, 0, 200, 0), g) is not None


def changed_by_row(
    g: Draws, *, made_by: str = "others", rule: str = "a table", many: int = 0
) -> bool:
    """Return whether people of the data are said to stand in rows with a rule of their own."""
    real, others = (answered(200, g, values=9).drop(columns="income") for _ in range(2))
    made = {"others": others, "margins": shuffled(real, g), "few": others[:40]}[made_by]
    made = made.iloc[g.integers(0, len(made), 200)] if made_by == "few" else made
    made = made.reset_index(drop=True)
    made.loc[: many - 1] = real[:many].to_numpy()
    by = g.integers(1, 4, (200, 1))
    rows = {
        "a table": np.array([g.permutation(9)[row - 1] + 1 for row in made.to_numpy()]),
        "a mirror": np.where(by > 1, 10 - made, made),
        "a move": made + by,
    }[rule]
    files = read_whole(real, pd.DataFrame(rows, columns=real.columns))
    sides = files.rows("real"), files.rows("control")
    return look_by_row(files, sides, Copies(200, 0, 0, 200, 0), g) is not None


def housed(g: Draws, *, by: str = "a number", made_by: str = "others", many: int = 0) -> bool:
    """Return whether households of the data are said to stand in the file whole."""

    def drawn(first: int) -> pd.DataFrame:
        sizes = g.integers(2, 5, 60)
        people = answered(int(sizes.sum()), g, values=9)[[*"abcd"]]
        place = np.concatenate([np.arange(1, size + 1) for size in sizes])
        return people.assign(home=first + np.repeat(np.arange(60), sizes), place=place)

    real, made = drawn(0), drawn(500)
    if made_by == "margins":
        rows = g.integers(0, len(real), (len(made), 4))
        made[[*"abcd"]] = real[[*"abcd"]].to_numpy()[rows, range(4)]
    copied = real[real["home"] < many]
    made = pd.concat([copied.assign(home=copied["home"] + 5_000), made])
    left = "place" if by == "a number" else "home"
    real, made = (side.drop(columns=left) for side in (real, made))
    groups = read_whole(real, made.reset_index(drop=True)).groups
    return look_grouped(groups, g) is not None


def visited(g: Draws) -> bool:
    """Return whether visits of people, named by the steward, are said to stand in the file."""

    def drawn(first: int) -> pd.DataFrame:
        trait = np.repeat(g.normal(size=80), 4)[:, None]
        measures = np.rint(50 + 5 * trait + g.normal(size=(320, 4)) * [1, 2, 4, 8]).astype(int)
        visits = pd.DataFrame(measures, columns=list("abcd"))
        return visits.assign(who=first + np.repeat(np.arange(80), 4), visit=np.tile(range(4), 80))

    real, made = drawn(0), drawn(500)
    files = read_whole(real, made, unit="who")
    return look_grouped(files.groups, g, files.together) is not None


def misread(g: Draws, *, trained: float = 0.5, fresh: float = 0.5) -> bool:
    """Return whether a model is said not to be read as it was trained, by shares of documents."""
    return is_misread([g.random(60) < share for share in (trained, fresh)], confidence=0.95)


def declared_values(g: Draws, *, made_by: str = "others", many: int = 0) -> bool:
    """Return whether values of people are said to be in columns that were declared irrelevant."""

    def billed() -> pd.DataFrame:
        pay = g.normal(size=(300, 1)) + g.normal(size=(300, 3))
        amounts = np.exp(6 + pay).round(2 if made_by != "whole numbers" else 0)
        return pd.DataFrame(amounts, columns=["bill", "fee", "tax"]).assign(
            ward=g.integers(0, 5, 300)
        )

    real, made = billed(), billed()
    made.loc[: many - 1, "bill"] = real["bill"][:many] if many else []
    return bool(read_whole(real, made, irrelevant=["bill", "fee", "tax"]).put_back)


def places_kept(g: Draws, *, made_by: str = "others", share: float = 0.0) -> bool:
    """Return whether rows of a file are said to follow the order of the data."""
    real, others = (answered(200, g) for _ in range(2))
    if made_by == "sorted":
        real, others = (side.sort_values(["a", "income"]) for side in (real, others))
    if made_by == "households":
        for side in (real, others):
            side["income"] *= np.where(np.arange(200) % 4 < 2, 3.0, 1.0)
    if made_by == "drifting":
        for side in (real, others):
            side["a"] = np.cumsum(g.normal(size=200)).round(2)
    made = shuffled(real, g) if made_by == "margins" else others.reset_index(drop=True)
    many = round(share * len(made))
    made.loc[: many - 1, list("abc")] = 6 - real[list("bca")][:many].to_numpy()
    return look_at_order(read_whole(real, made), g) is not None


def elsewhere(g: Draws, *, made_by: str = "others", many: int = 0) -> bool:
    """Return whether values of people are said to stand under the names of other columns."""

    def earning() -> pd.DataFrame:
        pay = 8.5 + 0.4 * g.normal(size=(200, 1)) + 0.4 * g.normal(size=(200, 4))
        return pd.DataFrame(np.exp(pay).astype(int), columns=list("abcd"))

    real, others = earning(), earning()
    made = {
        "others": others,
        "margins": shuffled(real, g),
        "rounded": others.round(-1),
        "renamed": others.set_axis(list("badc"), axis=1),
    }[made_by]
    made.loc[: many - 1, list("badc")] = real[:many].to_numpy()
    files = read_whole(real, made)
    return people_elsewhere(files, (files.rows("real"), files.rows("control"))) is not None


def turned_round(g: Draws, *, made_by: str = "others", many: int = 0, nearly: bool = False) -> bool:
    """Return whether people are said to stand in a file mirrored, or under other names."""
    real, others = (answered(200, g, values=9).drop(columns="income") for _ in range(2))
    made = {"others": others, "margins": shuffled(real, g), "turned": 10 - others}[made_by]
    made.loc[: many - 1] = (real.min() + real.max() - real[:many]).to_numpy()
    files = read_whole(real, made)
    sides = files.rows("real"), files.rows("control")
    if nearly:
        return nearer_mirrored(files, Views(files, g), sides, g) is not None
    return look_mirrored(files, sides, Copies(200, 0, 0, 200, 0), g) is not None


def names_inside_texts(g: Draws, *, how: str = "job", many: int = 0) -> bool:
    """Return whether names of people are said to stand inside other values of a file."""
    syllables = [f"{c}{v}" for c in "BDKLMNRST" for v in "aeiou"]
    first = [f"{part}{end}" for part in syllables for end in ("n", "ra")]
    last = [f"{part}{end}" for part in syllables for end in ("ller", "mann", "ss", "ger")]

    def drawn() -> pd.DataFrame:
        names = [f"{g.choice(first)} {g.choice(last)}-{g.choice(last)}" for _ in range(200)]
        case = g.choice(10**6, 200, replace=False) + 10**6
        job = [f"{g.choice(['clerk', 'nurse'])} {g.integers(10**6, 2 * 10**6)}" for _ in names]
        return pd.DataFrame({"case": case, "name": names, "job": job})

    real, made = drawn(), drawn()
    if how == "initials":
        made["name"] = [f"{name[0]}. {name.split()[1]}" for name in made["name"]]
        made.loc[: many - 1, "name"] = [f"{n[0]}. {n.split()[1]}" for n in real["name"][:many]]
    elif many:
        made.loc[: many - 1, "job"] = [f"clerk ({number})" for number in real["case"][:many]]
    return bool(read_whole(real, made).inside)


def numbers_in_notes(g: Draws, *, ends: int = 0) -> bool:
    """Return whether amounts of people are said to stand in notes of other people.

    ends: cents in which all prices end; 0: any.
    """

    def amounts() -> list[str]:
        cents = g.integers(1_000, 500_000, 200)
        cents = cents - cents % 100 + ends if ends else cents
        return [f"{each // 100}.{each % 100:02d}" for each in cents.tolist()]

    real, made = (pd.DataFrame({"age": g.integers(18, 90, 200), "sum": amounts()}) for _ in "ab")
    made["note"] = [f"account {each} closed" for each in amounts()]
    return bool(read_whole(real, made).inside)


def names_kept(g: Draws, *, kept: int = 0, digits: int = 6) -> bool:
    """Return whether names of people in a file of others are asked about."""
    sides: list[pd.DataFrame] = []
    for _ in range(2):
        number = g.choice(10**digits, 200, replace=False)
        names = [f"C{one:0{digits}d}" for one in number]
        sides.append(pd.DataFrame({"case": names, "age": g.integers(18, 90, 200)}))
    sides[1].loc[: kept - 1, "case"] = sides[0]["case"][:kept].to_numpy()
    files = read_whole(*sides)
    return bool(traces_of(files, ["age"], ["age"], entropy=int(g.integers(2**32))).values)


def seldom(people: int, times: float, g: Draws, *, archetypes: bool = True) -> pd.DataFrame:
    """Draw people, of whom a class of 2% is ``times`` as frequent: 400 kinds, or few values."""
    share = 0.02 * times / (0.98 + 0.02 * times)
    kinds = np.random.default_rng(77).integers(0, 40, (400, 5))
    if not archetypes:
        kinds = np.random.default_rng(78).integers(0, [9, 8, 7, 1, 1], (400, 5))
    rows = np.where(
        (g.random(people) < share)[:, None],
        kinds[g.integers(0, len(kinds), people)],
        g.integers(0, 40, (people, 5)),
    )
    return pd.DataFrame(rows, columns=list("abcde")).astype(str)


def favoured(
    times: float, g: Draws, *, archetypes: bool = True, share: float = 0.0, any_law: bool = True
) -> bool:
    """Return whether copies are claimed of a file that oversamples a class of 2%."""
    real, made = seldom(2000, 1.0, g), seldom(2000, times, g, archetypes=archetypes)
    many = round(share * len(made))
    made = pd.concat([real[:many], made[many:]])
    files = read_files(real, made, read_as=dict.fromkeys(real, "text"))
    found = file_facts(files, [0], entropy=int(g.integers(2**31))).copies
    if any_law:
        return found.excess_of_any_law(ALPHA / 2) > 0
    return found.excess(ALPHA / 2)[1] > 0


def listed(each: float, g: Draws) -> bool:
    """Return whether copies are claimed of a file that lists people, all as plausible as others.

    Of 400 people, each of them is there as often: here the limit is met with equality.
    """
    names = [f"p{k}" for k in range(round(400 / each))]
    real, made = (pd.DataFrame({"name": some}) for some in (g.choice(names, 400), names))
    real, made = (one.assign(ill="no", well="yes") for one in (real, made))
    real.loc[0, ["ill", "well"]] = "yes", "no"
    files = read_files(real, made, read_as=dict.fromkeys(real, "text"))
    found = file_facts(files, [0], entropy=int(g.integers(2**31))).copies
    return found.excess_of_any_law(ALPHA / 2) > 0


def linked(people: int, g: Draws, shuffled: float = 0.0) -> pd.DataFrame:
    """Draw people whose columns hang together, but for those of a share of them."""
    kind = g.integers(0, 4, people)
    found = pd.DataFrame({
        "age": np.round(30 + 10 * kind + 5 * g.normal(size=people)), "town": 3 * kind % 7,
        "job": (kind + g.integers(0, 2, people)) % 4,
        "ill": (g.random(people) < 0.1 + 0.25 * kind).astype(int),
    })  # fmt: skip
    some = round(shuffled * people)
    return found.apply(
        lambda column: np.r_[g.permutation(column.to_numpy()[:some].copy()), column[some:]]
    )


def apart(shuffled: float, g: Draws) -> bool:
    """Return whether a control is called foreign, a share of which is of another joint law."""
    real, made, control = linked(300, g), linked(300, g), linked(200, g, shuffled)
    found = assess_file(read_files(real, made, control), FileThreat(("ill",)), entropy=1)
    return bool(found.unlike.is_shown)


def drifted(shuffled: float, g: Draws, copies: float = 0.0) -> bool:
    """Return whether a file is called exceeded beside a control of another joint law."""
    real, made, control = linked(400, g), linked(400, g), linked(300, g, shuffled)
    many = round(copies * len(made))
    files = read_files(real, pd.concat([real[:many], made[many:]]), control)
    found = assess_file(files, FileThreat(("ill",)), entropy=int(g.integers(2**31)))
    threshold = ExcessThreshold.model_validate({})
    return SYNTHETIC.conclude(
        SYNTHETIC.measured(files, found, threshold, confidence=1 - ALPHA)
    ).status == "exceeded"  # fmt: skip


def tailed(people: int, g: Draws, unit: float = 1.0) -> pd.DataFrame:
    """Draw people of whom 96% have no gain, and the others very different ones."""
    tail = np.round(2 + g.lognormal(3.5, 1.2, people))
    gain = np.where(g.random(people) < 0.96, 0.0, unit * tail)
    street = [f"street {k}" for k in g.integers(0, 600, people)]
    return pd.DataFrame({"gain": gain, "age": g.integers(18, 90, people), "street": street})


def unread(g: Draws, unit: float = 1.0, people: int = 300) -> bool:
    """Return whether a column of a control is refused since its values hardly overlap."""
    others = int(g.integers(people // 5, people))
    try:
        read_files(tailed(people, g), tailed(people, g), tailed(others, g, unit))
    except InputError:
        return True
    return False


def hardest_hit(shares: Sequence[float], people: int, g: Draws) -> bool:
    """Return whether another than the last group is named, or any of groups that are equal."""
    confidence = evidence.each_confidence(1 - ALPHA, len(shares))
    limits: list[tuple[float, float]] = []
    for share in shares:
        counts = TwoSamples(
            int(g.binomial(people, 0.2 + share)), people, int(g.binomial(people, 0.2)), people
        )
        found = counts.excess(confidence=confidence)
        limits.append((found.low, found.high))
    return surely_largest(limits) is not None


def foreign_by(shift: float, g: Draws) -> bool:
    real, other, control = (rows_of(150, k, g) for k in (0, 500, 1000))
    control.loc[g.random(150) < shift, "town"] = 0
    found = assess_file(read_files(real, other, control, drop=["who"]), FileThreat(("ill",)),
                        entropy=1)  # fmt: skip
    return bool(found.unlike.is_shown)


# Audits of guarantees ---------------------------------------------------------------------------


def responses(inside: np.ndarray, epsilon: float, g: Draws) -> np.ndarray:
    """Return randomised responses: scores that keep epsilon exactly, with noise to break ties."""
    true = g.random(inside.shape) < 1 / (1 + np.exp(-epsilon))
    return np.where(true, inside, ~inside) + 1e-6 * g.normal(size=inside.shape)


def membership(
    epsilon: float, g: Draws, *, each: int = 1, named: bool = False, claimed: float | None = None
) -> bool:
    inside = g.random((16, 40)) < 0.5
    scores, clusters = responses(inside, epsilon, g), np.repeat(np.arange(40), each)
    inside, scores = (np.repeat(one, each, axis=1) for one in (inside, scores))
    scores = scores + 1e-9 * g.normal(size=scores.shape)
    try:
        data = shadow_scores(scores, inside, clusters=clusters if named else None)
        found = audit_membership(data, attack="score", rng=int(g.integers(2**31)))
    except InputError:  # refused: nothing is claimed
        return False
    return found.epsilon > (epsilon if claimed is None else claimed)


def swept(
    m: int,
    epsilon: float,
    g: Draws,
    *,
    real: float | None = None,
    delta: float = 0.0,
    runs: bool = False,
    mu: bool = False,
    guesses: int | None = None,
    unequal: bool = False,
) -> bool:
    """Return whether scores refute more than is true.

    runs: each has one canary. guesses: their number, fixed before. unequal: coins of three chances.
    """
    coins = g.choice([0.1, 0.3, 0.6], m) if unequal else np.full(m, 0.5)
    inside = g.random(m) < coins
    scores = responses(inside, epsilon if real is None else real, g)
    if runs:
        found = evidence.refute_runs(scores, inside, delta=delta)
    elif unequal:
        odds = np.log(coins / (1 - coins)) + epsilon * (2 * scores - 1)
        found = evidence.refute_prior_scores(odds, inside, coins, delta=delta, guesses=guesses)
    else:
        found = evidence.refute_scores(scores, inside, delta=delta, guesses=guesses, coins=True)
    return (found.mu or 0.0) > 0 if mu else found.epsilon > epsilon


def at_looks(
    m: int,
    epsilon: float,
    g: Draws,
    *,
    real: float | None = None,
    delta: float = 0.0,
    mu: bool = False,
    files: int = 1,
) -> bool:
    """Return whether any look at canaries that come one by one refutes more than is true.

    What was refuted stays so, and the last look counts all of them. ``files`` are tried by turns.
    """
    inside = g.random(m) < 0.5
    for _ in range(files):
        scores = responses(inside, epsilon if real is None else real, g)
        with_sizes = (2 * scores - 1) * (1 + g.random(m))
        found = evidence.refute_as_they_come(
            with_sizes, inside, most=m, delta=delta, chosen_from=files
        )
        if (found.mu > 0) if mu else found.epsilon > epsilon:
            return True
    return False


def a_mu_of_runs(g: Draws) -> bool:
    """Return whether pairs of runs or their thresholds refute the very mu of Gaussian scores."""
    inside = g.random(300) < 0.5
    return evidence.refute_runs(g.normal(size=300) + inside, inside).mu > 1


def band(g: Draws, shift: float = 0.0, decimals: int = 9) -> bool:
    """Return whether a curve, its area or a precision is said to be above chance."""
    sides = g.normal(size=60) + shift, g.normal(size=90)
    found = evidence.roc_band(*(one.round(decimals) for one in sides))
    lows = [found.tpr_at(rate).low - rate for rate in (0.02, 0.1, 0.3, 0.6)]
    lows += [found.auc.low - 0.5, found.precision_at(0.1, 0.2).low - 0.2]
    return max(lows) > 1e-12


def sides(g: Draws) -> bool:
    """Return whether a threshold's rates are outside of their limits; all are limited at once."""
    found = evidence.roc_band(g.normal(size=60), g.normal(size=90))
    truth = stats.norm.sf(found.thresholds)
    ends = (found.fpr_low, found.fpr_high), (found.tpr_low, found.tpr_high)
    return any(((truth < low - 1e-12) | (truth > high + 1e-12)).any() for low, high in ends)


def clustered(g: Draws, *, named: bool = True) -> bool:
    """Play outsiders in clusters of three; members leave no trace, so that rates are known."""
    place, coined = np.repeat(np.arange(120), 3), 60
    priors = np.where(place < coined, 0.5, 0.0)
    members = (g.random((2, 120)) < 0.5) & (np.arange(120) < coined)
    scores = g.normal(size=(2, 120))[:, place] + g.normal(size=(2, 360))
    clusters = place if named else None
    try:
        data = shadow_scores(scores, members[:, place], priors, clusters)
        found = audit_membership(data, attack="score", targets=1, rng=1).roc
    except InputError:  # too many records in the very models of others
        return False
    truth = stats.norm.sf(found.thresholds / np.sqrt(4 / 3 if named else 2))
    return bool(((truth < found.fpr_low - 1e-12) | (truth > found.fpr_high + 1e-12)).any())


def without_model(
    g: Draws, points: str = "rows", shift: float = 0.0, size: int = 60, how: str = ""
) -> bool:
    """Return whether points of one source, or of two that are ``shift`` apart, are told."""
    labels, more = g.random(size) < 0.5, {}
    found = g.normal(size=(size, 5))
    found[:, 0] += shift * labels
    if points == "texts":
        found = [" ".join(f"w{int(3 * x)}" for x in row) for row in found]
    elif points == "images":
        found = g.random((size, 12, 12)) + shift * labels[:, None, None]
    if how == "clusters":
        more, labels = {"clusters": np.arange(size) // 2}, g.random(size // 2) < 0.5
    elif how == "priors":
        odds = np.where(found[:, 0] > 0, 0.8, 0.3)
        more, labels = {"strata": odds}, g.random(size) < odds
    return blind_baseline(found, labels, rng=g, **more).told


@cache
def refuted(how: str, correct: int) -> float:
    """Return the epsilon that a count refutes; of few different ones, whatever is played."""
    if how == "priors":
        return evidence.refute_priors(np.full((60, 2), 0.5), correct).epsilon
    if how == "runs":
        return refuted_by_runs([0.5, 0.5], 100, correct)[0]
    return evidence.refute(200, 120, correct).epsilon


def counts(how: str, guesses: int, epsilon: float, real: float, g: Draws) -> bool:
    right = int(g.binomial(guesses, 1 / (1 + np.exp(-real))))
    return refuted(how, right) > epsilon


GAME = Game(Pairs([[[0], [1]]]), RandomizedResponse(1.0), OneOfPair(1))
DELTA = write_out(GAME).delta(0.5)


def resilient(less: float, g: Draws) -> bool:
    """Look after every trial at a game that is exactly as resilient as claimed, or less."""
    attacker = Bayes(0.5).prepare(GAME)
    run = play(GAME, attacker, Resilience(0.5, DELTA - less), trials=300, confidence=1 - ALPHA,
               rng=int(g.integers(2**31)))  # fmt: skip
    return run.outcome == "violates"


def leaks(chance: float, truth: float, g: Draws) -> bool:
    secret = g.integers(2, size=300)
    shown = np.where(g.random(300) < chance, secret, 1 - secret)
    found = sampled_leakage(secret, shown, measures=["shannon-leakage"], prior=[0.5, 0.5],
                            rng=int(g.integers(2**31)))["shannon-leakage"]  # fmt: skip
    return found.low > truth + 1e-12


def bits(chance: float, g: Draws) -> bool:
    return evidence.randomness_tests(g.random(1024) < chance).p_value <= ALPHA


def in_order(g: Draws) -> bool:
    """Three settings at their threshold, from most noise to least: any is called met."""
    highs = [evidence.clopper_pearson(int(g.binomial(100, 0.4)), 100, confidence=1 - 2 * ALPHA).high
             for _ in range(3)]  # fmt: skip
    return evidence.first_in_sequence(high < 0.4 for high in highs) > 0


# Whole reports ---------------------------------------------------------------------------------


def language_report(g: Draws, gained: float = 0.0) -> bool:
    """Return whether a report of a model without memory says of anything that there is some."""
    docs = [TextDocument(f"{k:03}", 1 + 3 * (i % 3 == 0)) for i, k in enumerate(g.permutation(150))]
    trained, fresh = tuple(docs[:60]), tuple(docs[60:])
    attacked = [
        AttackedDocuments(name, "", trained, fresh, g.random(60) < 0.2 + gained,
                          g.random(90) < 0.2, None)
        for name in ("generation", "completion")
    ]  # fmt: skip
    scores = [
        {name: g.normal(size=n) for name in ("perplexity", "zlib", "lower")} for n in (60, 90)
    ]
    named = [NamedCanaries(1, 20, tuple(int(r) for r in g.integers(1, 101, 20)), 99, 0, 8)]
    study = LanguageStudy.model_validate(
        {"data": {"documents": "x"}, "model": {"name": "ngram"}, "threshold": {"gain": 0.0}}
    )
    found = FoundAboutModel(
        "", 1, Division(trained, fresh), attacked, *scores, named, None, has_reference=False
    )
    case = KIND.conclude(KIND.measured(study, found))
    gains = [row.quantity.low for row in case.findings.rows if row.of in ("gain",)]
    above = [row.quantity.low or 0 for row in case.findings.select(of="above a fresh one")]
    told = [(r.quantity.low or 0) > r.at["rate"] for r in case.findings.select(of="told")]
    many = [row.about.named > row.about.by_chance for row in case.findings.rows
            if row.of == "canaries named"]  # fmt: skip
    return case.status == "exceeded" or max(gains) > 0 or max(above) > 0.5 or any(many + told)


def table_report(g: Draws, epsilon: float = 1e-3) -> bool:
    """Return whether an audit of tables that are noise alone says that a threshold is exceeded."""
    seed = int(g.integers(2**31))
    frame = pd.DataFrame({"a": g.integers(0, 3, 80), "b": g.integers(0, 4, 80),
                          "s": g.integers(0, 2, 80)})  # fmt: skip
    study = {
        "data": {"frame": frame}, "threat": {"unknown": ["s"], "targets": 20},
        "prior": {"name": "empirical"}, "threshold": {"advantage": 0.0},
        "mechanism": {"name": "marginals", "k": 2, "delta": 1e-5,
                      "epsilon": [epsilon / 2, epsilon]},
        "attacks": {"prior": {}, "posterior": {}}, "run": {"trials": 20, "seed": seed},
    }  # fmt: skip
    return narcissus.run(narcissus.load_study(study)).status == "exceeded"


TABLE = pd.DataFrame({"a": np.arange(80) % 4, "s": np.arange(80) * 7 % 10 < 4})


def decided(run: Mapping[str, object], share: float, looks: int | None = None) -> Audit:
    """Play tables with some noise; ``share`` of 10 secrets is accepted."""
    study = {
        "data": {"frame": TABLE}, "threat": {"unknown": ["s"], "targets": 10},
        "prior": {"name": "empirical"}, "threshold": {"share": share}, "run": run,
        "mechanism": {"name": "marginals", "k": 2, "delta": 1e-5, "epsilon": 3.0},
        "attacks": {"posterior": {}, "ceiling": {}},
    }  # fmt: skip
    options = RunOptions(int(run["seed"]), SILENT, engine="serial", looks=looks)  # pyright: ignore
    return replay(narcissus.load_study(study), options)


@cache
def recovered_truly() -> tuple[float, float]:
    """Return a share that the attack does not exceed, and one that the ceiling does."""
    rows = decided({"trials": 1000, "seed": 1, "confidence": 0.999}, 0.5).record.rows
    found = {row.name: row.quantity for row in rows if row.role == "attack"}
    return found["posterior"].high, found["ceiling"].low


def auto_report(g: Draws, wrong: str, away: float = 0.0) -> bool:
    """Return whether a run that plays until it is decided decides so, near the truth."""
    share = recovered_truly()[wrong == "met"] + (away if wrong == "met" else -away)
    run = {"trials": "auto", "seed": int(g.integers(2**31))}
    return decided(run, share, looks=5).status == wrong


def membership_report(g: Draws, epsilon: float = 0.0) -> bool:
    """Return whether a report of two attacks refutes more than is true, or tells members apart."""
    inside = g.random((16, 60)) < 0.5
    scores = responses(inside, epsilon, g)
    with TemporaryDirectory() as folder:
        np.savez(Path(folder) / "scores.npz", scores=scores, members=inside)
        study = {
            "kind": "membership", "data": {"scores": "scores.npz"},
            "threat": {"attacks": ["score", "lira-fixed"], "fpr": [0.1], "targets": 4},
            "run": {"seed": int(g.integers(2**31))},
        }  # fmt: skip
        rows = narcissus.run(narcissus.load_study(study, folder=folder)).record.rows
    told = [row.quantity.low or 0.0 for row in rows if row.of == "members told"]
    return max(row.value for row in rows if row.role == "refuted") > 0 or max(told, default=0) > 0.1


def exceeded(study: dict[str, object], folder: str, g: Draws) -> bool:
    """Play a study, and return whether anything in it is said to be exceeded."""
    study["run"] = {**study.get("run", {}), "seed": int(g.integers(2**31))}
    return narcissus.run(narcissus.load_study(study, folder=folder)).status == "exceeded"


def channel_report(g: Draws, kept: float = 0.0) -> bool:
    """Return whether outputs that do not depend on the secret are said to leak, by either limit."""
    secret = g.integers(0, 3, 400)
    output = np.where(g.random(400) < kept, secret, g.integers(0, 3, 400))
    study = {"kind": "channel", "channel": {"samples": "samples.csv"},
             "threshold": {"beta_star": 1.0, "bayes_risk": 2 / 3}}  # fmt: skip
    with TemporaryDirectory() as folder:
        frame = pd.DataFrame({"secret": secret, "output": output})
        frame.to_csv(Path(folder) / "samples.csv", index=False)
        return exceeded(study, folder, g)


def secrets_report(g: Draws, epsilon: float = 1e-3) -> bool:
    """Return whether models that learn nearly nothing are said to help any attack."""
    study = {
        "kind": "secrets", "prior": [{"name": "uniform", "n": 10}, {"name": "zipf", "n": 10}],
        "mechanism": {"name": "ngram-dp-sgd", "epsilon": [epsilon / 2, epsilon], "delta": 1e-5,
                      "steps": 20, "start": "prior"},
        "threshold": {"advantage": 0.0}, "run": {"models": 60},
    }  # fmt: skip
    return exceeded(study, ".", g)


def auto_game(g: Draws, away: float = 0.0) -> str:
    """Return how a game ends that plays until it is decided, near what its attacker gains."""
    gains = math.exp(3) / (1 + math.e) ** 3 - 1 / 8  # the whole row, and nothing else counts
    study = {
        "kind": "game", "world": {"name": "bits", "n": 3},
        "mechanism": {"name": "randomized-response", "epsilon": 1.0},
        "success": {"name": "prefix"}, "attack": [{"name": "released-row", "row": "all"}] * 2,
        "exact": {"when": "never"}, "run": {"trials": "auto", "seed": int(g.integers(2**31))},
        "statement": {"name": "narcissus", "delta": gains + away},
    }  # fmt: skip
    options = RunOptions(int(study["run"]["seed"]), SILENT, engine="serial", looks=9)  # pyright: ignore
    return replay(narcissus.load_study(study), options).record.result.play.end.ended


def game_report(g: Draws, more: float = 0.0) -> bool:
    """Return whether randomised response is said to break its own epsilon, by two attacks."""
    attack = {"name": "bayes", "epsilon": 1.0}
    study = {
        "kind": "game", "world": {"name": "neighbours", "n": 3, "values": 2},
        "mechanism": {"name": "randomized-response", "epsilon": 1.0 + more},
        "success": {"name": "prefix"}, "attack": [attack, {**attack, "epsilon": 0.5}],
        "statement": {"name": "pairs", "epsilon": 1.0, "delta": 0.0}, "run": {"trials": 300},
    }  # fmt: skip
    return exceeded(study, ".", g)


MINE = """
def shown(data, rng):
    return int(data[0]) if rng.random() < 0.65 else 1 - int(data[0])


def guess(release, known, rng):
    return int(release)
"""


def of_a_class(attacks: int, advantage: float, g: Draws) -> bool:
    """Return whether an attacker of advantage .3 is said to exceed what its class is assumed to."""
    study = {
        "kind": "game", "world": {"name": "pairs", "pairs": [[[0], [1]]]},
        "mechanism": {"name": "nulls_mine:shown"}, "success": {"name": "first-bit"},
        "assume": {"advantage": advantage, "against": "efficient attackers", "of": "the coin"},
        "attack": [{"name": "nulls_mine:guess"}] * attacks, "exact": {"when": "never"},
        "statement": {"name": "encryption", "epsilon": 0.0, "delta": 0.3},
        "run": {"trials": 200},
    }  # fmt: skip
    options = RunOptions(int(g.integers(2**31)), SILENT, engine="serial")
    with TemporaryDirectory() as folder:
        Path(folder, "nulls_mine.py").write_text(MINE)
        loaded = narcissus.load_study(study, folder=folder, allow_code=True)
        return replay(loaded, options).record.status == "inconclusive"


def trained(noise: float, steps: int, less: float, g: Draws) -> bool:
    """Refute the mu of DP-SGD of full batches, or a smaller one, by the noisy sums of 400 runs."""
    mu = dp_sgd(noise, 1.0, steps, sampling="shuffled").mu
    inside = g.random(400) < 0.5
    sums = np.where(inside, 1.0, -1.0)[:, None] + g.normal(0.0, noise, (400, steps))
    return evidence.refute_scores(sums.sum(axis=1), inside, coins=True).mu > mu * (1 - less)


def tables_gain(g: Draws, own: float = 0.0) -> bool:
    """Return whether tables are said to tell of people whose secrets are in them with chance own.

    The other secrets of the tables are drawn anew, and so tell nothing of anybody.
    """
    ill = g.choice(["no", "yes"], 12, p=[0.7, 0.3])
    people = pd.DataFrame({"name": [f"p{at}" for at in range(12)], "ill": ill})

    def publish(some: pd.DataFrame, rng: Draws) -> list[Cell]:
        """Publish a table with a row for everybody, whoever is left out."""
        told = rng.choice(["no", "yes"], 12, p=[0.7, 0.3])
        some = some[rng.random(len(some)) < own]
        told[some.index] = some.ill
        return [Cell("t", 1, "count", "", {}, Meaning(12, 12, "exact"))] + [
            Cell("t", 2, "count", "", {"name": name, "ill": label},
                 Meaning(int(label == one), int(label == one), "exact"))
            for name, one in zip(people.name, told, strict=True) for label in ("no", "yes")
        ]  # fmt: skip

    task = WantedSecret("ill", ("name",))
    game = TablesGame(people, publish, task, left_out=0.25)
    found = play_tables(game, trials=60, rng=g)
    return any(misses(one.gain, 0.0) for one in found.attacks)


def told_gain(g: Draws, own: float = 0.0, *, is_keyed: bool = True) -> bool:
    """Return the same where counts are perturbed by keys, or stand beside means."""
    many, names = (6, 2) if is_keyed else (5, 4)
    people = pd.DataFrame({
        "name": [f"p{at % names}" for at in range(many)], "age": g.choice(["0", "1"], many),
        "ill": g.choice(["no", "yes"], many, p=[0.7, 0.3]),
    })  # fmt: skip
    cells = [Cell("t", 1, "", "", {}, Meaning(many, many, "exact"))] + [
        Cell("t", 2, "", "", {"name": name, "ill": label}, Meaning(0, None, "perturbed"),
             {} if is_keyed else {"mean": Statistic(Fraction(0), 0)})
        for name in sorted(set(people.name)) for label in ("no", "yes")
    ]  # fmt: skip
    about = Structure(variable=None if is_keyed else Variable("age", 0, 1))
    rule = AsPublished(cells, about, Rules(key=PLUS_MINUS_ONE if is_keyed else None))

    def publish(some: pd.DataFrame, rng: Draws) -> list[Cell]:
        """Publish tables of everybody, whoever is left out."""
        told = rng.choice(["no", "yes"], many, p=[0.7, 0.3])
        some = some[rng.random(len(some)) < own]
        told[some.index] = some.ill
        return rule(people.assign(ill=told), rng)

    task = WantedSecret("ill", ("name",))
    game = TablesGame(people, publish, task, about, left_out=0.4, steps=300)
    found = play_tables(game, trials=60, rng=g)
    return any(misses(one.gain, 0.0) for one in found.attacks)


def image_report(g: Draws, gained: float = 0.0) -> bool:
    """Return whether a model that gives back as many fresh images is said to give back its own."""
    sides = [
        CaptionedImages(g.random((n, 2, 2, 1)), ("",) * n, np.where(np.arange(n) % 3 == 0, 4, 1))
        for n in (60, 90)
    ]
    every, other = np.ones(60, bool), np.ones(90, bool)
    found = AttackedImages(
        {"": np.zeros((1, 4))}, np.zeros(60), every, other, g.random(60) < 0.2 + gained,
        g.random(90) < 0.2, ~every, np.zeros(60), 0,
    )  # fmt: skip
    study = ImageStudy.model_validate(
        {"data": {"images": "x"}, "model": {"name": "mixture"}, "pictures": 0,
         "threshold": {"gain": 0.0}}
    )  # fmt: skip
    part = SimpleNamespace(words=lambda: "")
    work = SimpleNamespace(study=study, division=DividedImages(*sides), part=part)
    models = SimpleNamespace(parameters=1, shadows=())
    return says_gain(image.KIND, image.KIND._measured(work, models, found))


def classifier_report(g: Draws, given: float = 0.0) -> bool:
    """Return whether points that are no image's own are said to give training images away."""
    centres = g.normal(size=(5, 16))
    trained, fresh = (centres[g.integers(0, 5, n)] + g.normal(size=(n, 16)) for n in (60, 90))
    points = np.vstack([centres, trained[: round(given * 60)]])
    sides = ImageSides(trained, None, fresh, trained[:0], np.zeros(0, np.int64), 9.0, np.zeros(16),
                       1.0, ImageLayout(4, 4))  # fmt: skip
    study = ClassifierStudy.model_validate(
        {"data": {"images": "x", "fresh": "y"}, "weights": {"file": "x", "layers": ["a", "b"]},
         "pictures": 0, "success": {"correlation": 0.7}, "threshold": {"gain": 0.0}}
    )  # fmt: skip
    made = classifier.ReconstructedPoints([points], points[g.integers(0, 5, 40)])
    net = SimpleNamespace(describe=lambda: "", parameters=1)
    return says_gain(classifier.KIND, classifier.KIND.measured(study, net, 0, sides, made))


def says_gain(kind: object, findings: object) -> bool:
    case = kind.conclude(findings)
    gains = [row.quantity.low for row in case.findings.rows if row.of == "gain"]
    return case.status == "exceeded" or max(gains) > 0


# The prior of a table --------------------------------------------------------------------------


def examined(
    table: pd.DataFrame,
    prior: Mapping[str, object],
    g: Draws,
    unknown: Sequence[str] = ("secret",),
    **data: object,
) -> tuple[Experiment, TableStudy]:
    """Return a study of a table, ready for what its audit examines before it plays."""
    study = load_study({
        "data": {"frame": table, **data},
        "threat": {"unknown": list(unknown)},
        "prior": prior,
        "mechanism": {"k": 2, "epsilon": 1.0},
        "attacks": {"prior": {}},
    })  # fmt: skip
    with study.code.in_use():
        return prepare(study.settings, study.folder, int(g.integers(2**32))), study.settings


def prior_refuted(table: pd.DataFrame, prior: Mapping[str, object], g: Draws) -> bool:
    """Return whether rows of a table refute the prior that is fitted to it."""
    return prior_test(examined(table, prior, g)[0]).is_refuted


def column_tells(
    g: Draws, share: float = 0.0, *, what: str = "code", of: str = "a", is_binned: bool = False
) -> bool:
    """Return whether a column that is left out, or in bins, is said to tell of the secret.

    share: Of the rows whose value tells the secret; in others it tells a known column at most.
    """
    table = of_network(g, 300)
    told = np.where(g.random(len(table)) < share, table.secret, table[of] % 2)
    numbers = g.permutation(50_000)[: len(table)]
    if is_binned:
        values = 2 * numbers + told
    elif what == "code":
        values = np.array(
            [f"{'KA'[letter]}{n:05}" for letter, n in zip(told, numbers, strict=True)]
        )
    elif what == "number":
        values = g.permutation(numbers)
    elif what == "time":  # the hour tells: by night, or by day
        minutes = 1440 * (numbers % 700) + 720 * told + g.integers(0, 720, len(table))
        values = (np.datetime64("2021-01-01T00:00") + minutes).astype(str)
    elif what == "sum of digits":
        tens = np.array([sum(map(int, str(n))) for n in numbers])
        values = 10 * numbers + (tens + told) % 2 + 2 * g.integers(0, 5, len(table))
    else:
        words = g.choice(["seen", "again", "later", "alone", "family", "slowly"], (len(table), 7))
        values = np.array([" ".join(row) + (" insulin" if k else " rest")
                           for row, k in zip(words, told, strict=True)])  # fmt: skip
    more = {"bins": {"note": {"quantiles": 4}}} if is_binned else {"left_out": {"note": "a code"}}
    ready, _ = examined(table.assign(note=values), NETWORK, g, **more)
    column = RawColumn("note", list(values), np.arange(len(table)))
    return bool(of_values(ready, *(([], [column]) if is_binned else ([column], []))))


def total_tells(g: Draws, share: float = 0.0) -> bool:
    """Return whether exact amounts behind bins are said to tell of the secret.

    share: Of the rows where the secret is whether a total exceeds its items by more than a limit;
        in others the total does that as often, whatever the secret.
    """
    table = of_network(g, 300)
    rest = np.where(g.random(len(table)) < share, table.secret, g.integers(0, 2, len(table)))
    items = np.exp(g.normal(6, 0.5, (4, len(table)))).round(2)
    more = {f"item{k}": item for k, item in enumerate(items)}
    more["total"] = (items.sum(axis=0) + 20 * rest + g.integers(0, 1900, len(table)) / 100).round(2)
    ready, _ = examined(
        table.assign(**more), NETWORK, g, bins={name: {"quantiles": 2} for name in more}
    )
    columns = [RawColumn(name, list(v), np.arange(len(table))) for name, v in more.items()]
    return bool(of_values(ready, [], columns))


def relation_tells(g: Draws, share: float = 0.0) -> bool:
    """Return whether two exact numbers behind bins are said to tell of the secret.

    share: Of the rows where the secret is the parity of their sum; else it is a known column's.
    """
    table = of_network(g, 240)
    told = np.where(g.random(len(table)) < share, table.secret, table.a % 2)
    height, weight = g.integers(150, 200, len(table)), 2 * g.integers(20, 60, len(table))
    weight += (height + told) % 2
    more = {"height": height, "weight": weight}
    ready, _ = examined(
        table.assign(**more), NETWORK, g, bins={name: {"quantiles": 2} for name in more}
    )
    columns = [RawColumn(name, v.tolist(), np.arange(len(table))) for name, v in more.items()]
    return bool(of_values(ready, [], columns))


def blocks_tell(g: Draws, share: float = 0.0) -> bool:
    """Return whether the order of the rows is said to tell of a secret drawn in blocks of four.

    share: Of the rows in blocks of two of each secret within a value of a known column.
    """
    table = of_independent(g).head(400)
    secret = g.integers(0, 2, len(table))
    for value in np.unique(table.a):
        rows = np.flatnonzero(table.a == value)
        drawn = [g.permutation([0, 0, 1, 1]) for _ in range(len(rows) // 4 + 1)]
        blocks = np.concatenate(drawn)[: len(rows)]
        secret[rows] = np.where(g.random(len(rows)) < share, blocks, secret[rows])
    ordered = ordered_rows(examined(table.assign(secret=secret), INDEPENDENT, g)[0])
    return ordered is not None and guess_by_order(ordered) is not None


def order_tells(
    g: Draws, share: float = 0.0, *, by: Sequence[str] = (), more: bool = False
) -> bool:
    """Return whether the order of the rows is said to tell of the secret.

    share: Of the rows with the secret of the row before. by: Columns by which the file is sorted.
    more: Whether another secret is unknown too.
    """
    table = of_network(g, 400)
    table["other"] = g.integers(0, 3, len(table))
    changes = g.random(len(table)) >= share
    changes[0] = True
    source = np.maximum.accumulate(np.where(changes, np.arange(len(table)), 0))
    if by:
        table = table.sort_values(list(by), kind="stable", ignore_index=True)
    table["secret"] = table.secret.to_numpy()[source]
    unknown = ("other", "secret") if more else ("secret",)
    ordered = ordered_rows(examined(table, NETWORK, g, unknown)[0])
    return ordered is not None and guess_by_order(ordered) is not None


def looks_sorted(
    g: Draws, *, rows: int = 200, ill: float = 0.3, a_day: int = 0, by: float = 0.0
) -> bool:
    """Return whether rows in any order are said to be sorted by their secret.

    ill: Share with the rarer secret.
    a_day: Rows of a day in a file that is sorted by days; 0: no days, a file in any order.
    by: Part of the rows, the first ones, that are sorted by the secret.
    """
    secret = (g.random(rows) < ill).astype(int)
    first = round(by * rows)
    secret[:first].sort()
    days = np.arange(rows) // a_day if a_day else g.integers(0, 4, rows)
    columns = np.column_stack([days, g.integers(0, 3, rows), secret])
    return 2 in sorted_columns(columns)


def other_refused(g: Draws, copies: int = 1) -> bool:
    """Return whether a network of three parents is refused of people of such a network."""
    people = of_parity(g, 0.3, rows=600)
    people["c3"], people["c4"], people["c5"] = g.integers(0, 4, (3, len(people)))
    table = people.loc[np.repeat(np.arange(len(people) // copies), copies)]
    ready, _ = examined(table.sample(frac=1, random_state=g), NETWORK, g)
    return not is_allowed(ready, held_out_attempts(ready), 3, "bic")


def of_network(g: Draws, rows: int = 600) -> pd.DataFrame:
    """Draw people whose secret depends on two columns, which depend on each other."""
    first, third = g.integers(0, 4, rows), g.integers(0, 3, rows)
    second = (first + (g.random(rows) < 0.4)) % 4
    chance = np.array([0.1, 0.4, 0.6, 0.9])[(first + second) % 4]
    secret = (g.random(rows) < chance).astype(int)
    return pd.DataFrame({"a": first, "b": second, "c": third, "secret": secret})


def of_independent(g: Draws, rows: int = 600) -> pd.DataFrame:
    """Draw people whose columns are all independent."""
    columns = {name: g.integers(0, size, rows) for name, size in (("a", 3), ("b", 6), ("c", 12))}
    return pd.DataFrame({**columns, "secret": (g.random(rows) < 0.3).astype(int)})


def of_scale(g: Draws) -> pd.DataFrame:
    """Draw people with five answers on one scale, which tell nothing of the secret."""
    answers = pd.DataFrame(g.integers(0, 8, (300, 5))).add_prefix("q")
    return answers.assign(secret=(g.random(300) < 0.4).astype(int))


def of_numbers(g: Draws, told: float = 0.0, rows: int = 300) -> pd.DataFrame:
    """Draw people with a height and a weight, of whom some are ill in a band of their ratio."""
    height, weight = g.integers(150, 200, rows), g.integers(45, 120, rows)
    index = weight / height**2
    low, high = np.quantile(index, (0.3, 0.7))
    by_index = (low < index) & (index < high)
    ill = np.where(g.random(rows) < told, by_index, g.random(rows) < 0.4).astype(int)
    town = g.integers(0, 4, rows)
    return pd.DataFrame({"town": town, "height": height, "weight": weight, "secret": ill})


def of_answers(g: Draws) -> pd.DataFrame:
    """Draw people of nine answers, of which one tells the secret now and then."""
    answers = g.integers(0, 2, (400, 9))
    told = np.where(g.random(400) < 0.4, answers[:, 4], g.integers(0, 2, 400))
    names = {f"q{place}": answer for place, answer in enumerate(answers.T)}
    return pd.DataFrame({**names, "secret": told})


def of_parity(g: Draws, told: float, columns: int = 3, rows: int = 1200) -> pd.DataFrame:
    """Draw people whose secret is a parity of columns, for so many more than half of them."""
    x = g.integers(0, 2, (rows, columns))
    secret = (x.sum(axis=1) + (g.random(rows) < 0.5 - told)) % 2
    names = {f"c{place}": x[:, place] for place in range(columns)}
    return pd.DataFrame({**names, "age": g.integers(0, 5, rows), "secret": secret})


def of_smooth(g: Draws, slope: float, rows: int = 1200) -> pd.DataFrame:
    """Draw people whose secret depends on the sum of six columns, more steeply with the slope."""
    x = g.integers(0, 5, (rows, 6))
    chance = 1 / (1 + np.exp(-slope * (x.sum(axis=1) - 12)))
    secret = (g.random(rows) < chance).astype(int)
    return pd.DataFrame({**{f"x{j}": x[:, j] for j in range(6)}, "secret": secret})


NETWORK: Mapping[str, object] = {"name": "bayesian-network", "parents": 2}
INDEPENDENT: Mapping[str, object] = {"name": "independent"}

T = "kinds/table/"
NULLS = (
    Null(
        "a mean over trials",
        (
            f"{T}estimates AttackScores.share",
            f"{T}estimates AttackScores.baseline",
            f"{T}estimates within",
            f"{T}estimates guess_of_group",
            f"{T}summary _best",
            f"{T}summary _hits",
            f"{T}bound_summary other_tails",
            "membership/audit rates_across_models",
            "profiles/profile _played",
            "channels/sampled_leakage Played.information",
            "kinds/memorization/language/kind DocumentGroup.beside_shadows",
            "kinds/memorization/image/kind _by_shadows",
            "game/loop summary",
        ),
        "Waudby-Smith and Ramdas 2023, Theorem 3 (betting)",
        "trials independent and alike; their number fixed beforehand",
        "trials are keyed draws of one game; shadow models are told to be trained apart",
        "trials that share a model or a seed count as more than they are",
        MEANS,
        Power(
            "above .5, 100 trials of 100 people",
            (0.005, 0.01, 0.015, 0.02, 0.03, 0.05),
            lambda s, g: (
                evidence.mean_limits(g.binomial(100, 0.5 + s, 100) / 100, people=100).low > 0.5
            ),
        ),
    ),
    Null(
        "a chance, by a count",
        (
            "extraction/assess _against_shadows",
            "extraction/bench Bench.share",
            "extraction/evidence trials_to_settle.settled",
            "extraction/recovered recovered_documents.share",
            "game/loop summary",
            "game/loop named_right",
            "kinds/memorization/image/kind _by_shadows",
            "kinds/memorization/language/kind DocumentGroup.beside_shadows",
            "kinds/memorization/engine limits_of",
            "kinds/secrets/kind SecretSetting._attack",
            "kinds/synthetic/kind _counted",
            f"{T}estimates guess_of_group",
            f"{T}excesses _of_counts",
            f"{T}judgement _of_counts",
            f"{T}summary _hits",
        ),
        "Clopper and Pearson 1934",
        "trials independent and alike; their number fixed beforehand",
        "a play is one trial; what shares a release is averaged first",
        "outcomes of one release that are counted apart make it too narrow",
        {
            "20 fair coins": partial(count, 0.5, 20),
            "1e-4 of 10,000": partial(count, 1e-4, 10_000),
            "one trial": partial(count, 0.975, 1),
        },
        Power(
            "above .5, 100 trials",
            (0.05, 0.1, 0.15, 0.2, 0.25),
            lambda s, g: evidence.clopper_pearson(int(g.binomial(100, 0.5 + s)), 100).low > 0.5,
        ),
    ),
    Null(
        "an attacker of a class exceeds what is assumed of it",
        (),
        "Narcissus theory 2.4; Waudby-Smith and Ramdas 2023",
        "trials independent and alike; the class and its advantage fixed beforehand",
        "each attack has its part of the error; trials are keyed draws of one game",
        "an attack that was chosen by these very trials exceeds it more often",
        {
            "as strong as assumed": partial(of_a_class, 1, 0.3),
            "four that are": partial(of_a_class, 4, 0.3),
        },
        Power(
            "beyond what is assumed, 200 trials",
            (0.1, 0.2, 0.25, 0.29),
            lambda s, g: of_a_class(1, 0.3 - s, g),
        ),
        repeats=0.04,
    ),
    Null(
        "a training program keeps less than it is accounted for",
        (),
        "Narcissus theory 3.1 and 5.1",
        "a canary of one clipping norm each, in one direction of its own, in by its own coin",
        "the program of the guarantee is printed beside it",
        "a program that samples or divides otherwise is another one",
        {
            "noise of two norms, one step": partial(trained, 2.0, 1, 0.0),
            "noise of eight norms, 16 steps": partial(trained, 8.0, 16, 0.0),
        },
        Power(
            "a claimed mu too small by a share, 400 canaries of mu 1",
            (0.2, 0.3, 0.4, 0.5, 0.7),
            lambda s, g: trained(2.0, 1, s, g),
        ),
        repeats=0.1,
    ),
    Null(
        "a model had access to a work",
        ("narcissus_papers/copyright/kind CopyrightResult.rows",),
        "Wilks 1941",
        "the work and the independent ones are draws of one kind, to a model that saw none of them",
        "each work is one trial, and the rule is the same for all",
        "works of another kind than this one set a limit that is no limit for it",
        {
            "19 works, each as hard as it is": lambda g: beyond(g.beta(1, 3, 20)),
            "39 works, of few passages": lambda g: beyond(g.binomial(8, 0.3, 40) / 8),
            "works that are all alike or all told": lambda g: beyond(g.random(20) < 0.5),
        },
        Power(
            "of .2 on average, 19 works of 50 passages",
            (0.1, 0.2, 0.3, 0.4),
            lambda s, g: beyond(np.r_[g.binomial(50, 0.2, 19), g.binomial(50, 0.2 + s)] / 50),
        ),
        outside={
            "the work is easier than others": lambda g: beyond(
                np.r_[g.beta(1, 3, 19), g.beta(3, 1)]
            ),
        },
    ),
    Null(
        "a difference of paired means",
        (
            f"{T}estimates AttackScores.gain",
            f"{T}estimates AttackScores.above_guess",
            f"{T}summary prior_test",
            f"{T}summary _by_chance",
            "kinds/synthetic/kind _guess",
        ),
        "Waudby-Smith and Ramdas 2023, Theorem 3",
        "pairs independent and alike; their number fixed beforehand",
        "both numbers of a pair are of the same trial, or of the same person of a file",
        "pairs that depend on one another count as more than they are",
        {
            "equal means": partial(difference, 0.6, 0.6, 40),
            "ties": partial(difference, 1.0, 1.0, 40),
            "shares of 1e-4": partial(difference, 2e-4, 1e-4, 100),
        },
        Power(
            "of .5, 100 trials of 100 people",
            (0.01, 0.02, 0.03, 0.05),
            lambda s, g: (
                evidence.difference_limits(
                    g.binomial(100, 0.5 + s, 100) / 100, g.binomial(100, 0.5, 100) / 100, people=100
                ).low
                > 0
            ),
        ),
    ),
    Null(
        "an advantage over the baseline",
        (f"{T}estimates AttackScores.advantage",),
        "Waudby-Smith and Ramdas 2023, Theorem 3; a payoff for each advantage",
        "trials independent and alike; their number fixed beforehand",
        "shares and baselines are of the same trial",
        "as of a mean over trials",
        {"baselines that vary": advantage},
        Power(
            "over baselines near .5, 100 trials of 100 people",
            (0.02, 0.04, 0.06, 0.1),
            lambda s, g: (
                evidence.advantage_limits(
                    g.binomial(100, 0.5 + s / 2, 100) / 100, np.full(100, 0.5), people=100
                ).low
                > 0
            ),
        ),
    ),
    Null(
        "a mean between envelopes",
        (f"{T}estimates AttackScores._between", f"{T}excesses apart"),
        "betting on what is above the envelope, and a limit over people of the envelope",
        "trials independent; people of a trial drawn independently or without replacement",
        "people are drawn from the prior by keyed streams",
        "people drawn in households count apart",
        {"a tenth of trials all right": enclosed},
        Power(
            "above .6, 80 trials of 100 people",
            (0.01, 0.02, 0.04, 0.08),
            lambda s, g: (
                evidence.enclosed_limits(
                    (v := g.binomial(100, 0.6 + s, 80) / 100),
                    evidence.Envelope(v, evidence.PeopleSums(100 * v, 100 * v, 100)),
                    evidence.Envelope(np.ones(80)),
                    people=100,
                ).low
                > 0.6
            ),
        ),
    ),
    Null(
        "a population's mean, from above",
        (f"{T}bound_summary mean_of_people",),
        "Waudby-Smith and Ramdas 2023, Theorem 2; Maclaurin's inequality",
        "people of a trial drawn independently or without replacement; trials independent",
        "people are drawn from the prior by keyed streams",
        "people drawn in households count apart",
        {"fair": partial(people_upper, 0.5), "1e-3": partial(people_upper, 1e-3)},
        Power(
            "below .5, 20 trials of 50 people",
            (0.03, 0.05, 0.07, 0.1),
            lambda s, g: (
                evidence.population_mean_upper(
                    (x := g.binomial(50, 0.5 - s, 20).astype(float)), x, 50
                ).high
                < 0.5
            ),
        ),
    ),
    Null(
        "a median over trials",
        (f"{T}summary attack_result",),
        "Thompson 1936 (order statistics)",
        "trials independent and alike",
        "trials are keyed draws of one game",
        "trials that share a model count as more than they are",
        {"ties": median},
        Power(
            "of standard deviations, 15 trials",
            (0.5, 1.0, 1.5, 2.0),
            lambda s, g: evidence.median_limits(g.normal(size=15) + s).low > 0,
        ),
    ),
    Null(
        "a mean, approximately",
        (f"{T}summary _roughly",),
        "Student's t",
        "trials independent, means over many people",
        "shown as approximate; decides nothing",
        "skewed trials are missed far more often",
        {"shares of 100 people": partial(student, lambda g: g.binomial(100, 0.87, 30) / 100, 0.87)},
        Power(
            "above .5, 30 trials of 100 people",
            (0.01, 0.02, 0.03, 0.05),
            lambda s, g: evidence.studentised_limits(g.binomial(100, 0.5 + s, 30) / 100).low > 0.5,
        ),
        is_approximate=True,
        outside={"a rare ruin": partial(student, rare_ruin, 0.87)},
    ),
    Null(
        "a mean, looked at after every trial",
        ("game/loop summary",),
        "Ville 1939 (betting)",
        "trials independent of the past; whoever looks may stop for any reason in it",
        "stakes depend on earlier trials only",
        "a later trial that was seen before stopping",
        {"stopped at the first miss": anytime},
        Power(
            "above .5, 400 trials",
            (0.05, 0.1, 0.15, 0.2),
            lambda s, g: evidence.anytime_limits(g.binomial(1, 0.5 + s, 400) * 1.0).low > 0.5,
        ),
        repeats=0.2,
    ),
    Null(
        "an excess of one sample over another",
        (
            "synthetic/assessment Risk.counts",
            "synthetic/assessment _separation",
            "kinds/memorization/engine limits_of",
        ),
        "Berger and Boos 1994, maximised by bounds; Fisher 1935 at no excess",
        "both samples independent; the other's limits at a share of the error fixed beforehand",
        "one row of each unit is scored; attacks are chosen on other people",
        "rows of one person that count apart make it too sure",
        {
            "equal shares": partial(two, 0.3, 40, 0.3, 25),
            "an excess of .1": partial(two, 0.4, 60, 0.3, 60),
            "a large sample beside a small one": partial(two, 0.98, 5000, 0.96, 3),
            "shares of 1e-4": partial(two, 2e-4, 5000, 1e-4, 5000),
            "one and one": partial(two, 0.5, 1, 0.5, 1),
            "certain": partial(two, 1.0, 30, 1.0, 30),
        },
        Power(
            "over .5, 300 people on each side",
            (0.05, 0.1, 0.15, 0.2),
            lambda s, g: TwoSamples(
                int(g.binomial(300, 0.5 + s)), 300, int(g.binomial(300, 0.5)), 300
            ).refuses(0.0, error=ALPHA / 2),
        ),
        repeats=0.5,
    ),
    Null(
        "a gain over fresh documents or images",
        ("kinds/memorization/engine limits_of",),
        "as of an excess, around the limits over fresh ones alone",
        "documents are independent draws of one source",
        "the division is random, or told",
        "near copies of documents count apart",
        {
            "30 beside 300": partial(gain, 30, 300, 0.1, 0.0),
            "8 beside 168": partial(gain, 8, 168, 0.05, 0.0),
            "20 beside 60, a gain of .1": partial(gain, 20, 60, 0.2, 0.1),
        },
        Power(
            "over .1, 100 documents beside 100",
            (0.1, 0.15, 0.2, 0.25, 0.3),
            lambda s, g: (
                limits_of(int(g.binomial(100, 0.1 + s)), 100, int(g.binomial(100, 0.1)), 100, 0.95)[
                    0
                ]
                > 0
            ),
        ),
        repeats=0.3,
    ),
    Null(
        "scores above a fresh document",
        ("kinds/memorization/language/kind _scored",),
        "Hoeffding 1963, sections 4 and 5; Bentkus 2004",
        "documents of both sides are independent draws",
        "the division is random, or told",
        "near copies of documents count apart",
        {
            "30 beside 3,000": partial(area, 30, 3000, 9),
            "100 beside 300": partial(area, 100, 300, 9),
            "300 beside 100": partial(area, 300, 100, 9),
            "ties": partial(area, 100, 100, 0),
            "a model that scores all alike": lambda g: misses(auc(np.ones(40), np.ones(50)), 0.5),
        },
        Power(
            "of standard deviations, 100 beside 100",
            (0.3, 0.4, 0.5, 0.6, 0.8),
            lambda s, g: auc(g.normal(size=100) + s, g.normal(size=100)).low > 0.5,
        ),
        repeats=0.3,
    ),
    Null(
        "more of those trained on came back",
        ("extraction/recovered recovered_documents",),
        "Fisher 1935 (hypergeometric)",
        "which documents were trained on was drawn at random",
        "the division is random, or told",
        "sources that differ make it any number",
        {"half come back": partial(fisher, 0.5), "five do": partial(fisher, 5 / 120)},
        Power(
            "beyond .2, of 40 beside 80",
            (0.1, 0.2, 0.3, 0.4),
            lambda s, g: (
                recovered_documents(g.random(40) < 0.2 + s, g.random(80) < 0.2).chance <= ALPHA
            ),
        ),
    ),
    Null(
        "canaries named",
        (),
        "binomial, exact",
        "secrets drawn independently and uniformly",
        "drawn by the study itself",
        "none: secrets are the study's own",
        {"ranks at random": canaries},
        Power(
            "share named beyond chance, of 30",
            (0.1, 0.2, 0.3),
            lambda s, g: (
                NamedCanaries(
                    1,
                    30,
                    tuple(np.where(g.random(30) < s, 1, g.integers(1, 21, 30)).tolist()),
                    19,
                    0,
                    6,
                ).chance()
                <= ALPHA
            ),
        ),
    ),
    Null(
        "a whole report: synthetic file",
        (),
        "Fisher 1935 and Berger and Boos 1994, Bonferroni over risks",
        "people exchangeable; one row of each unit",
        "halves are drawn at random, one row of a unit",
        "rows of one person that count apart: see beside",
        {
            "independent people": lambda g: given(g)[0],
            "ties": lambda g: given(g, ties=True)[0],
            "a secret that equals a known column": lambda g: given(g, known=True)[0],
            "three rows a person, named": lambda g: given(g, each=3, unit=True)[0],
            "households of 1 to 5, named": lambda g: given(g, homes=True, unit=True)[0],
        },
        Power(
            "share of the data copied, 80 people",
            (0.25, 0.5, 0.75, 1.0),
            lambda s, g: given(g, copied=s)[0],
        ),
        repeats=0.1,
        outside={
            "three rows a person, not named": lambda g: given(g, each=3)[0],
            "households of 1 to 5, not named": lambda g: given(g, homes=True)[0],
        },
    ),
    Null(
        "synth: the control is of another joint law",
        ("synthetic/assessment _unlike",),
        "Phipson and Smyth 2010: relabelled rows; Bonferroni over two tests, and values",
        "one row of each unit; both sides of one population",
        "one row of each unit is taken",
        "as of the control that is foreign",
        {"columns that hang together, in both": partial(apart, 0.0)},
        Power(
            "share of 200 people of the control with shuffled columns, 300 people",
            (0.25, 0.5, 0.75, 1.0),
            apart,
        ),
        declared=0.01,
        repeats=0.1,
    ),
    Null(
        "synth: a file is exceeded beside a drifted control",
        (),
        "as of a whole report, where the control is not refuted",
        "drift of a size that the test of the joint law finds",
        "what rests on a refuted control is contradicted",
        "a smaller drift may look like an excess: see beside",
        {
            "a control of the same population": partial(drifted, 0.0),
            "a control of the same columns and another joint law": partial(drifted, 1.0),
            "half of the control of another joint law": partial(drifted, 0.5),
        },
        Power(
            "share of the data copied, 400 people, a genuine control",
            (0.1, 0.25, 0.5, 1.0),
            lambda s, g: drifted(0.0, g, s),
        ),
        repeats=0.03,
        outside={"a quarter of the control of another joint law": partial(drifted, 0.25)},
    ),
    Null(
        "synth: a column of the control is refused",
        (),
        "Wilks 1942; Joag-Dev and Proschan 1983; Bonferroni over columns and files",
        "people of both files are exchangeable",
        "ranges and sample sizes are those of people beside the commonest value",
        "people who depend on one another",
        {"96% zeros and a long tail; streets that few share": unread},
        Power(
            "factor of another unit, 1,500 people",
            (10.0, 1000.0, 1e6),
            lambda s, g: unread(g, s, 1500),
        ),
        declared=0.001,
        repeats=0.2,
    ),
    Null(
        "a group is named as hit hardest",
        (),
        "Bonferroni over groups: its lower limit is above all other upper limits",
        "limits of all groups hold at once",
        "each limit is at the level of all groups together",
        "as of the limits",
        {
            "eight equal groups": partial(hardest_hit, (0.1,) * 8, 60),
            "four equal groups, all copied": partial(hardest_hit, (0.8,) * 4, 40),
            "two equal groups, none hit": partial(hardest_hit, (0.0,) * 2, 200),
        },
        Power(
            "gain of one of four groups of 100 beyond .1",
            (0.2, 0.4, 0.6),
            lambda s, g: hardest_hit((0.1, 0.1, 0.1, 0.1 + s), 100, g),
        ),
        repeats=0.2,
    ),
    Null(
        "synth: copies, whatever people the file favours",
        ("synthetic/copies Copies.excess_of_any_law", "kinds/synthetic/copies CopiedDetail.of"),
        "Cauchy and Schwarz on what nobody, one and two people have; Garwood 1936",
        "people of the data are independent of one another and of the file",
        "one row of each unit is taken",
        "people left out for being like another",
        {
            "a fresh sample": partial(favoured, 1.0),
            "a class of 2%, five times oversampled": partial(favoured, 5.0),
            "a class of 2%, twenty times oversampled": partial(favoured, 20.0),
            "other kinds in that class": partial(favoured, 5.0, archetypes=False),
            "a list of people, each there .2 times": partial(listed, 0.2),
            "a list of people, each there once": partial(listed, 1.0),
        },
        Power(
            "share of the file copied, 2,000 people",
            (0.05, 0.1, 0.2, 0.5),
            lambda s, g: favoured(1.0, g, share=s),
        ),
        repeats=0.1,
    ),
    Null(
        "synth: the control is foreign",
        ("synthetic/assessment _unlike",),
        "Fisher 1935, Bonferroni over values and the joint test",
        "one row of each unit; both sides of one population",
        "one row of each unit is taken",
        "rows of one person that count apart: see beside",
        {
            "independent people": lambda g: given(g)[1],
            "three rows a person, named": lambda g: given(g, each=3, unit=True)[1],
            "households of 1 to 5, named": lambda g: given(g, homes=True, unit=True)[1],
        },
        Power(
            "share of the control moved to one town, 150 people", (0.1, 0.2, 0.3, 0.4), foreign_by
        ),
        declared=0.01,
        repeats=0.1,
        outside={
            "three rows a person, not named": lambda g: given(g, each=3)[1],
            "households of 1 to 5, not named": lambda g: given(g, homes=True)[1],
        },
    ),
    Null(
        "synth: copies, without a control",
        ("synthetic/copies LimitedCount.excess", "kinds/synthetic/copies CopiedDetail.of"),
        "Good 1953; Przyborowski and Wilenski 1940",
        "the file's law is the population's, or its decoys show how it is not",
        "decoys are looked for in the file and in half of the data",
        "a law that favours the very people of the data, and no others",
        {
            "independent people": copied,
            "ties": partial(copied, ties=True),
            "three rows a person, named": partial(copied, each=3, unit=True),
            "three rows a person, not named": partial(copied, each=3),
        },
        Power(
            "share of the file copied, 150 people",
            (0.2, 0.3, 0.4, 0.6, 0.8),
            lambda s, g: copied(g, share=s),
        ),
        repeats=0.2,
        outside={
            "a file of other towns than the data": partial(copied, towns=4),
            "a class of 2%, five times oversampled": partial(favoured, 5.0, any_law=False),
        },
    ),
    Null(
        "synth: copies, beside a control",
        ("synthetic/copies beside_control",),
        "Fisher 1935",
        "people exchangeable; one row of each unit",
        "one row of each unit is taken",
        "a control of another population",
        {
            "independent people": partial(copied, beside=True),
            "a file of other towns": partial(copied, beside=True, towns=4),
            "three rows a person, named": partial(copied, beside=True, each=3, unit=True),
        },
        Power(
            "share of the file copied, 150 people",
            (0.05, 0.1, 0.2, 0.3),
            lambda s, g: copied(g, share=s, beside=True),
        ),
        repeats=0.2,
        outside={"a control of another year": partial(copied, beside=True, years=1)},
    ),
    Null(
        "synth: any columns of the published file, without a control",
        (
            "synthetic/copies LimitedCount.excess",
            "synthetic/traces Trace.is_striking",
            "kinds/synthetic/copies copied_people",
        ),
        "Good 1953; Przyborowski and Wilenski 1940; Bonferroni over sets of columns",
        "as of copies without a control; numbers of people are as likely as those next to them",
        "as of copies without a control",
        "as of copies without a control",
        {
            "independent people": traced,
            "columns of others, shuffled": partial(traced, made_by="margins"),
            "incomes that nearly all differ": earned,
            "a tax on these": partial(earned, kind="taxed"),
            "numbers given to one person each": partial(earned, kind="given"),
            "rounded to hundreds": partial(traced, places=-2),
            "rounded to tenths": partial(traced, places=1),
        },
        Power(
            "share of the file with a person's number, date and bill, 150 people",
            (0.05, 0.1, 0.2, 0.3, 0.5),
            lambda s, g: traced(g, share=s),
        ),
        repeats=0.03,
    ),
    Null(
        "synth: any columns of the published file, beside a control",
        ("synthetic/traces _near_beside",),
        "Fisher 1935; Bonferroni over sets of columns",
        "people exchangeable; one row of each unit",
        "one row of each unit is taken",
        "a control of another population",
        {
            "independent people": partial(traced, beside=True),
            "columns of others, shuffled": partial(traced, beside=True, made_by="margins"),
            "incomes that nearly all differ": partial(earned, beside=True),
            "a tax on these": partial(earned, beside=True, kind="taxed"),
            "numbers given to one person each": partial(earned, beside=True, kind="given"),
            "rounded to hundreds": partial(traced, beside=True, places=-2),
        },
        Power(
            "share of the file nearly a person, 150 people",
            (0.1, 0.2, 0.3, 0.5),
            lambda s, g: traced(g, share=s, beside=True, nearly=True),
        ),
        repeats=0.03,
    ),
    Null(
        "synth: incomes that nobody else has, moved a little",
        (
            "synthetic/copies BesideMoves.most_coincidences",
            "synthetic/near_copies _beside",
            "synthetic/traces _beside_moves",
        ),
        "Garwood 1936; numbers exchanged among neighbouring rows",
        "numbers that lie close together are as likely in rows that have about the same",
        "as of copies without a control",
        "two columns that follow from one another, of numbers that one person has each",
        {
            "incomes that nearly all differ": earned,
            "a tax on these": partial(earned, kind="taxed"),
        },
        Power(
            "share of the file that is a person but for a few francs, 150 people",
            (0.1, 0.2, 0.3, 0.5),
            lambda s, g: earned(g, share=s, by=9),
        ),
        repeats=0.03,
    ),
    Null(
        "synth: some columns of people, without a control",
        ("synthetic/part_copies PartlyCopied.most_coincidences",),
        "Cauchy and Schwarz on what nobody, one and two people have; half of the people choose",
        "people of the data are independent of one another and of the file",
        "one row of each unit is taken",
        "a file that draws values of several columns together from the data",
        {
            "independent people": partly_kept,
            "answers of three values": partial(partly_kept, values=3),
            "columns of others, shuffled": partial(partly_kept, made_by="margins"),
            "answers that are more alike": partial(partly_kept, made_by="another trait"),
            "incomes drawn from the data": partial(partly_kept, made_by="incomes of the data"),
        },
        Power(
            "share of the file with four answers of a person, 160 people",
            (0.3, 0.6, 1.0),
            lambda s, g: partly_kept(g, share=s),
        ),
        repeats=0.03,
    ),
    Null(
        "synth: any two or three columns wait for a control",
        (),
        "Poisson tail, Bonferroni over sets, by cells of two people and of several rows",
        "rows of the file are independent of one another and of the people",
        "one row of each unit is taken",
        "a file that draws values of two columns together from the data",
        {
            "independent people": some_kept,
            "columns of others, shuffled": partial(some_kept, made_by="margins"),
            "columns of the data, shuffled": partial(some_kept, made_by="margins of the data"),
            "people drawn again of others": partial(some_kept, made_by="drawn again"),
            "columns that hang together by traits": partial(strikes, law="traits"),
            "columns that follow from a code": partial(strikes, law="a code"),
            "kinds of people": partial(strikes, law="kinds"),
            "heavy ties": partial(strikes, law="ties"),
            "own incomes of the data, by themselves": partial(strikes, law="own", of_data=True),
        },
        Power(
            "people of 200 with three columns in the file",
            (5, 15, 30),
            lambda s, g: some_kept(g, many=int(s)),
        ),
        declared=SETS_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: rows far nearer to people wait for a control",
        ("synthetic/near_copies _nearer_by", "synthetic/near_copies _nearest_pairs"),
        "Poisson tail, by people who are as near to one another and by rows that are; exact chance "
        "of pairs of people, of rows and of both",
        "rows of the file are independent of one another and of the people",
        "one row of each unit is taken",
        "a file whose rows keep apart from one another",
        {
            "independent people": far_nearer,
            "columns of the data, shuffled": partial(far_nearer, made_by="margins"),
            "nearer the middle": partial(far_nearer, made_by="nearer the middle"),
            "a questionnaire": half_answered,
            "a questionnaire, nearer the middle": partial(half_answered, scale=0.7),
            "rows that repeat themselves": partial(far_nearer, made_by="repeating"),
            "rounded in some rows": partial(far_nearer, made_by="rounded in some rows"),
            "rows three times the people": partial(far_nearer, made_by="many"),
        },
        Power(
            "share of the file that is a person moved by half a step, 150 people",
            (0.1, 0.2, 0.3),
            lambda s, g: far_nearer(g, share=s),
        ),
        declared=(len(SHARES) + 2 * len(NEAREST_OTHERS) + 2 * len(NEAREST_PAIRS)) * NEARER_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: columns of the file alone that hold people wait for a control",
        (),
        "Poisson tail, by the data with each column shuffled",
        "values of those columns are drawn without the people",
        "a few values alone are called nobody",
        "columns that hang together in the data more than shuffled ones do",
        {
            "columns of other people": held_alone,
            "other people in a text": partial(held_alone, how="text"),
        },
        Power(
            "people of 150 whose values stand under other names",
            (10, 20, 40),
            lambda n, g: held_alone(g, many=int(n)),
        ),
        declared=6 * HELD_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: people under other codes wait for a control",
        ("synthetic/recoding _recoded_people",),
        "Poisson tail, by code tables that are sought for shuffled columns",
        "rows of the file are drawn without the people",
        "columns of more than 50 values are not recoded",
        "columns that hang together in the file more than shuffled ones do",
        {
            "one table": recoded,
            "a table for each": partial(recoded, how="a table for each"),
        },
        Power(
            "people of 200 in the file under other codes",
            (20, 60, 200),
            lambda n, g: recoded(g, many=int(n)),
        ),
        declared=CHANGED_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: people in rows with a rule of their own wait for a control",
        ("synthetic/row_rules _changed_people",),
        "pairs of people, and cells that two people and two rows have",
        "rows of the file are independent of one another and of the people",
        "one row of each unit is taken",
        "a file whose rows keep apart from one another",
        {
            "other people, by tables": changed_by_row,
            "other people, mirrored": partial(changed_by_row, rule="a mirror"),
            "other people, moved": partial(changed_by_row, rule="a move"),
            "columns of the data, shuffled": partial(changed_by_row, made_by="margins"),
            "few other people, many rows": partial(changed_by_row, made_by="few"),
        },
        Power(
            "people of 200 whose row has a table of its own",
            (10, 40, 160),
            lambda n, g: changed_by_row(g, many=int(n)),
        ),
        declared=CHANGED_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: groups of rows that stand in the file whole wait for a control",
        ("synthetic/row_groups _GroupSearch.beside",),
        "cells that two groups and two groups of rows have, Bonferroni over sets of columns",
        "groups of rows of the file are independent of one another and of those of the data",
        "groups of one row are left out",
        "a file whose groups keep apart from one another",
        {
            "other households, by a number": housed,
            "other households, by a place": partial(housed, by="a place"),
            "people of the data, shuffled": partial(housed, made_by="margins"),
            "visits of other people": visited,
        },
        Power(
            "households of 60 that are put back",
            (5, 10, 20),
            lambda n, g: housed(g, many=int(n)),
        ),
        declared=CHANGED_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: rows in the order of the data wait for a control",
        (),
        "permutation of the rows, by the largest and all products of two columns",
        "rows of the file have an order of their own",
        "where both files are in some order, sorted columns are left out and rows are moved",
        "files that are both made in steps of the same length",
        {
            "independent people": places_kept,
            "columns of the data, shuffled": partial(places_kept, made_by="margins"),
            "both sorted": partial(places_kept, made_by="sorted"),
            "households of four in both": partial(places_kept, made_by="households"),
            "both drifting": partial(places_kept, made_by="drifting"),
        },
        Power(
            "share of 200 rows that keep three answers, mirrored and exchanged, at their place",
            (0.2, 0.35, 0.5),
            lambda s, g: places_kept(g, share=s),
        ),
        declared=ORDER_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: values under other names wait for a control",
        ("synthetic/column_swaps _sharing",),
        "Poisson tail, by values that people share with one another and rows do",
        "rows of the file are independent of one another and of the people",
        "one row of each unit is taken",
        "a file whose rows keep apart from one another",
        {
            "independent people": elsewhere,
            "columns of the data, shuffled": partial(elsewhere, made_by="margins"),
            "rounded amounts": partial(elsewhere, made_by="rounded"),
            "columns under other names": partial(elsewhere, made_by="renamed"),
        },
        Power(
            "people of 200 whose four amounts are exchanged between partners",
            (6, 15, 30),
            lambda s, g: elsewhere(g, many=int(s)),
        ),
        declared=2 * len(NEAREST_OTHERS) * NEARER_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: people mirrored or under other names wait for a control",
        ("synthetic/mirrors _most",),
        "pairs of people, and any law of the file",
        "rows of the file are independent of one another and of the people",
        "one row of each unit is taken",
        "a file whose rows keep apart from one another",
        {
            "independent people": turned_round,
            "columns of the data, shuffled": partial(turned_round, made_by="margins"),
            "other people, mirrored": partial(turned_round, made_by="turned"),
            "nearly, independent people": partial(turned_round, nearly=True),
            "nearly, other people, mirrored": partial(turned_round, made_by="turned", nearly=True),
        },
        Power(
            "people of 200 of whom seven answers are mirrored",
            (10, 20, 40),
            lambda s, g: turned_round(g, many=int(s)),
        ),
        declared=CHANGED_ERROR + SETS_ERROR + 2 * len(NEAREST_OTHERS) * NEARER_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: names inside other values wait for a control",
        (
            "synthetic/names_in_values _sought",
            "synthetic/names_in_values _in_other_words",
            "synthetic/names_in_values _values_in_texts",
        ),
        "Poisson tail, beside names moved up and down and people who are alike",
        "names of the file are drawn without those of the data",
        "only columns that name nearly everybody are sought",
        "names that are handed out one after the other, or in clusters",
        {
            "numbers beside jobs": names_inside_texts,
            "initials and surnames": partial(names_inside_texts, how="initials"),
            "amounts in notes": numbers_in_notes,
            "prices in notes": partial(numbers_in_notes, ends=99),
        },
        Power(
            "people of 200 whose case number stands in brackets after a job",
            (5, 10, 20),
            lambda s, g: names_inside_texts(g, many=int(s)),
        ),
        declared=INSIDE_ERROR,
        repeats=0.05,
    ),
    Null(
        "a language model is not read as it was trained",
        ("kinds/memorization/language/attacks is_misread",),
        "Clopper and Pearson 1934, of documents of both sides together",
        "documents are independent of one another, given the model",
        "the documents are those of the study",
        "documents that are copies of one another",
        {
            "half of the documents": misread,
            "most documents of one side, few of the other": partial(
                misread, trained=0.1, fresh=0.9
            ),
        },
        Power(
            "share of 60 documents on each side that cost more than a guess",
            (0.6, 0.8, 0.95),
            lambda s, g: misread(g, trained=s, fresh=s),
        ),
        repeats=1,
    ),
    Null(
        "synth: values of people in a column that was declared irrelevant refute that",
        ("synthetic/names_in_values _own_values",),
        "Poisson tail, by pairs of people with equal values and whole numbers next to theirs",
        "values of the file are drawn without those of the data",
        "values that one person alone has are counted, and no running numbers",
        "a generator that draws values of the data for that column is asked about, too",
        {
            "other people": declared_values,
            "other people, in whole numbers": partial(declared_values, made_by="whole numbers"),
        },
        Power(
            "people of 300 whose bill, with cents, is in the file",
            (5, 15, 40),
            lambda s, g: declared_values(g, many=int(s)),
        ),
        declared=INSIDE_ERROR,
        repeats=0.05,
    ),
    Null(
        "synth: names of people wait for a control",
        (),
        "Poisson tail, beside names moved up and down",
        "names of the file are drawn without those of the data",
        "one row of each unit is taken",
        "names that are handed out one after the other, or in clusters",
        {
            "numbers of six digits": names_kept,
            "numbers of five digits": partial(names_kept, digits=5),
            "numbers of four digits": partial(names_kept, digits=4),
        },
        Power(
            "people of 200 whose case number is kept",
            (2, 5, 10),
            lambda s, g: names_kept(g, kept=int(s)),
        ),
        declared=2 * OWN_VALUES,
        repeats=0.05,
    ),
    Null(
        "synth: some columns of people, beside a control",
        (),
        "Fisher 1935; half of the people choose the columns",
        "people exchangeable; one row of each unit",
        "one row of each unit is taken",
        "a control of another population",
        {
            "independent people": partial(partly_kept, beside=True),
            "columns of others, shuffled": partial(partly_kept, beside=True, made_by="margins"),
        },
        Power(
            "share of the file with four answers of a person, 160 people",
            (0.3, 0.6, 1.0),
            lambda s, g: partly_kept(g, share=s, beside=True),
        ),
        repeats=0.03,
    ),
    Null(
        "synth: a file moves the data's numbers",
        (),
        "binomial, by as many numbers as the same line meets some units beside",
        "numbers of others lie on no line with the data's",
        "a line counts at a chance of 1e-12, or where both files agree in order",
        "a file of so many people that its numbers in order are those of the data",
        {
            "heights of others in inches": partial(in_units, unit="inches"),
            "pay of others in dollars": partial(in_units, unit="dollars"),
            "days of others, moved": partial(in_units, unit="days"),
            "ages of others, moved": partial(in_units, unit="ages"),
        },
        Power(
            "share of the file copied in dollars, 400 people",
            (0.05, 0.1, 0.3, 0.9),
            lambda s, g: in_units(g, "dollars", s),
        ),
        declared=0.001,
        repeats=0.25,
    ),
    Null(
        "synth: copies by last digits",
        ("synthetic/copies LimitedCount.excess",),
        "permutations (Phipson and Smyth 2010)",
        "last digits of people with like numbers are exchangeable, given columns of few values",
        "digits are swapped among numbers that are as round; lists of prices are left out",
        "numbers whose digits follow from a column of few values",
        {
            "pay in cents": partial(by_digits, population="cents"),
            "pay of whole numbers": partial(by_digits, population="whole"),
            "half of them in hundreds": partial(by_digits, population="half of them in hundreds"),
            "with their tax": partial(by_digits, population="with their tax"),
        },
        Power(
            "share of the file copied, 200 people",
            (0.02, 0.05, 0.1, 0.2),
            lambda s, g: by_digits(g, "cents", s),
        ),
        repeats=0.1,
    ),
    Null(
        "synth: own values stand in the file",
        ("synthetic/traces _is_beyond",),
        "Good 1953; Przyborowski and Wilenski 1940; Bonferroni over columns",
        "as of copies without a control",
        "as of copies without a control; columns of few own values: whatever the file favours",
        "what is shown asks for a control, and exceeds nothing",
        {
            "independent people": own_values,
            "columns of others, shuffled": partial(own_values, made_by="margins"),
            "rounded to tens": partial(own_values, made_by="rounded"),
        },
        Power(
            "share of the file with a person's bill, 150 people",
            (0.05, 0.1, 0.2, 0.5),
            lambda s, g: own_values(g, share=s),
        ),
        declared=OWN_VALUES,
        repeats=0.03,
    ),
    Null(
        "synth: the control holds people of the data",
        (),
        "Good 1953; Przyborowski and Wilenski 1940",
        "as of copies without a control",
        "as of copies without a control",
        "as of copies without a control",
        {
            "independent people": in_control,
            "ties": partial(in_control, ties=True),
        },
        Power(
            "share of the control that is of the data, 150 people",
            (0.2, 0.4, 0.6, 1.0),
            lambda s, g: in_control(g, share=s),
        ),
        declared=ALIKE,
        repeats=0.05,
    ),
    Null(
        "synth: the file guesses a secret that other people's records do not",
        (),
        "McNemar 1947; Bonferroni over secrets",
        "the file is a fresh sample, so its rows and other people are exchangeable",
        "as many rows as other people teach, and the attack is chosen by both together",
        "what is shown is a headline, and exceeds nothing",
        {"columns that hang together": told_by_file},
        Power(
            "share of the file copied, 200 people",
            (0.25, 0.5, 1.0),
            lambda s, g: told_by_file(g, s),
        ),
        declared=TOLD,
        repeats=0.05,
    ),
    Null(
        "synth: rows with one number are alike",
        (),
        "permutations (Phipson and Smyth 2010)",
        "rows of the file are in an order that says nothing of its people",
        "what is shown asks for a declaration, and exceeds nothing",
        "files that are sorted alike",
        {"independent people": partial(traced, linked=True)},
        Power(
            "share of rows with the age of the person of their number, 150 people",
            (0.1, 0.3, 0.5),
            lambda s, g: traced(g, share=s, linked=True),
        ),
        declared=ALIKE_ROWS,
        repeats=0.03,
    ),
    Null(
        "synth: the control is none",
        ("synthetic/copies LimitedCount.excess",),
        "Good 1953; Przyborowski and Wilenski 1940",
        "as of copies without a control",
        "as of copies without a control",
        "as of copies without a control",
        {
            "independent people": partial(copied, of="control"),
            "a control of another year": partial(copied, of="control", years=1),
        },
        Power(
            "share of the file copied from the control, 150 people",
            (0.4, 0.6, 0.8, 1.0),
            lambda s, g: copied(g, share=s, of="control"),
        ),
        declared=0.001,
        repeats=0.2,
    ),
    Null(
        "membership: an epsilon is refuted",
        ("membership/audit audit_membership",),
        "Narcissus theory 4.3; Steinke, Nasr and Jagielski 2023",
        "a coin of its own for each record, or each cluster; models trained apart",
        "the design of the coins is tested; clusters that show are refused",
        "coins that fall together, where few models hide it",
        {
            "fair coins, nothing learnt": partial(membership, 0.0),
            "randomised response at the claim": partial(membership, 1.0),
            "clusters of three, named": partial(membership, 0.0, each=3, named=True),
            "clusters of three, not named": partial(membership, 0.0, each=3),
        },
        Power(
            "epsilon, where 0 is refuted: 4 of 16 models, 40 records",
            (0.25, 0.5, 1.0, 2.0),
            lambda s, g: membership(s, g, claimed=0.0),
        ),
        repeats=0.2,
    ),
    Null(
        "membership: rates at every threshold",
        ("membership/audit _curve", "kinds/memorization/language/kind _scored"),
        "crossing chances of order statistics, exact at all thresholds at once",
        "scores independent within both sides",
        "shown as approximate where models are shared",
        "records that share models",
        {
            "no difference": band,
            "no difference, ties": partial(band, decimals=0),
            "either rate at any threshold": sides,
            "clusters of three, named": clustered,
        },
        Power("standard deviations, 60 beside 90", (0.5, 1.0, 1.5, 2.0), lambda s, g: band(g, s)),
        repeats=0.5,
        outside={"clusters of three, not named": partial(clustered, named=False)},
    ),
    Null(
        "members are told from others without the model",
        (
            "membership/audit audit_membership",
            "kinds/membership/kind MembershipKind.measure",
            "kinds/memorization/engine MemorizationKind.without_model",
        ),
        "permutation test, refitted to each relabelling; Besag and Clifford 1991",
        "chance gave points, or clusters of them, their labels",
        "clusters and priors are named with the scores",
        "records of one cluster that are labelled together and not named",
        {
            "rows": without_model,
            "texts": partial(without_model, points="texts"),
            "images": partial(without_model, points="images"),
            "clusters of two": partial(without_model, how="clusters"),
            "priors that a column tells": partial(without_model, how="priors"),
        },
        Power(
            "standard deviations in one of five columns, 200 rows",
            (0.3, 0.4, 0.5, 0.7, 1.0),
            lambda s, g: without_model(g, shift=s, size=200),
        ),
        repeats=0.25,
    ),
    Null(
        "refute: an epsilon, by counts",
        ("cli/evidence refute",),
        "Narcissus theory 4.3 and 4.4",
        "secrets uniform and independent; guesses fixed beforehand",
        "told by whoever gives the counts",
        "coins that fall together",
        {
            "at epsilon 1": partial(counts, "counts", 120, 1.0, 1.0),
            "nothing learnt": partial(counts, "counts", 120, 0.0, 0.0),
            "priors, at epsilon 1": partial(counts, "priors", 60, 1.0, 1.0),
        },
        Power(
            "epsilon, where 0 is refuted, of 120 guesses",
            (0.25, 0.5, 0.75, 1.0),
            lambda s, g: counts("counts", 120, 0.0, s, g),
        ),
        repeats=0.4,
    ),
    Null(
        "refute: an epsilon or mu, at any of the looks so far",
        ("cli/evidence _refute_at_looks",),
        "Narcissus theory 5.4; Ville 1939",
        "a fair coin of its own for each canary; the order of scoring follows no coin",
        "rows that move together are refused, side by side, in parts of the file, alike in score",
        "copies whose rows are shuffled and whose scores differ",
        {
            "nothing learnt, a look after each of 200": partial(at_looks, 200, 0.0),
            "randomised response at the claim, of 200": partial(at_looks, 200, 1.0),
            "nothing learnt, delta .0005": partial(at_looks, 200, 0.0, delta=5e-4),
            "nothing learnt: a mu": partial(at_looks, 200, 0.0, mu=True),
            "the best of three files": partial(at_looks, 60, 0.0, files=3),
        },
        Power(
            "epsilon, where 0 is refuted, of 200 canaries",
            (0.25, 0.5, 0.75, 1.0),
            lambda s, g: at_looks(200, 0.0, g, real=s),
        ),
        repeats=0.2,
    ),
    Null(
        "refute: an epsilon or mu, by scores",
        ("cli/evidence _refute_scores",),
        "Narcissus theory 5.1 and 5.2",
        "a fair coin of its own for each canary; order and guesses from the release alone",
        "exactly half in is refused, unless a coin was thrown for each",
        "coins that fall together",
        {
            "nothing learnt, 200 canaries": partial(swept, 200, 0.0),
            "nothing learnt, 12 canaries, delta .01": partial(swept, 12, 0.0, delta=0.01),
            "nothing learnt: a mu": partial(swept, 200, 0.0, mu=True),
            "randomised response at the claim": partial(swept, 200, 1.0),
            "at the claim, 60 guesses fixed before": partial(swept, 200, 1.0, guesses=60),
            "unequal coins, at the claim": partial(swept, 200, 1.0, unequal=True),
            "unequal coins, 60 guesses fixed before": partial(
                swept, 200, 1.0, unequal=True, guesses=60
            ),
            "one canary a run, nothing learnt": partial(swept, 200, 0.0, runs=True),
            "one canary a run, at the claim": partial(swept, 200, 1.0, runs=True),
            "one canary a run, a mu at the claim": a_mu_of_runs,
        },
        Power(
            "epsilon, where 0 is refuted, of 200 canaries",
            (0.25, 0.5, 0.75, 1.0),
            lambda s, g: swept(200, 0.0, g, real=s),
        ),
        repeats=0.2,
    ),
    Null(
        "secrets: an epsilon, by runs",
        ("kinds/secrets/kind SecretSetting._attack",),
        "Narcissus theory 4.4",
        "runs independent, secrets drawn from the prior",
        "each run is trained anew, from a key",
        "runs that share a start",
        {"at epsilon 1": partial(counts, "runs", 100, 1.0, 1.0)},
        Power(
            "epsilon, where 0 is refuted, of 100 runs",
            (0.25, 0.5, 0.75, 1.0),
            lambda s, g: counts("runs", 100, 0.0, s, g),
        ),
        repeats=0.3,
    ),
    Null(
        "game: violates",
        ("success/statements Evidence.update", "success/statements largest_refuted"),
        "Ville 1939 (betting)",
        "trials independent of the past",
        "trials are keyed draws",
        "none: whoever looks may stop",
        {"exactly resilient": partial(resilient, 0.0)},
        Power("delta too small by, 300 trials", (0.06, 0.1, 0.14), resilient),
        repeats=0.1,
    ),
    Null(
        "estimate: a leakage",
        (),
        "Narcissus theory 6.15",
        "outputs independent given the secrets",
        "rules are learnt on other samples",
        "repeated samples count apart",
        {"nothing leaks": partial(leaks, 0.5, 0.0)},
        Power(
            "beyond 1/2, the chance to show a bit, 300 samples",
            (0.05, 0.1, 0.15, 0.2),
            lambda s, g: leaks(0.5 + s, 0.0, g),
        ),
        declared=ALPHA / 2,
        repeats=0.05,
    ),
    Null(
        "bits are not random",
        ("cli/evidence _random_looking",),
        "exact laws, Holm 1979",
        "bits are fair and independent",
        "the null itself",
        "none",
        {"1,024 fair bits": partial(bits, 0.5)},
        Power("beyond 1/2, 1,024 bits", (0.03, 0.06, 0.1), lambda s, g: bits(0.5 + s, g)),
        repeats=0.3,
    ),
    Null(
        "a sweep is met, in order",
        (),
        "Maurer, Hothorn and Lehmacher 1995",
        "the order is fixed beforehand",
        "from most noise to least",
        "an order chosen afterwards",
        {"all at the threshold": in_order},
        Power(
            "below the threshold, 100 trials",
            (0.1, 0.15, 0.2),
            lambda s, g: evidence.clopper_pearson(int(g.binomial(100, 0.4 - s)), 100).high < 0.4,
        ),
    ),
    Null(
        "a whole report: language model",
        (),
        "Bonferroni over all limits",
        "as of its parts",
        "each limit is one of `claims`",
        "as of its parts",
        {"no memory: two attacks, groups, three scores, canaries": language_report},
        Power(
            "gain of both attacks over .2, 60 documents beside 90",
            (0.2, 0.3, 0.4, 0.5),
            lambda s, g: language_report(g, s),
        ),
        repeats=0.05,
    ),
    Null(
        "a whole report: table",
        (),
        "Bonferroni over settings, attacks and groups that decide",
        "as of its parts",
        "each limit that decides is one of a family fixed beforehand",
        "as of its parts",
        {"tables that are noise alone: two levels, two attacks": table_report},
        Power("epsilon, 20 trials of 20 people", (3.0, 10.0), lambda s, g: table_report(g, s)),
        repeats=0.02,
    ),
    Null(
        "a whole report: table, played until it is decided",
        (),
        "a union over looks fixed beforehand, look k at 1/(k (k + 1)) of the error",
        "as of its parts",
        "`until_decided` names the looks before the first trial; time may end a run at any of them",
        "as of its parts",
        {
            "accepted is what the attack reaches: exceeded": lambda g: auto_report(g, "exceeded"),
            "accepted is what the ceiling reaches: met": lambda g: auto_report(g, "met"),
        },
        Power(
            "the share accepted below what is reached, 10 people, 102 trials at most",
            (0.05, 0.15),
            lambda s, g: auto_report(g, "exceeded", s),
        ),
        repeats=0.01,
    ),
    Null(
        "a whole report: membership",
        (),
        "Bonferroni over attacks, and what is refuted, rates over records and over models",
        "as of its parts",
        "each limit is one of a family fixed beforehand",
        "as of its parts",
        {"nothing learnt: two attacks": membership_report},
        Power(
            "epsilon, 4 of 16 models, 60 records",
            (0.5, 1.0, 2.0),
            lambda s, g: membership_report(g, s),
        ),
        repeats=0.05,
    ),
    Null(
        "a whole report: channel",
        (),
        "one level for both measures at all sizes",
        "as of its parts",
        "each limit is one of a family fixed beforehand",
        "as of its parts",
        {"outputs that do not depend on the secret": channel_report},
        Power(
            "share of 400 outputs that are the secret",
            (0.1, 0.15, 0.2, 0.3),
            lambda s, g: channel_report(g, s),
        ),
        repeats=0.05,
    ),
    Null(
        "a whole report: secrets",
        (),
        "Bonferroni over priors, levels and attacks",
        "as of its parts",
        "each model is trained anew, from a key",
        "as of its parts",
        {"models that learn nearly nothing: two priors, two levels": secrets_report},
        Power("epsilon, 60 models", (3.0, 10.0, 30.0), lambda s, g: secrets_report(g, s)),
        repeats=0.05,
    ),
    Null(
        "a whole report: game",
        (),
        "Bonferroni over attacks",
        "as of its parts",
        "trials are keyed draws of one game",
        "as of its parts",
        {"randomised response at its own epsilon: two attacks": game_report},
        Power("epsilon above 1, 300 trials", (0.5, 1.0, 2.0), lambda s, g: game_report(g, s)),
        repeats=0.05,
    ),
    Null(
        "a whole report: game, played until it is decided",
        (),
        "Waudby-Smith and Ramdas 2023, Theorem 3; Bonferroni over attacks",
        "trials are drawn independently",
        "limits at every look hold at any time; time may end a run at any of them",
        "an attacker's gain, not what another may gain",
        {
            "what is allowed is gained: refuted": lambda g: auto_game(g) == "decided",
            "a little more is gained: below": lambda g: auto_game(g, -1e-9) == "below",
        },
        Power(
            "what is allowed beyond what is gained, 513 trials at most",
            (0.05, 0.1, 0.3),
            lambda s, g: auto_game(g, s) == "below",
        ),
        repeats=0.05,
    ),
    Null(
        "what published tables tell beyond people left out",
        ("counts/game concluded",),
        "Waudby-Smith and Ramdas 2023, Theorem 3; Bonferroni over attacks",
        "trials leave people out independently of each other",
        "each trial has a stream of its own, from a key",
        "a gain of these people, not of others",
        {
            "tables of an independent secret: two attacks": tables_gain,
            "counts perturbed by keys, of an independent secret": told_gain,
            "counts with means, of an independent secret": partial(told_gain, is_keyed=False),
        },
        Power(
            "share of 12 people with their own secret in the tables, 60 trials",
            (0.25, 0.5, 0.75, 1.0),
            lambda s, g: tables_gain(g, s),
        ),
        repeats=0.05,
    ),
    Null(
        "a whole report: image model",
        (),
        "Bonferroni over all limits",
        "as of its parts",
        "each limit is one of `claims`",
        "as of its parts",
        {"as many fresh images come back: two groups of copies": image_report},
        Power(
            "gain over .2, 60 images beside 90",
            (0.2, 0.3, 0.4, 0.5),
            lambda s, g: image_report(g, s),
        ),
        repeats=0.2,
    ),
    Null(
        "a whole report: classifier",
        (),
        "Bonferroni over all limits",
        "as of its parts",
        "each limit is one of `claims`",
        "as of its parts",
        {"points that are no image's own: both attacks": classifier_report},
        Power(
            "share of 60 images among the points",
            (0.3, 0.5, 0.7, 1.0),
            lambda s, g: classifier_report(g, s),
        ),
        repeats=0.2,
    ),
    Null(
        "the prior of a table is refuted by rows of it",
        (T + "held_out _scored",),
        "a sum of independent Bernoullis, exactly; Bonferroni over six guessers",
        "people are independent given their known columns",
        "rows are guessed from rows before them alone",
        "copies of people refute the prior, or their independence",
        {
            "people of a network, the usual prior": lambda g: prior_refuted(
                of_network(g), NETWORK, g
            ),
            "independent columns, the usual prior": lambda g: prior_refuted(
                of_independent(g), NETWORK, g
            ),
            "independent columns, as such": lambda g: prior_refuted(
                of_independent(g), INDEPENDENT, g
            ),
            "nine answers, the usual prior": lambda g: prior_refuted(of_answers(g), NETWORK, g),
        },
        Power(
            "share beyond half that three columns tell together, 1,200 people",
            (0.05, 0.1, 0.2, 0.45),
            lambda s, g: prior_refuted(of_parity(g, s), NETWORK, g),
        ),
        declared=6 * (1 - SURE),
        repeats=0.05,
    ),
    Null(
        "a relation of two known numbers refutes the prior",
        (),
        "as of any guess of rows",
        "as of any guess of rows",
        "relations are chosen on rows before those guessed",
        "as of any guess of rows",
        {
            "a secret that no number tells": lambda g: prior_refuted(of_numbers(g), NETWORK, g),
            "a secret that no answers tell": lambda g: prior_refuted(of_scale(g), NETWORK, g),
        },
        Power(
            "share of 300 people who are ill in a band of weight by squared height",
            (0.4, 0.6, 0.8, 1.0),
            lambda s, g: prior_refuted(of_numbers(g, s), NETWORK, g),
        ),
        declared=6 * (1 - SURE),
        repeats=0.05,
    ),
    Null(
        "a file is sorted by its secret",
        (),
        "permutations without a gap among all, exactly; Bonferroni over three columns",
        "rows are in any order, within what they are sorted by",
        "a column is called sorted only where so few permutations are, 1e-6",
        "rows of a person that stand together",
        {
            "200 rows in any order": looks_sorted,
            "20 rows in any order": partial(looks_sorted, rows=20),
            "one of 100 has the secret": partial(looks_sorted, rows=100, ill=0.01),
            "sorted by days of three rows": partial(looks_sorted, a_day=3),
            "sorted by days of one row or two": partial(looks_sorted, rows=39, a_day=2),
            "sorted by two days": partial(looks_sorted, rows=60, a_day=30),
        },
        Power(
            "rows that are sorted by the secret",
            (20, 25, 30, 60),
            lambda s, g: looks_sorted(g, rows=int(s), by=1.0),
        ),
        declared=3 * BY_CHANCE,
    ),
    Null(
        "a column that is left out tells of the secret",
        (),
        "a sum of independent Bernoullis, exactly; Bonferroni over five guessers",
        "people are independent given their known columns and what is left out",
        "relations are chosen on rows before those guessed; parts are tried where all tell",
        "copies of people tell of each other",
        {
            "codes whose letter tells a known column": column_tells,
            "numbers in any order": partial(column_tells, what="number"),
            "texts with a word that tells a known column": partial(column_tells, what="text"),
            "times whose hour tells a known column": partial(column_tells, what="time"),
            "numbers whose digits tell a known column": partial(column_tells, what="sum of digits"),
        },
        Power(
            "share of 300 people whose code tells the secret",
            (0.2, 0.4, 0.6, 0.8, 1.0),
            lambda s, g: column_tells(g, s),
        ),
        declared=5 * (1 - SURE),
        repeats=0.05,
    ),
    Null(
        "the exact value of a column in bins tells of the secret",
        (),
        "a sum of independent Bernoullis, exactly; Bonferroni over five guessers",
        "people are independent given their known columns and the exact value",
        "as of columns that are left out",
        "members of a household tell of each other",
        {
            "values that tell a known column": partial(column_tells, is_binned=True),
            "values that tell another known column": partial(column_tells, is_binned=True, of="c"),
            "a total of four items and more": total_tells,
            "two numbers whose parity tells a known column": relation_tells,
        },
        Power(
            "share of 300 people whose secret is what a total has beyond its items",
            (0.2, 0.4, 0.6, 0.8, 1.0),
            lambda s, g: total_tells(g, s),
        ),
        declared=5 * (1 - SURE),
        repeats=0.05,
    ),
    Null(
        "the order of the rows tells of the secret",
        (),
        "a sum of independent Bernoullis, exactly; Bonferroni over five guessers; a sign test",
        "rows are independent; a file may have been sorted by its columns",
        "of a file that is sorted by a secret, the others are examined given it",
        "an order in which the file was sorted by what it does not hold",
        {
            "rows in any order": order_tells,
            "rows of a site in any order": blocks_tell,
            "sorted by the secret": partial(order_tells, by=("secret",)),
            "sorted by a known column and the secret": partial(order_tells, by=("a", "secret")),
            "sorted by one of two secrets": partial(order_tells, by=("other",), more=True),
        },
        Power(
            "share of 400 rows in blocks of four within a known column",
            (0.4, 0.6, 0.8, 1.0),
            lambda s, g: blocks_tell(g, s),
        ),
        declared=5 * (1 - SURE),
        repeats=0.05,
    ),
    Null(
        "another prior than the usual one is refused",
        (),
        "a sum of independent Bernoullis, exactly; Bonferroni over six guessers and its own guess",
        "people are independent given their known columns",
        "its own guess is of rows to which it was not fitted",
        "copies of people refute every prior",
        {"three columns tell together, three parents": other_refused},
        Power(
            "times that each of 600 rows is there",
            (2, 3),
            lambda s, g: other_refused(g, int(s)),
        ),
        declared=7 * (1 - SURE),
        repeats=0.05,
    ),
)
