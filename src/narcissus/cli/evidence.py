"""``narcissus refute``, ``membership`` and ``complexity``: what counts, scores and files show."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from narcissus._files import LARGEST, pointed, separator
from narcissus._outwards import lower, upper
from narcissus._validation import one_of
from narcissus._visible import heading
from narcissus.cli.options import (
    COUNT,
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
    coins: bool = False
    runs: Existing = None
    threshold: float | None = None
    priors: Existing = None
    guesses_chosen: str | None = None
    until: Annotated[int | None, Opt(COUNT)] = None
    chosen_from: Annotated[int, Opt(COUNT)] = 1
    delta: float = 0.0
    confidence: float = 0.95
    claim: float = 0.0
    as_json: AsJson = False


@command
def refute(*, of: RefuteOptions) -> None:
    _check_together(of)
    claimed: dict[str, Any] = {
        "delta": of.delta,
        "confidence": of.confidence,
        "chosen_from": of.chosen_from,
    }
    columns = _given(of)
    with option_names(
        right="right", members="members", priors="--priors" if of.priors else "prior"
    ):
        if of.runs is not None:
            over = evidence.refute_runs(**columns, threshold=of.threshold, **claimed)
            if of.as_json:
                print_json({"grade": over.grade, **over.to_dict()})
            else:
                click.echo(str(over))
            return
        claimed["claimed"] = of.claim
        if of.scores is not None:
            refutation = _refute_scores(of, columns, claimed)
        elif of.priors is not None:
            if of.correct is None:
                raise InputError("`--correct` is missing: how many guesses were right")
            refutation = evidence.refute_priors(
                priors.read_priors(of.priors), of.correct, **claimed
            )
        else:
            if of.canaries is None or of.guesses is None or of.correct is None:
                counts = {"--canaries": of.canaries, "--guesses": of.guesses}
                missing = next((n for n, value in counts.items() if value is None), "--correct")
                raise InputError(
                    f"`{missing}` is missing: give --canaries, --guesses and --correct, or --scores"
                )
            claimed["guesses_chosen"] = "before" if of.guesses_chosen is None else of.guesses_chosen
            many = 2 if of.values is None else of.values
            refutation = evidence.refute(
                of.canaries, of.guesses, of.correct, values=many, **claimed
            )
    coins = of.scores is not None and not of.pairs and refutation.secret == "membership"
    answers = _refuted(refutation, of.secret, coins=coins, pairs=of.pairs)
    if of.as_json:
        keys = [
            _claimed({"grade": answer.grade, **answer.to_dict(), "question": answer.question})
            for answer in answers
        ]
        print_json(keys[0] | ({"membership": keys[1]} if len(keys) == 2 else {}))
        return
    click.echo("\n".join(_refutation_text(answers)))


def _given(of: RefuteOptions) -> dict[str, Any]:
    """Read the file of runs or of scores, if there is one."""
    if of.runs is None:
        return {} if of.scores is None else _read_scores(of.scores, "--scores", pairs=of.pairs)
    columns = _read_scores(of.runs, "--runs")
    if wrong := set(columns) - {"scores", "members"}:
        raise InputError(
            f"`--runs`: {of.runs} must have scores and members alone, a row a run; it has "
            f"`{min(wrong).removesuffix('s')}` too; drop that column"
        )
    return columns


def _check_together(of: RefuteOptions) -> None:
    """Refuse options that do not go together."""
    options = {
        f"--{name.replace('_', '-')}"
        for name in (
            "canaries",
            "guesses",
            "correct",
            "values",
            "guesses_chosen",
            "priors",
            "scores",
            "runs",
            "pairs",
            "coins",
            "threshold",
            "until",
        )
        if getattr(of, name) not in (None, False)
    }
    goes = {
        "--runs": {"--threshold"},
        "--scores": {"--guesses", "--values", "--pairs", "--coins", "--until"},
        "--priors": {"--correct"},
    }
    for file, others in goes.items():
        if file in options and (wrong := sorted(options - others - {file})):
            raise InputError(
                f"`{wrong[0]}` does not go with `{file}`, which goes with "
                f"{', '.join(sorted(others))}; drop one of the two"
            )
    alone = {
        "--pairs": "--scores",
        "--coins": "--scores",
        "--threshold": "--runs",
        "--until": "--scores",
    }
    for name, file in alone.items():
        if name in options and file not in options:
            raise InputError(f"`{name}` needs `{file}`, a file of scores")


def _refute_scores(
    of: RefuteOptions, columns: dict[str, Any], claimed: dict[str, Any]
) -> evidence.Refutation:
    if of.until is not None:
        return _refute_at_looks(of, columns, claimed)
    claimed["guesses"] = of.guesses
    if "clusters" in columns and (other := columns.keys() & {"right", "priors", "pairs"}):
        raise InputError(
            f"`--scores`: {of.scores} has a column `cluster`, which goes with fair coins of the "
            f"column `member`; it has {min(other)} too: drop one of the two"
        )
    if "right" in columns:
        if of.pairs or of.coins:
            raise InputError(
                f"`--scores`: {of.scores} has a column `right`, which says whether guesses of "
                "values are right; `--pairs` and `--coins` go with the column `member`"
            )
        many = 2 if of.values is None else of.values
        return evidence.refute_ranked(**columns, values=many, **claimed)
    if of.values is not None:
        raise InputError(
            f"`--values`: {of.scores} must have the column `right`, 1 where a guess is right; it "
            "has members, who are in or out"
        )
    if "priors" in columns:
        return evidence.refute_prior_scores(**columns, **claimed)
    return evidence.refute_scores(**columns, coins=of.coins, **claimed)


def _refute_at_looks(
    of: RefuteOptions, columns: dict[str, Any], claimed: dict[str, Any]
) -> evidence.Refutation:
    named = {"--guesses": of.guesses, "--values": of.values, "--coins": of.coins or None}
    if wrong := next((name for name, value in named.items() if value is not None), None):
        raise InputError(f"`{wrong}` does not go with `--until`; drop one of the two")
    if strange := sorted(columns.keys() & {"right", "priors"}):
        raise InputError(
            f"`--until`: {of.scores} must have the columns `score` and `member` of fair coins; it "
            f"has `{strange[0].removesuffix('s')}`, for which no rule for any number of looks is "
            "proved here; for N looks give `--chosen-from N` instead"
        )
    if "clusters" in columns and of.pairs:
        raise InputError("`--pairs` does not go with the column `cluster`; drop one of the two")
    claimed["most"] = of.until
    return evidence.refute_as_they_come(**columns, **claimed)


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


# The columns or arrays of scores: ours, those of jax_privacy and those of privacy_meter.
_LAYOUTS = (
    ("score", "member"),
    ("score", "right"),
    ("in_canary_scores", "out_canary_scores"),
    ("signal_values", "true_labels"),
)


def _read_scores(path: Path, option: str, *, pairs: bool = False) -> dict[str, Any]:
    """Read scores with who is in or what is right, and priors and pairs, from a CSV or .npz file.

    Losses in ``signal_values`` are turned: smaller ones mean more likely in.
    """
    kind = path.suffix.lower()
    table = _arrays(path) if kind in {".npz", ".npy"} else _columns(path)
    if table and not table.keys() - {"", "arr_0"}:
        raise InputError(
            f"`{option}`: {path} holds one array alone, such as the signals of privacy_meter, and "
            "not who is in; save the losses of one model and its members together: "
            'np.savez("scores.npz", signal_values=losses[:, 0], true_labels=members[:, 0]), or '
            "those of many models for `narcissus membership`: "
            'np.savez("models.npz", scores=-losses.T, members=members.T)'
        )
    layout = next((group for group in _LAYOUTS if all(name in table for name in group)), None)
    if layout is None:
        lacking = next(name for name in _LAYOUTS[0] if name not in table)
        raise InputError(
            f"`{option}`: {path} lacks the column `{lacking}`; it needs "
            f"{', or '.join(' and '.join(f'`{x}`' for x in group) for group in _LAYOUTS)}, and has "
            f"{', '.join(map(heading, table)) or 'none of them'}"
        )
    both = [_numbers_of(path, option, name, table[name]) for name in layout]
    if layout[0] == "in_canary_scores":
        both = [group[~np.isnan(group)] for group in both]
        both = [np.concatenate(both), np.repeat([1.0, 0.0], [group.size for group in both])]
    if layout[0] == "signal_values":
        both[0] = -both[0]
    columns: dict[str, Any] = {
        "scores": both[0],
        "right" if layout[1] == "right" else "members": both[1],
    }
    columns |= _of_coins(path, option, table)
    if "pair" in table and not pairs:
        raise InputError(
            f"`{option}`: {path} has a column `pair`; give `--pairs` if exactly one row of each "
            "pair was in, or drop the column"
        )
    if pairs and "prior" in table:
        raise InputError(
            f'`{option}`: {path} has a column "prior", and `--pairs` says that fair coins '
            "chose between two rows; give one of the two"
        )
    if pairs:
        size = len(columns["scores"])
        labels = _labels(path, table["pair"]) if "pair" in table else np.arange(size) // 2
        times = np.bincount(labels)[labels]
        if (times != 2).any():
            row = int(np.flatnonzero(times != 2)[0])
            raise InputError(
                f"`{option}`: {path}: row {row + 1:,} belongs to a pair of {times[row]} rows; "
                "with `--pairs` each pair has two, one in and one out"
            )
        columns["pairs"] = labels
    return columns


def _of_coins(path: Path, option: str, table: dict[str, Any]) -> dict[str, Any]:
    """Read what a file says of each row's coin: its chance, and which rows share it."""
    columns: dict[str, Any] = {}
    if "prior" in table:
        columns["priors"] = _numbers_of(path, option, "prior", table["prior"])
    if "cluster" in table:
        columns["clusters"] = _labels(path, table["cluster"], "cluster")
    return columns


