"""An experiment that is ready to play, and made-up people whose numbers are known one by one."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.table_nodes import attack_of as played
from tests.table_nodes import bound_of, group_of, guess_of

from narcissus.kinds.table.found import SettingFound
from narcissus.kinds.table.judgement import JudgedSetting
from narcissus.kinds.table.kind import prepare
from narcissus.rows import Quantity
from narcissus.study import load_study

GUESS = {"share": 0.5, "low": 0.4, "high": 0.6, "by_the_prior": None}
ATTACK = {
    "share": 0.6, "low": 0.5, "high": 0.7, "low_joint": 0.5, "baseline": 0.4, "baseline_low": 0.4,
    "baseline_high": 0.4, "baseline_exact": True, "gain": 0.2, "gain_low": 0.1, "gain_high": 0.3,
    "gain_low_joint": 0.1, "advantage": 0.2, "advantage_low": 0.1, "advantage_high": 0.3,
    "approximate": None, "narrowest": None, "median": None, "decoy": None, "trials": 10,
    "method": "betting", "title": "guesses", "uses": "prior and release", "columns": {},
    "distribution": {"targets": (6,), "trials": (10,)},
}  # fmt: skip
BOUND = {
    "theorem": "T", "name": "T", "guarantee": "g", "grade": "proved", "for_comparison": False,
    "assumptions": (), "takes_as_given": (),
}  # fmt: skip
SETTING = {
    "label": "ε = 1", "marginals": 1, "cells": 2, "people": 10, "trials": 10, "confidence": 0.95,
    "joint": 0.99, "prior_is_exact": True,
}  # fmt: skip


@dataclass
class Declared:
    """A mechanism whose guarantee is somebody's word."""

    inner: Any
    assumes: tuple[str, ...]

    def __getattr__(self, name):
        return getattr(self.inner, name)


@dataclass(frozen=True)
class Verdict:
    """What follows of a made-up setting, as is said."""

    status: str = "no threshold"
    clashes: tuple = ()
    trials: int | None = None
    held_back_by: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class AsSaid(JudgedSetting):
    """A setting whose verdict does not follow from its rows."""

    verdict: Verdict = Verdict()
    claimed: tuple = ()
    is_named: bool = True

    decides = property(lambda self: self.is_named)
    claims = property(lambda self: lambda: list(self.claimed))
    clashes = property(lambda self: (*self.verdict.clashes, *self.elsewhere))
    status = property(lambda self: self.undecided or self.verdict.status)
    _weighed = property(lambda self: (self.verdict.status, [], self.verdict.trials))


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared(JudgedSetting):
    """Excesses alone, and what contradicts itself."""

    clashes: tuple = ()


def compared(threshold, excesses, clashes=(), given=()):
    """Judge excesses, as of one setting."""
    result = SettingFound(
        **{**SETTING, "label": "here", "given": tuple(given), "are_real": True},
        guess=guess_of(GUESS), attacks={}, excesses=tuple(excesses),
    )  # fmt: skip
    return Compared(result, threshold, clashes=tuple(clashes))


@pytest.fixture(scope="session")
def attack_of():
    """Give a function that makes up what an attack recovered."""
    return lambda share=0.6, low=0.5, high=0.7, **more: {
        **ATTACK, "share": share, "low": low, "high": high, **more
    }  # fmt: skip


@pytest.fixture(scope="session")
def share_bound():
    """Give a function that makes up a bound on the mean share."""
    return lambda most=0.7, whole=0.75, **more: {
        **BOUND, "limits": "share", "share_at_most": most, "share_of_population": whole, **more
    }  # fmt: skip


@pytest.fixture(scope="session")
def count_bound():
    """Give a function that makes up a bound on the number recovered."""
    return lambda most=7, whole=8, of=10, **more: {
        **BOUND, "limits": "count", "confidence": 0.95, "at_most": most, "of": of,
        "at_most_of_population": whole, **more,
    }  # fmt: skip


@pytest.fixture(scope="session")
def setting_of():
    """Give a function that makes up a setting of such parts, judged as is said."""

    def make(
        *, guess=GUESS, attacks=None, ceiling=None, bounds=(), groups=(), excesses=(), gain=None,
        threshold=None, verdict=None, clash=(), statements=(), **result,
    ):  # fmt: skip
        attacks = attacks or {}
        told = {**SETTING, "best": next(iter(attacks), None), **result}
        level = told["confidence"]
        own = SettingFound(
            **told,
            guess=guess_of(guess, level),
            attacks={name: played(one, level) for name, one in attacks.items()},
            ceiling=None if ceiling is None else played(ceiling, level),
            groups=tuple(group_of(one, level) for one in groups),
            bounds=tuple(map(bound_of, bounds)),
            declared_gain=None if gain is None else Quantity(value=gain, grade="sampled"),
            excesses=tuple(excesses),
        )
        verdict = verdict or Verdict(clashes=tuple(clash))
        return AsSaid(
            own, threshold,
            verdict=verdict, held_back_by=verdict.held_back_by, claimed=tuple(statements),
        )  # fmt: skip

    return make


@pytest.fixture
def ready(study):
    """Give a function from changes of the small study to its experiment."""

    def make(**changes):
        loaded = load_study(study(**changes), allow_code=True)
        with loaded.code.in_use():
            return prepare(loaded.settings, loaded.folder, entropy=3)

    return make


PREPARED = {}


@pytest.fixture
def prepared(ready):
    """Give the function ``ready`` for tests that play nothing: a study is prepared once."""

    def make(**changes):
        key = repr(changes)
        if key not in PREPARED:
            PREPARED[key] = ready(**changes)
        return PREPARED[key]

    return make


