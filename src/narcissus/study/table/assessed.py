"""What a table study assessed and what it did not, said in its record."""

from __future__ import annotations

from collections.abc import Sequence

from narcissus._outwards import upper
from narcissus.attacks.table import MeanField
from narcissus.attacks.table.eliminated import decides
from narcissus.results import NotAssessed
from narcissus.study.results.table import SettingNumbers
from narcissus.study.table.experiment import Experiment
from narcissus.tables import Table
from narcissus.tables.spelling import described, respellings

NOT_COVERED = [
    "Columns that the attacker is assumed not to know but might learn elsewhere: the threat model "
    "names what is known.",
    "Anything published besides this release: other tables, earlier or later releases of the same "
    "people.",
    "Attackers who know more about the joint distribution than the prior says, or whose secrets "
    "are not independent given the known columns (families, copies of a record).",
    "How the bins and the columns were chosen, if that choice looked at the data.",
    "The computer that makes the release: floating-point and timing side channels.",
]


def assessed(experiment: Experiment) -> list[str]:
    """Say what was played against whom, a sentence each."""
    unknown = [experiment.table.names[c] for c in experiment.queries.unknown]
    success = experiment.success.describe()
    items = [
        f"How much of {', '.join(unknown)} is recovered ({success}) by: "
        + ", ".join(name for name, _, _ in experiment.attacks),
        "What the same attempts recover on fresh people: the attackers' own baselines",
    ]
    if any(setting.guarantee is not None for setting in experiment.settings):
        items.append(
            "What no attacker can exceed, on average and with confidence, from the guarantee"
        )
    if experiment.groups.names:
        items.append("How groups of people fare")
    table = experiment.table
    if table.counts is not None:
        items.append(
            f"All {table.rows:,} rows of the table, counted as they were read: "
            f"{len(table.counts):,} distinct records of {table.columns} columns"
        )
    return [*items, *reading_lines(table)]


def reading_lines(table: Table) -> list[str]:
    """Say what was read as what, where a file writes it otherwise or a column is no plain one."""
    said = respellings(table.readings)
    kinds = {reading.kind for reading in table.readings.values()}
    if not said and kinds <= {"numbers", "texts"}:
        return []
    lines = [f"Columns read as {described(table.readings)}"]
    return [*lines, f"In the table {said}"] if said else lines


def not_assessed(experiment: Experiment) -> list[NotAssessed]:
    """Say what was not, or only roughly, and why, as far as the study itself decides it."""
    items = [
        NotAssessed(
            f"the order of the column `{name}`",
            text,
            "correct those cells, empty them and say what `missing` means, or drop the column",
        )
        for name, text in experiment.table.notes.items()
    ]
    bare = [f"'{s.label}'" for s in experiment.settings if s.guarantee is None]
    if bare:
        items.append(
            NotAssessed(
                f"what no attacker can exceed at {', '.join(bare)}",
                "the release guarantees nothing, and no theorem limits the attacker",
                "add noise, or take another mechanism with a guarantee",
            )
        )
    if not experiment.settings[0].mechanism.cellwise:
        items.append(
            NotAssessed(
                "the ceiling",
                "what an attacker could do who is told everybody else's secrets cannot be "
                "computed for this release: better attacks than those played may exist",
                "release counts whose cells are changed one by one",
            )
        )
    elif not any(attack.informed for _, attack, _ in experiment.attacks):
        items.append(
            NotAssessed("the ceiling", "the study does not ask for it", "add [attacks.ceiling]")
        )
    if experiment.success.by_column:
        items.append(
            NotAssessed(
                "how many of the targets are recovered in one release",
                "each unknown column counts by itself, and what is proved is a mean: a release may "
                "tell all columns of a person or none, and no form of the theorems on counts is "
                "proved for shares",
                "set `at_least` in [threat] instead of `share_of_columns`",
            )
        )
    if experiment.factored:
        items += _not_assessed_of_factors(experiment)
    noises = [s.mechanism.noise for s in experiment.settings]
    laplace = any(noise is not None and noise.kind == "laplace" for noise in noises)
    if laplace and any(isinstance(a, MeanField) for _, a, _ in experiment.attacks):
        items.append(
            NotAssessed(
                "the exact mean-field posterior under Laplace noise",
                "the mean field reads each cell as if its noise were normal, matched to where the "
                "count is believed to be; as an attack it is valid, but a better one may exist",
                "add a posterior attack with method = 'gibbs', which uses the exact density",
            )
        )
    if experiment.real_rows:
        items.append(
            NotAssessed(
                "how wrong the fitted prior is about the real people, beyond the averages tested",
                "targets are real rows: the ceiling and the bounds need the prior to be right "
                "about each of them; what attacks and decoys score needs nothing, and tests the "
                "prior on average",
                "compare with people = 'prior', where the prior is known exactly",
            )
        )
    return items


def stuck(results: Sequence[SettingNumbers]) -> list[NotAssessed]:
    """Say where a search did not end: for the best guess, for values that agree with counts."""
    guess = results[0].guess  # the same at every setting
    items: list[NotAssessed] = []
    if guess.is_best_found:
        beyond = "" if guess.at_most is None else f" than {upper(100 * guess.at_most, places=1)}%"
        items.append(
            NotAssessed(
                "the best guess without the release",
                "of so many joint values the guess is the best that was found; its chance is "
                "exact, and a better guess may exist"
                + (f", but none with a larger mean chance{beyond}" if beyond else ""),
                "take fewer unknown columns, or coarser ones; or all of them and exact matches, or "
                "`share_of_columns`, where the best guess is known",
            )
        )
    return items + [
        NotAssessed(
            f"what exact counts determine at '{setting.label}', by the attack `{name}`",
            f"its search stuck in {found.search.stuck} of {found.trials} releases, at a residual "
            f"of {found.search.residual:.4g} people in all counts together: values that agree "
            "with every count exist, and may give away more",
            "take fewer unknown columns, or release tables of more columns",
        )
        for setting in results
        for name, found in setting.attacks.items()
        if found.search is not None and found.search.stuck
    ]


def _not_assessed_of_factors(experiment: Experiment) -> list[NotAssessed]:
    """Say what cannot be computed where no joint value is listed."""
    queries = experiment.queries
    many = f"the {len(queries.unknown)} unknown columns have {queries.values:,} joint values"
    items: list[NotAssessed] = []
    if experiment.estimates_ceiling:
        why = "the tables and the prior tie too many of them together to eliminate one by one"
        if not decides(experiment.success):
            why = "elimination decides where all must be exactly right or each counts by itself"
        items.append(
            NotAssessed(
                "the exact ceiling",
                f"{many}: the posterior of an attacker who is told everybody else's secrets is "
                f"sampled ({why}), and a better decision from it may exist, so no verdict rests "
                "on it",
                "take fewer unknown columns, or coarser ones, below 100,000 joint values",
            )
        )
    return items