def _arrays(path: Path) -> dict[str, Any]:
    from narcissus.extraction.files import arrays_of

    plural = {
        "scores": "score",
        "members": "member",
        "priors": "prior",
        "pairs": "pair",
        "clusters": "cluster",
    }
    arrays = {plural.get(name, name): array.ravel() for name, array in arrays_of(path).items()}
    return arrays


def _columns(path: Path) -> dict[str, Any]:
    from narcissus.tables.text import text_parts

    known = {"prior", "pair", "cluster", *(name for layout in _LAYOUTS for name in layout)}
    names: list[str] = []

    def choose(found: list[str]) -> list[int]:
        if len(set(found)) < len(found):
            raise InputError(f"{path} has two columns of one name: {', '.join(found)}")
        names.extend(name for name in found if name in known)
        return [found.index(name) for name in names]

    parts = list(text_parts(path, choose, largest=LARGEST))
    return {name: [part[j] for part in parts] for j, name in enumerate(names)}


def _numbers_of(
    path: Path, option: str, name: str, parts: list[RawColumn] | NDArray[Any]
) -> NDArray[np.float64]:
    """Parse the cells of a column; name the first non-number by its row."""
    if not isinstance(parts, list):
        return parts.astype(np.float64)
    truths = {"true": 1.0, "false": 0.0} if name in ("member", "right", "true_labels") else {}
    empty = name.endswith("_canary_scores")  # one of two columns is shorter
    point = pointed if separator(path) == ";" else str
    blocks: list[NDArray[np.float64]] = []
    wrong: list[NDArray[np.bool_]] = []
    for part in parts:
        values, bad = np.full(len(part.distinct), np.nan), np.zeros(len(part.distinct), bool)
        for place, text in enumerate(part.distinct):
            with suppress(TypeError, ValueError):
                known = truths.get(str(text).lower())
                values[place] = float(point(text)) if known is None else known
            bad[place] = np.isnan(values[place]) and not (empty and text is None)
        blocks.append(values[part.codes])
        wrong.append(bad[part.codes])
    if (bad := np.concatenate(wrong)).any():
        row = int(bad.argmax())
        raise InputError(f"`{option}`: {path}: row {row + 1:,}, column `{name}`, must be a number")
    return np.concatenate(blocks)


