"""``narcissus membership``: likelihood-ratio attacks with shadow models."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus._outwards import lower, upper
from narcissus._validation import one_of
from narcissus.cli import options
from narcissus.cli.bound_options import numbers, option_names, print_json
from narcissus.cli.sheets import asked, write
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.membership import MembershipAudit

HELP = """Attack models with shadow models, and say with limits how well membership is told.

SCORES holds what each of some models, all trained in the same way, says of each of some records,
and which records it was trained on. For each record and model a coin must have decided.

\b
Examples:
  narcissus membership shadows.npz --scale probability
  narcissus membership shadows.npz --scale probability --attack rmia --report membership.html
  narcissus membership shadows.csv --targets 16 --delta 1e-5 --seed 1
  narcissus membership shadows.npz --folds 8
  narcissus membership scores.npy --members members.npy --attack score
  narcissus membership shadows.npz --canaries canaries.csv

\b
SCORES is one of
  .npz            arrays `scores` and `members` (models, records), and `priors` (records,)
                  if the coins were not fair (0: a record that is in no model by design)
  .safetensors    the same
  .npy            scores, with --members FILE.npy
  .csv .parquet   columns model, record, score, member, and prior: a row a model and record

\b
Attacks (larger: more likely in):
  lira                likelihood ratio of Gaussians, with and without the record (Carlini 2022)
  lira-fixed          the same with one variance for all records: with few shadows
  lira-offline        only shadows without the record; lira-offline-fixed
  rmia                share of other records that a record beats (Zarifzadeh 2024); rmia-offline
  score               the scores themselves, one threshold for all; or an attack of your own

By default the last quarter of the models are targets, which are nobody's shadows: every coin of
theirs is fresh, and they are one audit. With --folds K every model is a target in one of K folds;
folds depend on each other, so what half of them refute at half the error counts, and --folds N
(the jackknife) is as valid as two folds.

Rates over records take the scores within a model to be independent, and are graded approximate;
rates over models, one trial a target, need no such assumption and are graded sampled.

\b
Keys of --json: grade, attack, models, records, outsiders, targets, folds, coins, epsilon, mu,
p_value, confidence, delta, claim, refutations (one a fold, as `refute` gives), at, rates and across
(with limits and grades), assumptions, not_assessed, seed.
"""

_WANTED = {"lira": "logit", "rmia": "probability"}
# What the library calls an argument -> the option; the arrays of a file keep their names.
_NAMES = {name: f"--{name}" for name in ("attack", "folds", "fpr", "scale")} | {
    "members": "members",
    "members_path": "--members",
    "priors": "priors",
    "scores": "scores",
}


@click.command(help=HELP, short_help="Membership told by shadow models, with limits.")
@click.argument("scores", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@options.file("--members", "FILE.npy", "Members, where SCORES is a .npy file.", exists=True)
@options.take(
    "--scale",
    "WHAT",
    "What the numbers are: probability (of the right label), logit, loss, or score.",
    shown="score",
)
@options.take("--attack", "NAME", "See above.", shown="lira")
@options.take("--targets", "T", "How many models are held out.  [a quarter]", int)
@options.take("--folds", "K", "See above.", int, shown=1)
@options.take(
    "--fpr",
    "R1,R2,...",
    "False-positive rates at which the true-positive rate is limited.",
    shown="0.001,0.01,0.1",
)
@options.take("--delta", "D", "Delta of the claim.  [0]", float, default=0.0)
@options.take("--confidence", "C", "Level.", float, shown=0.95)
@options.take("--claim", "E", "Epsilon that the p-value is about.  [0]", float, default=0.0)
@options.seed("Of what chooses thresholds.  [drawn, and printed]")
@options.file("--canaries", "FILE.csv", "Write the targets' scores, for `refute --scores`.")
@options.report
@options.as_json("Print JSON in full precision.")
def command(
    *,
    scores: Path,
    members: Path | None,
    scale: str,
    attack: str,
    targets: int | None,
    folds: int,
    fpr: str,
    delta: float,
    confidence: float,
    claim: float,
    seed: int | None,
    canaries: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    from narcissus.membership import ATTACKS, SCALES, audit_membership, read_shadow_scores

    one_of("--attack", attack, ATTACKS)
    one_of("--scale", scale, SCALES)
    if canaries is not None and folds != 1:
        raise InputError(
            "`--canaries` goes with held-out targets: canaries of folds that share models are not "
            "independent, and `refute` takes them to be; drop `--folds`"
        )
    seed = secrets.randbits(32) if seed is None else seed
    asked_for: dict[str, Any] = {
        "delta": delta,
        "confidence": confidence,
        "claimed": claim,
        "rng": seed,
    }
    asked_for |= {"targets": targets, "folds": folds, "rates": numbers("--fpr", fpr)}
    wanted = _WANTED.get(attack.partition("-")[0], "score")
    with option_names(**_NAMES):
        data = read_shadow_scores(scores, members, scale=scale, wanted=wanted)
        found = audit_membership(data, attack=attack, **asked_for)
    if canaries is not None:
        _write_canaries(canaries, found)
    if as_json:
        payload = found.to_dict()
        payload["claim"] = payload.pop("claimed")
        print_json({**payload, "seed": seed})
    else:
        click.echo("\n".join(_text(found, seed)))
    if report is not None:
        from narcissus.report.membership import membership_page

        files = {"the scores": scores, "the members": members}
        write(report, membership_page(found, asked(files, seed)), silent=as_json)


def _write_canaries(path: Path, found: MembershipAudit) -> None:
    import pandas as pd

    from narcissus._files import write_atomically

    one = found.canaries
    columns: dict[str, Any] = {"score": one.scores, "member": one.members.astype(int)}
    if (one.priors != 0.5).any():
        columns["prior"] = one.priors
    write_atomically(path, pd.DataFrame(columns).to_csv(index=False), private=True)


def _text(found: MembershipAudit, seed: int) -> list[str]:
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