@dataclass
class MadeUp:
    """Numbers of people as no game gave them, and the trials that hold their sums."""

    experiment: Any
    guess: np.ndarray
    """Chance of the best guess, shape (trials, n); ``guessed`` are its hits."""
    guessed: np.ndarray
    proved: np.ndarray
    """What is proved of each, shape (trials, n); ``single`` and ``theta`` of the count."""
    single: np.ndarray
    theta: np.ndarray
    members: np.ndarray
    """Who belongs to which group, shape (trials, groups, n)."""
    share: dict[str, np.ndarray]
    """For each attack, the score of each person, shape (trials, n); so ``fresh``, ``hits``."""
    fresh: dict[str, np.ndarray]
    hits: dict[str, np.ndarray]
    columns: dict[str, np.ndarray]
    """Shares of each unknown column, and on fresh people, shape (trials, 2, columns)."""
    decoy: dict[str, np.ndarray]
    """Scores on a decoy, and what the prior says of them, shape (trials, 2)."""
    tails: np.ndarray
    """Of counts, at each level, then the published ones, shape (trials, levels + 1, n + 2)."""
    control: np.ndarray

    @property
    def trials(self):
        """Give what is kept of each trial, as playing it gives."""
        return [self._kept(t) for t in range(len(self.guess))]

    def _kept(self, t):
        own, g = self.members[t].astype(float), self.guess[t]
        x = self.proved[t]
        moments = np.stack([x, x**2, g, g**2, x * g], axis=1)
        found = {
            "groups": own.sum(axis=1),
            "guess": np.array([g.sum(), (g**2).sum()]),
            "guessed": np.array(self.guessed[t].mean()),
            "guessed_chance": np.array(self.guessed[t] @ g),
            "group_guess": own @ g,
            "group_guess_squares": own @ g**2,
            "control": self.control[t],
            "bound": moments.sum(axis=0),
            "group_bound": own @ moments,
            "gain_bound": (moments * [1, 1, 0, 0, 0]).sum(axis=0),
            "group_gain_bound": own @ (moments * [1, 1, 0, 0, 0]),
            "published": self.tails[t, -1],
            "share_single": np.array(((1 + x) / 2).mean()),
        }
        told = self.experiment.groups.by_secret(self.experiment.queries.unknown)
        told |= not self.experiment.knows_guess
        for key in ("group_guess", "group_guess_squares"):
            found[key] = np.where(told, own @ self.guessed[t], found[key])
        for place in range(len(self.experiment.levels)):
            o, theta = self.single[t], self.theta[t]
            found[f"tails/{place}"] = self.tails[t, place]
            found[f"single/{place}"] = np.array([v.sum() for v in (o, o**2, theta, theta**2)])
        for name, _, most in self.experiment.attacks:
            if t >= most:
                continue
            found |= {
                f"{name}/hits": np.array(int(self.hits[name][t].sum())),
                f"{name}/share": self.share[name][t].mean(),
                f"{name}/fresh": self.fresh[name][t].mean(),
                f"{name}/columns": self.columns[name][t, 0],
                f"{name}/columns_fresh": self.columns[name][t, 1],
                f"{name}/group_share": own @ self.share[name][t],
                f"{name}/group_fresh": own @ self.fresh[name][t],
                f"{name}/decoy": self.decoy[name][t],
            }
        return found


@pytest.fixture
def made_up():
    """Give a function that makes people up for an experiment, and the experiment of that size."""

    def make(experiment, trials, *, seed=1, low=0.3, high=0.6):
        """Guesses are right with chance ``low``, attacks a little more often, at most ``high``."""
        rng = np.random.default_rng(seed)
        attacks = tuple((name, a, min(most, trials)) for name, a, most in experiment.attacks)
        experiment = replace(experiment, trials=trials, attacks=attacks)
        shape = (trials, experiment.targets)
        names = [name for name, _, _ in attacks]
        guess = np.clip(rng.normal(low, 0.1, shape), 0, 1)
        tails = np.sort(rng.random((trials, len(experiment.levels) + 1, shape[1] + 2)))[..., ::-1]
        tails[..., -1] = 0
        columns = (trials, 2, len(experiment.queries.unknown))
        return MadeUp(
            experiment=experiment,
            guess=guess,
            guessed=(rng.random(shape) < guess).astype(float),
            proved=np.clip(np.maximum(guess, rng.normal(high, 0.05, shape)), 0, 1),
            single=rng.uniform(low, high, shape),
            theta=rng.uniform(0.3, 0.5, shape),
            members=rng.random((trials, len(experiment.groups.names), shape[1])) < 0.3,
            share={name: rng.uniform(low, high, shape) for name in names},
            fresh={name: rng.uniform(low - 0.1, low + 0.1, shape) for name in names},
            hits={name: rng.random(shape) < (low + high) / 2 for name in names},
            columns={name: rng.random(columns) for name in names},
            decoy={name: rng.uniform(low - 0.1, low + 0.1, (trials, 2)) for name in names},
            tails=tails,
            control=rng.normal(0, 0.02, trials),
        )

    return make


@pytest.fixture(scope="session")
def counts_of():
    """Give a function that counts every k-way table that touches an unknown column."""

    def count(frame, unknown, k):
        lines = []
        for columns in combinations(frame.columns, k):
            if not set(columns) & set(unknown):
                continue
            levels = [sorted(frame[c].unique()) for c in columns]
            index = pd.MultiIndex.from_product(levels, names=columns)
            found = frame.groupby(list(columns)).size().reindex(index, fill_value=0)
            lines.append(found.rename("count").reset_index())
        return pd.concat(lines)

    return count