def _labels(
    path: Path, parts: list[RawColumn] | NDArray[Any], column: str = "pair"
) -> NDArray[np.int64]:
    """Return labels as numbers; name the first row without one."""
    if not isinstance(parts, list):
        return np.unique(parts, return_inverse=True)[1]
    place: dict[Any, int] = {}
    blocks = [
        np.array([place.setdefault(value, len(place)) for value in part.distinct])[part.codes]
        for part in parts
    ]
    labels = np.concatenate(blocks)
    if None in place:
        row = int((labels == place[None]).argmax())
        raise InputError(f"`--scores`: {path}: row {row + 1:,}, column `{column}`, is empty")
    return labels


def _refutation_text(answers: list[evidence.Refutation]) -> list[str]:
    first = answers[0]
    lines = [f"Asked: {'; or '.join(answer.question for answer in answers)}.", str(first)]
    if first.guesses_chosen == "looks":
        lines.append(
            f"Looks at any time are allowed for; of the guesses so far {first.correct:,} of "
            f"{first.guesses:,} are right."
        )
    if first.guesses_chosen == "every":
        lines.append(
            f"Every number of guesses was tested together; {first.guesses:,} tell most, of which "
            f"{first.correct:,} are right."
        )
    noises = ", or ".join(
        f"{upper(answer.noise)} ({'replaced' if answer.secret == 'value' else 'added and removed'} "
        "records)"
        for answer in answers
    )
    shown = f"a noise multiplier of at most {noises}." if first.mu > 0 else "nothing is refuted."
    late = first.guesses_chosen == "after" and first.delta > 0
    how = ", doubled as R was chosen late" if late else " (--claim E asks about another epsilon)"
    lines += [
        f"If it is Gaussian DP, its mu is not below {lower(first.mu)}: {shown}",
        "",
        "By method: the largest epsilon refuted, and the p-value against "
        f"({first.claimed:g}, {first.delta:g})-DP, the largest",
        f"chance of so many right guesses under it{how}:",
        f"  {'refuted':<12} {f'p at {first.claimed:g}':<12} method",
    ]
    for method in first.methods:
        mark = "" if method.valid else "  (NOT VALID everywhere: for comparison)"
        lines.append(
            f"  {lower(method.epsilon):<12} {upper(method.p_value, 4):<12} {method.name}{mark}"
        )
    return lines


