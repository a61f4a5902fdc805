"""``narcissus refute``, ``membership`` and ``complexity``: what counts, scores and files show."""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from narcissus._files import LARGEST
from narcissus._outwards import lower, upper
from narcissus._validation import one_of
from narcissus.cli.options import (
    EXISTING,
    AsJson,
    Existing,
    InFile,
    Opt,
    Report,
    SeedGiven,
    asked,
    command,
    print_json,
    write_page,
)
from narcissus.cli.questions import numbers, option_names, questions_of
from narcissus.cli.rooms import evidence, extraction, np, priors, shadows
from narcissus.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from narcissus.tables.tally import RawColumn


@dataclass(frozen=True, kw_only=True)
class RefuteOptions:
    canaries: int | None = None
    guesses: int | None = None
    correct: int | None = None
    values: int | None = None
    secret: str | None = None
    scores: Existing = None
    pairs: bool = False
    priors: Existing = None
    seed: SeedGiven = None
    guesses_chosen: str | None = None
    delta: float = 0.0
    confidence: float = 0.95
    claim: float = 0.0
    as_json: AsJson = False


@command
def refute(*, of: RefuteOptions) -> None:
    counts = {"--canaries": of.canaries, "--guesses": of.guesses, "--correct": of.correct}
    instead = {**counts, "--values": of.values, "--guesses-chosen": of.guesses_chosen}
    used = [name for name, value in {**instead, "--priors": of.priors}.items() if value is not None]
    if of.scores is not None and used:
        raise InputError(f"`--scores` takes the place of `{used[0]}`; give one of the two")
    for name, value in {"--pairs": of.pairs or None, "--seed": of.seed}.items():
        if of.scores is None and value is not None:
            raise InputError(f"`{name}` needs `--scores`, a file with a row for each canary")
    seed = None
    claimed: dict[str, Any] = {"delta": of.delta, "confidence": of.confidence, "claimed": of.claim}
    with option_names(**({} if of.scores is None else {"priors": "--scores"})):
        if of.scores is not None:
            seed = secrets.randbits(32) if of.seed is None else of.seed
            columns = _read_scores(of.scores, pairs=of.pairs)
            has_priors = "priors" in columns
            test = evidence.refute_prior_scores if has_priors else evidence.refute_scores
            found = test(**columns, **claimed, rng=seed)
        elif of.priors is not None:
            if of.correct is None:
                raise InputError("`--correct` is missing: how many guesses were right")
            if needless := [name for name in used if name not in ("--correct", "--priors")]:
                raise InputError(
                    f"`{needless[0]}` follows from `--priors`: all its canaries were guessed; "
                    "drop it"
                )
            found = evidence.refute_priors(priors.read_priors(of.priors), of.correct, **claimed)
        else:
            if of.canaries is None or of.guesses is None or of.correct is None:
                missing = next(name for name, value in counts.items() if value is None)
                raise InputError(
                    f"`{missing}` is missing: give --canaries, --guesses and --correct, or --scores"
                )
            claimed["guesses_chosen"] = "before" if of.guesses_chosen is None else of.guesses_chosen
            many = 2 if of.values is None else of.values
            found = evidence.refute(of.canaries, of.guesses, of.correct, values=many, **claimed)
    answers = _refuted(
        found, of.secret, coins=of.scores is not None and not of.pairs, pairs=of.pairs
    )
    if of.as_json:
        keys = [
            _claimed({"grade": one.grade, **one.to_dict(), "question": one.question})
            for one in answers
        ]
        payload = keys[0] | ({} if seed is None else {"seed": seed})
        print_json(payload | ({"membership": keys[1]} if len(keys) == 2 else {}))
        return
    click.echo("\n".join(_refutation_text(answers, seed)))


def _claimed(payload: dict[str, Any]) -> dict[str, Any]:
    """Rename the key of the claim after its option."""
    payload["claim"] = payload.pop("claimed")
    return payload


def _refuted(
    found: evidence.Refutation, secret: str | None, *, coins: bool, pairs: bool
) -> list[evidence.Refutation]:
    """Return the refutation for each question that is asked."""
    why = f"{found.values} values" if found.values != 2 else None
    if pairs:
        why = "`--pairs`, where one record takes the place of another"
    if why is not None and secret == "membership":
        raise InputError(f"`--secret membership` does not go with {why}; drop it")
    questions = questions_of(secret, why)
    if coins and secret is None:
        questions = ("membership",)
    return [found.asked(question) for question in questions]


