"""``narcissus channel``: exact leakage of an explicit channel or a mechanism."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus.cli import options
from narcissus.cli.bound_options import (
    Answer,
    are_replaced,
    dp_sgd_settings,
    make_guarantee,
    of_guarantee,
    one_answer,
    option_names,
    print_answer,
    questions_of,
    together,
)
from narcissus.cli.sheets import asked, save_figure, write
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.channels import Channel, ChannelSummary, ClosedForm, SecurityBound
    from narcissus.guarantees import Guarantee, Secret
    from narcissus.results import Bound

NOTE = (
    "A guarantee limits Bayes security from below. How low it really is depends on the data and "
    "on the release."
)


def secured(
    given: dict[str, Any], *, delta: float | None, adjacency: str, secret: Secret = "value"
) -> tuple[Guarantee, SecurityBound, Bound | None]:
    """Return the guarantee, the bound it proves, and for DP-SGD what two data sets reach.

    The reached value is known for replaced records only.
    """
    from narcissus.channels import dp_sgd_reached, from_guarantee

    guarantee = make_guarantee(given, delta=delta, adjacency=adjacency, secret=secret)
    reached = None
    if given["dp_sgd"] is not None and secret == "value":
        settings = dp_sgd_settings(given["dp_sgd"], ("noise", "rate", "steps"))
        settings.pop("interval")
        with option_names():
            reached = dp_sgd_reached(**settings)
    return guarantee, from_guarantee(guarantee), reached


def as_keys(guarantee: Guarantee, found: SecurityBound, reached: Bound | None) -> dict[str, Any]:
    return {
        "grade": found.grade,
        "beta_star_at_least": found.value,
        "beta_star_at_most": None if reached is None else reached.value,
        "advantage_at_most": found.advantage.value,
        "tight": found.tight,
        "theorem": found.theorem,
        "assumptions": list(found.assumptions),
        **of_guarantee(guarantee),
    }


def as_lines(found: SecurityBound, reached: Bound | None) -> list[str]:
    from narcissus._outwards import upper

    most = upper(100 - 50 * found.value, places=1)
    lines = [
        str(found),
        f"  of 100 attempts to tell two neighbouring data sets apart, at most {most} are right "
        "(50 by guessing)",
    ]
    if reached is None:
        return [*lines, "", NOTE]
    lines += ["", f"PROVED: some two such data sets have beta* at most {upper(reached.value)}"]
    lines += [f"  by {reached.theorem}", *(f"  assuming {one}" for one in reached.assumptions)]
    return lines


EPILOG = """
\b
Examples:
  narcissus channel channel.csv
  narcissus channel channel.csv --prior prior.csv --json
  narcissus channel --mechanism randomized-response:values=10,epsilon=1
  narcissus channel --mechanism laplace:epsilon=0.1
  narcissus channel --mechanism gaussian:epsilon=1,delta=1e-6
  narcissus channel channel.csv --exact
  narcissus channel --mechanism planar-laplace:width=5,height=5,epsilon=0.5
  narcissus channel channel.csv --repeat 3 --plot pairs.svg
  narcissus channel channel.csv --loss loss.csv --report channel.html
  narcissus channel channel.csv --groups groups.csv
  narcissus channel --dp-sgd noise=1.1,rate=0.01,steps=1000
  narcissus channel --profile curve.csv --report neighbours.html

\b
FILE is CSV, Parquet, npy or npz (sparse ones of SciPy as well): a row per secret, a column per
output, each row summing to 1. A cell may be a fraction, such as 1/3.
  secret,short,long
  login,0.9,0.1
  logout,0.2,0.8

\b
A guarantee (--epsilon with or without --delta, --mu, --rho, --renyi, --dp-sgd, --bayes-security, or
a file: --profile or --pld, see `narcissus bound --help`) says how well two data sets that differ in
one record can be told apart: a lower limit of Bayes security, and for DP-SGD also an upper one.
The two differ in the value of a record, or in whether it is there: --secret value or membership.
Keys of --json are then beta_star_at_least, beta_star_at_most (null but for DP-SGD), tight, theorem,
secret, question, and membership, with all keys, where both were answered.

