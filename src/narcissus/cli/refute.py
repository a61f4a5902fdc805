"""``narcissus refute``: the guarantee that an audit's counts contradict."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus._files import LARGEST
from narcissus._outwards import lower, upper
from narcissus.cli import options
from narcissus.cli.bound_options import option_names, print_json, questions_of
from narcissus.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from narcissus.evidence import Refutation
    from narcissus.evidence.refutation import Chosen
    from narcissus.tables.tally import RawColumn

HELP = """Find the largest epsilon that the counts of an audit refute.

Each canary had a secret value, drawn uniformly and independently (membership: in or out by a fair
coin). An attack saw one release, guessed R of the M canaries, and V guesses were right. What was
guessed is --secret: of a value, what is refuted is about replaced records; of membership, about
added and removed ones. Counts of two values leave it open, and both are said.

If exactly half of the canaries were drawn into the data in place of a coin each, little changes.
If one of each pair was drawn, the pairs are the canaries, with two values each: give --canaries
the number of pairs, or --pairs with --scores. Records of pairs counted singly refute falsely.

If the values were not uniform, give each canary's prior: --priors FILE with the counts, where all
canaries were guessed (then --correct is all that is needed), or the column `prior` in the file of
--scores, the chance with which each canary was in.

R must be fixed before the release is seen. Say --guesses-chosen after if it was not: with a delta
above 0 the test is then at half the level; at delta 0 it makes no difference.

\b
Examples:
  narcissus refute --canaries 1000 --guesses 100 --correct 75 --delta 1e-4
  narcissus refute --canaries 1000 --guesses 1000 --correct 240 --values 10
  narcissus refute --canaries 500 --guesses 500 --correct 330 --claim 1
  narcissus refute --scores canaries.csv --delta 1e-5 --seed 1
  narcissus refute --scores pairs.csv --pairs --delta 1e-5
  narcissus refute --priors canaries.csv --correct 240 --delta 1e-5

The file of --scores is a CSV with the columns `score` (larger: more likely in) and `member` (1 in,
0 out), one row a canary, in any order. The rows are shuffled; a third of them chooses the
thresholds and so the number of guesses, after the release, the others are counted. With --pairs
the column `pair` says which two rows belong together; without that column rows 1 and 2 do, 3 and
4, and so on. The file of --priors has a row a canary, a column a value (CSV, or JSON by its name);
rows sum to 1.