_WANTED = {"lira": "logit", "rmia": "probability"}
# What the library calls an argument -> the option; the arrays of a file keep their names.
_NAMES = {name: f"--{name}" for name in ("attack", "folds", "fpr", "scale")} | {
    "base_rate": "--base-rate",
    "members": "members",
    "points": "--points",
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
    base_rate: float | None = None
    points: Existing = None
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
        if of.points is not None:
            how["points"] = shadows.read_points(of.points, data)
        audit = shadows.audit_membership(data, attack=of.attack, **how)
        audit = replace(audit, base_rate=of.base_rate)
        audit.precisions  # noqa: B018 (refuses a base rate that is none)
    if of.canaries is not None:
        _write_canaries(of.canaries, audit)
    if of.as_json:
        print_json({**_claimed(audit.to_dict()), "seed": seed})
    else:
        click.echo("\n".join(_membership_text(audit, seed)))
    if of.report is not None:
        from narcissus.report.membership import membership_page

        files = {"the scores": scores, "the members": of.members, "the points": of.points}
        write_page(of.report, membership_page(audit, asked(files, seed)), silent=of.as_json)


def _write_canaries(path: Path, found: shadows.MembershipAudit) -> None:
    from narcissus._files import write_atomically
    from narcissus._pandas import pd

    canaries = found.canaries
    columns: dict[str, Any] = {"score": canaries.scores, "member": canaries.members.astype(int)}
    if (canaries.priors != 0.5).any():
        columns["prior"] = canaries.priors
    write_atomically(path, pd.DataFrame(columns).to_csv(index=False), private=True)


def _membership_text(found: shadows.MembershipAudit, seed: int) -> list[str]:
    who = "nobody's shadows" if found.folds == 1 else f"in {found.folds} folds"
    void, refuted = found.void, found.grade != "not assessed"
    grade = "void" if void else found.roc.grade
    lines = [
        *([void] if void else []),
        f"{found.attack}: {found.targets} of {found.models} models are targets, {who}; "
        f"{found.records:,} records have a coin, {found.outsiders:,} are in no model",
        f"Coins: {found.coins}",
        "",
        *([str(found).splitlines()[bool(void)]] if refuted else []),
        *(f"  assuming {assumption}" for assumption in found.assumptions),
        f"  mu of Gaussian DP not below {lower(found.mu)}; p-value against "
        f"({found.claimed:g}, {found.delta:g})-DP {upper(found.p_value, 4)} (--seed {seed})",
        "",
        *(f"{row}" for row in found.blind if not row.told),
        f"True-positive rate at a false-positive rate, over records ({grade}; limits at "
        f"{100 * found.confidence:g}% hold jointly):",
        *_rate_lines(found),
    ]
    if found.across:
        lines += [
            "",
            f"Mean rates over further models, {found.targets} trials "
            f"({'void' if void else 'sampled'}; limits at "
            f"{100 * found.confidence:g}% hold jointly):",
            f"  {'aimed at':<10}{'false positives':<32}true positives",
        ]
        for row in found.across:
            false, true = row.false_positives, row.true_positives
            first = f"{false.value:.4g} ({_limits(false.low, false.high)})"
            lines.append(
                f"  {row.aimed:<10g}{first:<32}{true.value:.4g} ({_limits(true.low, true.high)})"
            )
    return [*lines, *(["", *map(str, found.not_assessed)] if found.not_assessed else [])]


def _rate_lines(found: shadows.MembershipAudit) -> Iterator[str]:
    base, area = found.base_rate, found.roc.auc
    head = "" if base is None else f"precision if {base:g} are members"
    yield f"  {'at most':<10}{'found':<12}{'limits':<24}{head}".rstrip()
    for at in shadows.reported_rates(found.at):
        rate = found.roc.tpr_at(at)
        if not found.roc.sees(at):
            limit = f"at most {upper(rate.high or 0.0, 4)}; " if (rate.high or 1) < 1 else ""
            yield f"  {at:<10g}{limit}{found.roc.unseen(at)}"
            continue
        precise = ""
        if base is not None:
            precision = found.roc.precision_at(at, base)
            precise = f"{precision.value:.4g} ({_limits(precision.low, precision.high)})"
        yield f"  {at:<10g}{rate.value:<12.4g}{_limits(rate.low, rate.high):<24}{precise}".rstrip()
    yield f"  area under the curve {area.value:.4g} ({_limits(area.low, area.high)})"


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
    other = None if of.given is None else read_bytes(of.given)
    information = None
    with progress(quiet=of.quiet) as observer:
        if other is None:
            alone = extraction.conditional_complexity(data, observer=observer)
        else:
            information = extraction.mutual_information(data, other, observer=observer)
            alone = information.alone
    tests, by_counting = _random_looking(data)
    small = _in_the_small_language(data, other)
    if of.as_json:
        payload: dict[str, Any] = {
            "bytes": len(data),
            "complexity": alone.to_dict(),
            "given": None,
            "mutual_information": None,
            "small_language": small,
            "randomness": None if tests is None else tests.to_dict(),
            "compressors": by_counting,
        }
        if information is not None:
            payload["given"] = information.given.to_dict()
            payload["mutual_information"] = {
                "estimate": information.estimate,
                "at_least": 0.0,
                "at_most": information.at_most,
                "grade": information.grade,
            }
        click.echo(json.dumps(payload))
        return
    click.echo(str(alone if information is None else information))
    if small is None:
        click.echo(f"NOT ASSESSED: the small language: more than {extraction.LONGEST:,} bytes")
    else:
        names = {"given": " given the other", "mutual_information": ": mutual information"}
        for key, bits in small.items():
            if bits is not None:
                click.echo(f"EXACT in the small language{names.get(key, '')}: {bits:,} bits")
    if tests is None:
        click.echo(f"NOT ASSESSED: whether it looks random: fewer than {_LEAST_TESTED} bytes")
        return
    if len(data) > _TESTED:
        click.echo(f"Of the first {_TESTED:,} bytes:")
    click.echo(str(tests))
    click.echo(
        f"  {', '.join(_COMPRESSORS)}: {by_counting:.3g}, since few strings can be compressed\n"
        "Nothing may be found though the bytes are far from random, or of low complexity."
    )


def _in_the_small_language(data: bytes, other: bytes | None) -> dict[str, int | None] | None:
    """Return the exact complexities in bits; None where a file is too long."""
    if max(len(data), len(other or b"")) > extraction.LONGEST:
        return None
    alone = len(extraction.shortest_program(data).code)
    less = None if other is None else len(extraction.shortest_program(data, other).code)
    gained = None if less is None else alone - less
    return {"complexity": alone, "given": less, "mutual_information": gained}


def _random_looking(data: bytes) -> tuple[evidence.RandomnessTests | None, float | None]:
    """Test the first bits, and count how many strings compress as well."""
    from narcissus.extraction.verifiers import compression_p_value

    if len(data) < _LEAST_TESTED:
        return None, None
    first = data[:_TESTED]
    bits = np.unpackbits(np.frombuffer(first, np.uint8))
    by_counting = compression_p_value(first, 8 * len(first), _COMPRESSORS)
    return evidence.randomness_tests(bits), by_counting