\b
Mechanisms: exponential, gaussian, geometric, laplace, planar-geometric, planar-laplace,
randomized-response, subset, unary, optimized-unary; a wrong parameter is answered with an example.
"""


@click.command(epilog=EPILOG)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@options.take("--mechanism", "NAME:KEY=VALUE,...", "A mechanism in closed form.")
@options.take("--prior", None, "CSV of secret, probability.", click.Path(path_type=Path))
@options.take(
    "--repeat",
    None,
    "The attacker sees this many outputs.",
    click.IntRange(1, 1_000_000),
    name="times",
)
@options.take("--tolerance", None, "Of a row's sum.", click.FloatRange(0, 0.01), shown=1e-9)
@options.flag("--all-pairs", "Name every pair of secrets that is worst.")
@options.flag("--all", "With --json: every measure, under `more`.", name="more")
@options.flag("--exact", "In fractions, without any rounding: FILE alone.")
@options.take("--plot", None, "Heat map of all pairs, to a file.", click.Path(path_type=Path))
@options.file("--groups", "FILE", "CSV of secret, group: each group by itself, and compared.")
@options.file("--loss", "FILE", "An attacker's losses: a row a secret, a column an answer.")
@options.guarantee
@options.secret
@options.report
@options.as_json("Full precision, on standard output.")
def command(
    *,
    file: Path | None,
    mechanism: str | None,
    prior: Path | None,
    times: int | None,
    tolerance: float,
    all_pairs: bool,
    more: bool,
    exact: bool,
    plot: Path | None,
    groups: Path | None,
    loss: Path | None,
    delta: float | None,
    adjacency: str,
    secret: str | None,
    report: Path | None,
    as_json: bool,
    **guarantee: Any,
) -> None:
    """Compute what a channel leaks about which secrets: Bayes security, risk, leakage, capacity.

    Exact: from a table of output probabilities, or a mechanism in closed form. From a guarantee:
    what is proved about two data sets that differ in one record.
    """
    from narcissus import channels
    from narcissus.cli.progress import progress

    aside = {"--mechanism": mechanism, "--repeat": times, "--plot": plot, "--groups": groups}
    aside |= {"--loss": loss, "--all-pairs": all_pairs or None, "--all": more or None}
    if any(value is not None for value in guarantee.values()):
        _refuse(aside | {"FILE": file, "--prior": prior, "--exact": exact or None}, "a guarantee")
        _neighbours(guarantee, delta, adjacency, secret, report, as_json=as_json)
        return
    _refuse({"--secret": secret}, "a channel, whose secrets are its rows")
    if delta is not None:
        raise InputError("`--delta` goes with `--epsilon` only; drop it")
    if exact:
        _refuse(aside | {"--report": report}, "--exact")
        click.echo(_in_fractions(file, prior, as_json=as_json))
        return
    source, name = _source(file, mechanism, tolerance)
    given = None if prior is None else channels.read_prior(prior)
    if times is not None:
        try:
            whole = channels.repeat(source, times)
        except InputError:  # noise on numbers, or too many outputs: no table of them all
            needless = {**aside, "--prior": prior, "--report": report}
            del needless["--mechanism"], needless["--repeat"]
            _composed(source, f"{mechanism or file}={times}", times, needless, as_json=as_json)
            return
        source, name = whole, f"{name}, {times} outputs"
    files = {"the channel": file, "the prior": prior}
    if groups is not None:
        needless = {"--plot": plot, "--loss": loss, "--all-pairs": all_pairs or None}
        _refuse({**needless, "--all": more or None}, "--groups")
        _by_group(source, groups, given, report, {**files, "the groups": groups}, as_json=as_json)
        return
    with progress(quiet=not sys.stderr.isatty()) as observer:
        summary = channels.analyse(source, given, name=name, observer=observer)
    result = summary.to_dict()
    result |= _beyond(summary, given, all_pairs=all_pairs, plot=plot, loss=loss)
    if as_json:
        click.echo(json.dumps(result | ({"more": summary.more()} if more else {})))
    else:
        click.echo(_text(summary, result))
    if report is not None:
        from narcissus.report.leakage import channel_page

        files["the losses"] = loss
        page = channel_page(summary, asked(files), given, result.get("loss"))
        write(report, page, silent=as_json)


def _beyond(
    summary: ChannelSummary, prior: Any, *, all_pairs: bool, plot: Path | None, loss: Path | None
) -> dict[str, Any]:
    from narcissus import channels

    found: dict[str, Any] = {}
    if not all_pairs and plot is None and loss is None:
        return found
    if summary.channel is None:
        raise InputError(
            "--all-pairs, --plot and --loss need a channel as a matrix; this mechanism is too "
            "large or continuous (in a symmetric mechanism all pairs are alike)"
        )
    if all_pairs:
        found["pairs"] = [list(p) for p in channels.tied_pairs(summary.channel)]
    if plot is not None:
        save_figure("--plot", plot, lambda axes: summary.plot(ax=axes))
    if loss is not None:
        found["loss"] = _of_loss(summary.channel, loss, prior)
    return found


def _refuse(needless: Mapping[str, object], what: str) -> None:

    for name, value in needless.items():
        if value is not None:
            raise InputError(f"`{name}` does not go with {what}; drop one of them")


def _text(summary: ChannelSummary, result: dict[str, Any]) -> str:
    from narcissus._outwards import lower

    lines = [str(summary)]
    if "pairs" in result:
        lines.append("  worst pairs: " + "; ".join(" and ".join(p) for p in result["pairs"]))
    if "loss" in result:
        found = result["loss"]
        family = f" ({found['family']})" if found["family"] else " (as for every loss)"
        lines += [
            "",
            f"  expected loss of the best guess  {found['risk']:.6g} with the output, "
            f"{found['prior_risk']:.6g} without; their ratio {found['beta_l']:.6g}",
            f"    of {len(summary.channel.secrets) if summary.channel else 0} secrets and "
            f"{len(found['answers'])} answers: {found['example']}",
            f"    whatever the prior, the ratio is at least {lower(found['at_least'])}{family}",
        ]
    return "\n".join(lines)


def _of_loss(c: Channel, path: Path, prior: Any) -> dict[str, Any]:
    from narcissus import channels

    costs, _, answers = channels.read_losses(path, c.secrets)
    loss = costs.T
    weights = channels.prior_for(c, prior)
    bound = channels.l_beta_bound(c, loss)
    return {
        "risk": channels.l_risk(c, loss, weights),
        "prior_risk": channels.prior_l_risk(loss, weights),
        "beta_l": channels.l_beta(c, loss, weights),
        "at_least": bound.value,
        "family": channels.loss_family(loss),
        "theorem": bound.theorem,
        "answers": answers,
        "example": f"answer {answers[-1]!r} costs {costs[0, -1]:g} where the secret is "
        f"{c.secrets[0]!r}",
    }


def _by_group(
    source: Channel | ClosedForm,
    path: Path,
    prior: Any,
    report: Path | None,
    files: dict[str, Path | None],
    *,
    as_json: bool,
) -> None:
    from narcissus import channels

    made = source.channel() if isinstance(source, channels.ClosedForm) else source
    found = channels.analyse_groups(made, channels.read_groups(path), prior)
    click.echo(json.dumps(found.to_dict()) if as_json else str(found))
    if report is not None:
        from narcissus.report.leakage import groups_page

        write(report, groups_page(found, path.name, asked(files)), silent=as_json)


def _neighbours(
    given: dict[str, Any],
    delta: float | None,
    adjacency: str,
    secret: str | None,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    questions = questions_of(secret, None)
    secure = [
        secured(given, delta=delta, adjacency=adjacency, secret=question) for question in questions
    ]
    replaced = are_replaced([guarantee for guarantee, _, _ in secure])
    shared = one_answer(questions, replaced=replaced, exact=True)
    secure = secure[:1] if shared else secure
    answers = [Answer(one[0], as_keys(*one), as_lines(*one[1:])) for one in secure]
    payload, lines = together(answers, shared=shared)
    print_answer(payload, lines, as_json=as_json)
    guarantee, found, reached = secure[0]
    if report is not None:
        from narcissus.report.leakage import guarantee_page

        files = {"the profile": given["profile"], "the losses": given["pld"]}
        page = guarantee_page(found, guarantee, reached, asked(files))
        write(report, page, silent=as_json)


def _composed(
    source: Channel | ClosedForm,
    use: str,
    times: int,
    needless: Mapping[str, object],
    *,
    as_json: bool,
) -> None:
    """Bound the joint leakage of repeated outputs without a table, as `narcissus compose` does."""
    from dataclasses import asdict

    from narcissus import channels

    command = f"`narcissus compose {use}`"
    _refuse(needless, f"{times} outputs that are too many for a table, which {command} composes")
    found = channels.repeated_security(source, times)
    if as_json:
        click.echo(json.dumps({**asdict(found), "gap": found.gap}))
    else:
        click.echo(f"{found}\n  {times} outputs are too many for a table of them: see {command}")


def _in_fractions(file: Path | None, prior: Path | None, *, as_json: bool) -> str:
    from narcissus import channels

    if file is None:
        raise click.UsageError("--exact takes FILE, --prior and --json alone")
    given = None if prior is None else channels.read_rational_prior(prior)
    found = channels.exact_summary(channels.read_rational(file), given)
    return json.dumps(found.to_dict()) if as_json else str(found)


def _source(
    file: Path | None, mechanism: str | None, tolerance: float
) -> tuple[Channel | ClosedForm, str]:
    from narcissus import channels
    from narcissus.study.part_section import part_from_text

    if mechanism is not None and file is None:
        return part_from_text("channel-mechanism", mechanism).build(), mechanism
    if file is not None and mechanism is None:
        return channels.read_channel(file, tolerance=tolerance), file.name
    raise click.UsageError("give a FILE or --mechanism, one of them, or a guarantee")