def _read_scores(path: Path, *, pairs: bool) -> dict[str, Any]:
    """Read the columns ``score`` and ``member``, and the pairs, from a CSV file."""
    from narcissus.tables.text import text_parts

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
        f"{name}s": _numbers_of(path, name, table[name])
        for name in ("score", "member", "prior")
        if name in table
    }
    if "pair" in table and not pairs:
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
        labels = _labels(path, table["pair"]) if "pair" in table else np.arange(size) // 2
        times = np.bincount(labels)[labels]
        if (times != 2).any():
            row = int(np.flatnonzero(times != 2)[0])
            raise InputError(
                f"`--scores`: {path}: row {row + 1:,} belongs to a pair of {times[row]} rows; "
                "with `--pairs` each pair has two, one in and one out"
            )
        columns["pairs"] = labels
    return columns


def _numbers_of(path: Path, name: str, parts: list[RawColumn]) -> NDArray[np.float64]:
    """Parse the cells of a column; name the first non-number by its row."""
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


def _refutation_text(answers: list[evidence.Refutation], seed: int | None) -> list[str]:
    found = answers[0]
    lines = [f"Asked: {'; or '.join(one.question for one in answers)}.", str(found)]
    if seed is not None:
        lines.append(
            f"The thresholds were chosen on {found.chosen_on} further canaries, which are not "
            f"counted (--seed {seed} shuffles the same again)."
        )
    noises = ", or ".join(
        f"{upper(one.noise)} ({'replaced' if one.secret == 'value' else 'added and removed'} "
        "records)"
        for one in answers
    )
    shown = f"a noise multiplier of at most {noises}." if found.mu > 0 else "nothing is refuted."
    late = found.guesses_chosen == "after" and found.delta > 0
    how = ", doubled as R was chosen late" if late else " (--claim E asks about another epsilon)"
    lines += [
        f"If it is Gaussian DP, its mu is not below {lower(found.mu)}: {shown}",
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


_WANTED = {"lira": "logit", "rmia": "probability"}
# What the library calls an argument -> the option; the arrays of a file keep their names.
_NAMES = {name: f"--{name}" for name in ("attack", "folds", "fpr", "scale")} | {
    "members": "members",
    "members_path": "--members",
    "priors": "priors",
    "scores": "scores",
}


@dataclass(frozen=True, kw_only=True)
class MembershipOptions:
    members: Existing = None
    scale: str = "score"
    attack: str = "lira"
    targets: int | None = None
    folds: int = 1
    fpr: str = "0.001,0.01,0.1"
    delta: float = 0.0
    confidence: float = 0.95
    claim: float = 0.0
    seed: SeedGiven = None
    canaries: InFile = None
    report: Report = None
    as_json: AsJson = False


@command
def membership(scores: Annotated[Path, Opt(EXISTING)], *, of: MembershipOptions) -> None:
    one_of("--attack", of.attack, shadows.ATTACKS)
    one_of("--scale", of.scale, shadows.SCALES)
    if of.canaries is not None and of.folds != 1:
        raise InputError(
            "`--canaries` goes with held-out targets: canaries of folds that share models are not "
            "independent, and `refute` takes them to be; drop `--folds`"
        )
    seed = secrets.randbits(32) if of.seed is None else of.seed
    how: dict[str, Any] = {
        "delta": of.delta,
        "confidence": of.confidence,
        "claimed": of.claim,
        "rng": seed,
    }
    how |= {"targets": of.targets, "folds": of.folds, "rates": numbers("--fpr", of.fpr)}
    wanted = _WANTED.get(of.attack.partition("-")[0], "score")
    with option_names(**_NAMES):
        data = shadows.read_shadow_scores(scores, of.members, scale=of.scale, wanted=wanted)
        found = shadows.audit_membership(data, attack=of.attack, **how)
    if of.canaries is not None:
        _write_canaries(of.canaries, found)
    if of.as_json:
        print_json({**_claimed(found.to_dict()), "seed": seed})
    else:
        click.echo("\n".join(_membership_text(found, seed)))
    if of.report is not None:
        from narcissus.report.membership import membership_page

        files = {"the scores": scores, "the members": of.members}
        write_page(of.report, membership_page(found, asked(files, seed)), silent=of.as_json)


def _write_canaries(path: Path, found: shadows.MembershipAudit) -> None:
    from narcissus._files import write_atomically
    from narcissus._pandas import pd

    one = found.canaries
    columns: dict[str, Any] = {"score": one.scores, "member": one.members.astype(int)}
    if (one.priors != 0.5).any():
        columns["prior"] = one.priors
    write_atomically(path, pd.DataFrame(columns).to_csv(index=False), private=True)


def _membership_text(found: shadows.MembershipAudit, seed: int) -> list[str]:
    who = "nobody's shadows" if found.folds == 1 else f"in {found.folds} folds"
    lines = [
        f"{found.attack}: {found.targets} of {found.models} models are targets, {who}; "
        f"{found.records:,} records have a coin, {found.outsiders:,} are in no model",
        f"Coins: {found.coins}",
        "",
        *str(found).splitlines()[:1],
        *(f"  assuming {said}" for said in found.assumptions),
        f"  mu of Gaussian DP not below {lower(found.mu)}; p-value against "
        f"({found.claimed:g}, {found.delta:g})-DP {upper(found.p_value, 4)} (--seed {seed})",
        "",
        "True-positive rate at a false-positive rate, over records "
        f"({found.roc.grade}; limits for all rates at once):",
        f"  {'at most':<10}{'found':<12}limits at {100 * found.confidence:g}%",
    ]
    for aimed, rate in zip(found.at, found.rates, strict=True):
        lines.append(f"  {aimed:<10g}{rate.value:<12.4g}{_limits(rate.low, rate.high)}")
    if found.across:
        lines += [
            "",
            f"Mean rates over further models, {found.targets} trials (sampled; limits at "
            f"{100 * found.confidence:g}% for all at once):",
            f"  {'aimed at':<10}{'false positives':<32}true positives",
        ]
        for one in found.across:
            false, true = one.false_positives, one.true_positives
            first = f"{false.value:.4g} ({_limits(false.low, false.high)})"
            lines.append(
                f"  {one.aimed:<10g}{first:<32}{true.value:.4g} ({_limits(true.low, true.high)})"
            )
    return [*lines, *(["", *map(str, found.not_assessed)] if found.not_assessed else [])]


def _limits(low: float | None, high: float | None) -> str:
    return f"{lower(low or 0.0, 4)} to {upper(1.0 if high is None else high, 4)}"


_TESTED = 2**15  # bytes whose bits are tested
_LEAST_TESTED = 16
_COMPRESSORS = ("zlib", "bz2", "lzma")


@dataclass(frozen=True, kw_only=True)
class ComplexityOptions:
    given: Existing = None
    as_json: AsJson = False
    quiet: bool = False


@command
def complexity(file: Annotated[Path, Opt(EXISTING)], *, of: ComplexityOptions) -> None:
    from narcissus._files import read_bytes
    from narcissus.cli.progress import progress

    data = read_bytes(file)
    information = None
    with progress(quiet=of.quiet) as observer:
        if of.given is None:
            alone = extraction.conditional_complexity(data, observer=observer)
        else:
            other = read_bytes(of.given)
            information = extraction.mutual_information(data, other, observer=observer)
            alone = information.alone
    tests, by_counting = _random_looking(data)
    if of.as_json:
        found: dict[str, Any] = {
            "bytes": len(data),
            "complexity": alone.to_dict(),
            "given": None,
            "mutual_information": None,
            "randomness": None if tests is None else tests.to_dict(),
            "compressors": by_counting,
        }
        if information is not None:
            found["given"] = information.given.to_dict()
            found["mutual_information"] = {
                "estimate": information.estimate,
                "at_least": 0.0,
                "at_most": information.at_most,
                "grade": information.grade,
            }
        click.echo(json.dumps(found))
        return
    click.echo(str(alone if information is None else information))
    if tests is None:
        click.echo(f"NOT ASSESSED: whether it looks random: fewer than {_LEAST_TESTED} bytes")
        return
    if len(data) > _TESTED:
        click.echo(f"Of the first {_TESTED:,} bytes:")
    click.echo(str(tests))
    click.echo(
        f"  {', '.join(_COMPRESSORS)}: {by_counting:.3g}, since few strings can be compressed\n"
        "That nothing is found is no proof of randomness, nor of a high complexity."
    )


def _random_looking(data: bytes) -> tuple[evidence.RandomnessTests | None, float | None]:
    """Test the first bits, and count how many strings compress as well."""
    from narcissus.extraction.verifiers import compression_p_value

    if len(data) < _LEAST_TESTED:
        return None, None
    first = data[:_TESTED]
    bits = np.unpackbits(np.frombuffer(first, np.uint8))
    by_counting = compression_p_value(first, 8 * len(first), _COMPRESSORS)
    return evidence.randomness_tests(bits), by_counting