\b
Keys of --json: grade, epsilon, mu, noise, p_value, confidence, delta, claim, canaries, guesses,
correct, values, methods (id, name, epsilon, p_value, valid), guesses_chosen, assumptions,
chosen_on, secret, question, and seed with --scores; membership, with the keys for that question,
where it was left open. The p-values are about the epsilon of --claim.
"""


@click.command(help=HELP, short_help="Which guarantee an audit's counts contradict.")
@options.take("--canaries", "M", "How many canaries there were.", int)
@options.take("--guesses", "R", "How many were guessed.", int)
@options.take("--correct", "V", "How many guesses were right.", int)
@options.take("--values", "K", "How many values a secret has.  [2]", int)
@options.secret
@options.file("--scores", "FILE", "Scores with membership, in place of the counts.", exists=True)
@options.flag("--pairs", "With --scores: exactly one row of each pair was in; a pair is a canary.")
@options.file("--priors", "FILE", "Each canary's prior; all were guessed.", exists=True)
@options.seed("With --scores: of the shuffle.  [drawn, and printed]")
@options.take(
    "--guesses-chosen",
    "WHEN",
    "Whether R was chosen before or after the release was seen.  [before]",
)
@options.take("--delta", "D", "Delta of the claim.  [0]", float, default=0.0)
@options.take("--confidence", "C", "Level.", float, shown=0.95)
@options.take("--claim", "E", "Epsilon that p-values are about.  [0]", float, default=0.0)
@options.as_json("Print JSON in full precision.")
def command(
    *,
    canaries: int | None,
    guesses: int | None,
    correct: int | None,
    values: int | None,
    secret: str | None,
    scores: Path | None,
    pairs: bool,
    priors: Path | None,
    seed: int | None,
    guesses_chosen: Chosen | None,
    delta: float,
    confidence: float,
    claim: float,
    as_json: bool,
) -> None:
    from narcissus.evidence import refute, refute_prior_scores, refute_priors, refute_scores
    from narcissus.priors import read_priors

    counts = {"--canaries": canaries, "--guesses": guesses, "--correct": correct}
    instead = {**counts, "--values": values, "--guesses-chosen": guesses_chosen}
    _check(scores, {**instead, "--priors": priors}, {"--pairs": pairs or None, "--seed": seed})
    claimed: dict[str, Any] = {"delta": delta, "confidence": confidence, "claimed": claim}
    with option_names(**({} if scores is None else {"priors": "--scores"})):
        if scores is not None:
            seed = secrets.randbits(32) if seed is None else seed
            columns = _read(scores, pairs=pairs)
            test = refute_prior_scores if "priors" in columns else refute_scores
            found = test(**columns, **claimed, rng=seed)
        elif priors is not None:
            if correct is None:
                raise InputError("`--correct` is missing: how many guesses were right")
            needless = [n for n, x in instead.items() if x is not None and n != "--correct"]
            if needless:
                raise InputError(
                    f"`{needless[0]}` follows from `--priors`: all its canaries were guessed; "
                    "drop it"
                )
            found = refute_priors(read_priors(priors), correct, **claimed)
        else:
            missing = [name for name, value in counts.items() if value is None]
            if canaries is None or guesses is None or correct is None:
                raise InputError(
                    f"`{missing[0]}` is missing: give --canaries, --guesses and --correct, "
                    "or --scores"
                )
            found = refute(
                canaries,
                guesses,
                correct,
                values=2 if values is None else values,
                **claimed,
                guesses_chosen="before" if guesses_chosen is None else guesses_chosen,
            )
    found_of = _asked(found, secret, coins=scores is not None and not pairs, pairs=pairs)
    if as_json:
        payload = _keys(found_of[0]) | ({} if seed is None else {"seed": seed})
        print_json(payload | ({"membership": _keys(found_of[1])} if len(found_of) == 2 else {}))
        return
    click.echo("\n".join(_text(found_of, seed)))


def _asked(found: Refutation, secret: str | None, *, coins: bool, pairs: bool) -> list[Refutation]:
    why = f"{found.values} values" if found.values != 2 else None
    if pairs:
        why = "`--pairs`, where one record takes the place of another"
    if why is not None and secret == "membership":
        raise InputError(f"`--secret membership` does not go with {why}; drop it")
    questions = questions_of(secret, why)
    if coins and secret is None:
        questions = ("membership",)
    return [found.asked(question) for question in questions]


def _keys(found: Refutation) -> dict[str, Any]:
    payload = {"grade": found.grade, **found.to_dict(), "question": found.question}
    payload["claim"] = payload.pop("claimed")
    return payload


def _check(scores: Path | None, instead: dict[str, Any], needing: dict[str, Any]) -> None:
    used = [name for name, value in instead.items() if value is not None]
    if scores is not None and used:
        raise InputError(f"`--scores` takes the place of `{used[0]}`; give one of the two")
    for name, value in needing.items():
        if scores is None and value is not None:
            raise InputError(f"`{name}` needs `--scores`, a file with a row for each canary")


def _noise(found: Refutation) -> str:
    about = "replaced" if found.secret == "value" else "added and removed"
    return f"{upper(found.noise)} ({about} records)"


def _read(path: Path, *, pairs: bool) -> dict[str, Any]:
    """Read the columns ``score`` and ``member``, and the pairs, from a CSV file."""
    import numpy as np

    from narcissus.tables.sources import text_parts

    names: list[str] = []

    def choose(found: list[str]) -> list[int]:
        lacking = [name for name in ("score", "member") if name not in found]
        if lacking or len(set(found)) < len(found):
            wrong = f"lacks the column `{lacking[0]}`" if lacking else "has two columns of one name"
            raise InputError(
                f"`--scores`: {path} {wrong}; it needs `score` and `member`, and has "
                f"{', '.join(found)}"
            )
        names.extend(name for name in found if name in ("score", "member", "prior", "pair"))
        return [found.index(name) for name in names]

    parts = list(text_parts(path, choose, largest=LARGEST))
    table = {name: [part[j] for part in parts] for j, name in enumerate(names)}
    columns: dict[str, Any] = {
        f"{name}s": _numbers(path, name, table[name])
        for name in ("score", "member", "prior")
        if name in table
    }
    named = "pair" in table
    if named and not pairs:
        raise InputError(
            f"`--scores`: {path} has a column `pair`; give `--pairs` if exactly one row of each "
            "pair was in, or drop the column"
        )
    if pairs and "prior" in table:
        raise InputError(
            f'`--scores`: {path} has a column "prior", and `--pairs` says that fair coins '
            "chose between two rows; give one of the two"
        )
    if pairs:
        size = len(columns["scores"])
        labels = _labels(path, table["pair"]) if named else np.arange(size) // 2
        times = np.bincount(labels)[labels]
        if (times != 2).any():
            row = int(np.flatnonzero(times != 2)[0])
            raise InputError(
                f"`--scores`: {path}: row {row + 1:,} belongs to a pair of {times[row]} rows; "
                "with `--pairs` each pair has two, one in and one out"
            )
        columns["pairs"] = labels
    return columns


def _numbers(path: Path, name: str, parts: list[RawColumn]) -> NDArray[np.float64]:
    """Parse the cells of a column; name the first non-number by its row."""
    import numpy as np

    truths = {"true": 1.0, "false": 0.0} if name == "member" else {}
    found: list[NDArray[np.float64]] = []
    for part in parts:
        values = np.full(len(part.distinct), np.nan)
        for place, text in enumerate(part.distinct):
            with suppress(TypeError, ValueError):
                known = truths.get(str(text).lower())
                values[place] = float(text) if known is None else known
        found.append(values[part.codes])
    numbers = np.concatenate(found)
    if np.isnan(numbers).any():
        row = int(np.isnan(numbers).argmax())
        raise InputError(f"`--scores`: {path}: row {row + 1:,}, column `{name}`, must be a number")
    return numbers


def _labels(path: Path, parts: list[RawColumn]) -> NDArray[np.int64]:
    """Return labels of pairs as numbers; name the first row without one."""
    import numpy as np

    place: dict[Any, int] = {}
    found = [
        np.array([place.setdefault(value, len(place)) for value in part.distinct])[part.codes]
        for part in parts
    ]
    labels = np.concatenate(found)
    if None in place:
        row = int((labels == place[None]).argmax())
        raise InputError(f"`--scores`: {path}: row {row + 1:,}, column `pair`, is empty")
    return labels


def _text(answers: list[Refutation], seed: int | None) -> list[str]:
    found = answers[0]
    lines = [f"Asked: {'; or '.join(one.question for one in answers)}.", str(found)]
    if seed is not None:
        lines.append(
            f"The thresholds were chosen on {found.chosen_on} further canaries, which are not "
            f"counted (--seed {seed} shuffles the same again)."
        )
    lines.append(
        f"If it is Gaussian DP, its mu is not below {lower(found.mu)}"
        + (
            f": a noise multiplier of at most {', or '.join(map(_noise, answers))}."
            if found.mu > 0
            else ": nothing is refuted."
        )
    )
    late = found.guesses_chosen == "after" and found.delta > 0
    how = ", doubled as R was chosen late" if late else " (--claim E asks about another epsilon)"
    lines += [
        "",
        "By method: the largest epsilon refuted, and the p-value against "
        f"({found.claimed:g}, {found.delta:g})-DP, the largest",
        f"chance of so many right guesses under it{how}:",
        f"  {'refuted':<12} {f'p at {found.claimed:g}':<12} method",
    ]
    for method in found.methods:
        mark = "" if method.valid else "  (NOT VALID everywhere: for comparison)"
        lines.append(
            f"  {lower(method.epsilon):<12} {upper(method.p_value, 4):<12} {method.name}{mark}"
        )
    return lines
