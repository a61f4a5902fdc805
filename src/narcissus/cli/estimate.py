"""``narcissus estimate``: leakage of a channel known only from samples."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from narcissus._validation import did_you_mean
from narcissus.cli import options
from narcissus.cli.sheets import asked, write
from narcissus.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from narcissus.channels import Program, ProgramLeakage
    from narcissus.results import Result


def program_from(
    line: str, secrets: str | None, prior: Any, *, given: str, observe: str, seconds: float
) -> Program:
    """Build a program from the command line without starting it.

    ``secrets`` are separated by commas, or ``@FILE`` with one a line; None takes the names of the
    prior (from `narcissus.channels.read_prior`).
    """
    from narcissus.channels import Program

    try:
        words = shlex.split(line)
    except ValueError as error:
        raise InputError(f"`--program` is no command: {error}") from error
    if not words:
        raise InputError("`--program` is empty: give a command, such as 'python check.py'")
    return Program(words, _secrets(secrets, prior), prior, given, observe, seconds)


def _secrets(text: str | None, prior: Any) -> list[str]:
    if text is None:
        if isinstance(prior, dict):
            return list(prior)
        raise InputError(
            "`--secrets` is missing: what the program is told, such as --secrets yes,no (or "
            "@FILE, one a line, or a `--prior` that names them)"
        )
    if text.startswith("@"):
        from narcissus._files import read_bytes

        path = Path(text[1:])
        try:
            lines = read_bytes(path).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not UTF-8 text") from error
        return [line.strip() for line in lines if line.strip()]
    return [part.strip() for part in text.split(",") if part.strip()]


def gain_from(path: Path | None) -> Any:
    """Read a gain file (a row per secret, a column per guess), transposed for the measures."""
    if path is None:
        return None
    import pandas as pd

    from narcissus.channels import read_losses

    gains, secrets, guesses = read_losses(path)
    return pd.DataFrame(gains.T, index=guesses, columns=secrets)


def wanted_measures(names: tuple[str, ...], *, everything: bool, gain: bool) -> list[str]:
    from narcissus.channels import MEASURES

    if "all" in names or (not names and everything):
        return [name for name, m in MEASURES.items() if gain or "gain" not in m.needs]
    return list(names)


def taken(outputs: pd.DataFrame, group: str, secret: str) -> pd.Series[Any]:
    if group == secret:
        raise InputError(f"`--group` names the column of secrets, {secret!r}; name another one")
    if group not in outputs:
        near = did_you_mean(group, list(outputs.columns))
        raise InputError(f"`--group`: there is no column {group!r} beside the secret{near}")
    if outputs.shape[1] == 1:
        raise InputError(f"beside {secret!r} and {group!r} there is no column of outputs")
    return outputs.pop(group)


def write_sampled(
    report: Path, parts: Sequence[Result], files: Mapping[str, Path | None], seed: int, *,
    silent: bool, name: str = "",
) -> None:  # fmt: skip
    from narcissus import channels as ch
    from narcissus.report.leakage import estimate_page, groups_page

    source = asked(files, seed)
    found, *rest = parts
    name = name or next(path.name for path in files.values() if path is not None)
    if isinstance(found, ch.GroupLeakage):
        page = groups_page(found, name, source)
    else:
        assert isinstance(found, ch.LeakageEstimate)
        others = next((part for part in rest if isinstance(part, ch.SampledLeakage)), None)
        tests = (part for part in rest if isinstance(part, ch.NoLeakageTest | ch.LeakageEvidence))
        page = estimate_page(found, name, source, others, next(tests, None))
    write(report, page, silent=silent)


EPILOG = """
\b
Examples:
  narcissus estimate samples.csv
  narcissus estimate traces.parquet --secret website --confidence 0.99 --json
  narcissus estimate traces.csv --secret website --estimator forest --estimator nearest-log
  narcissus estimate visits.csv --group region --report visits.html
  narcissus estimate samples.csv --measure shannon-leakage --measure capacity --test
  narcissus estimate samples.csv --prior prior.csv --gain gain.csv --json
  narcissus estimate --program "./check {secret}" --secrets 0000,1234 --observe time
  narcissus estimate --program "python -u serve.py" --given lines --secrets @pages.txt --width 0.05

\b
SAMPLES is CSV or Parquet with a header: one column holds the secret, all others the output.
  secret,time,bytes
  login,0.31,1200
  logout,0.28,800

\b
Each interval holds with the given confidence, whatever the estimators did. `low` is null where
outputs are continuous: no finite sample gives a lower limit then, without assumptions.

\b
With --group the limits of all groups hold together, and so do those of their differences. Keys of
--json are then groups (the numbers of each), worst (group, sure), differences, not_assessed.

\b
Assumptions make lower limits nearer, and conditional: they hold if what is assumed is so.
  narcissus estimate answers.csv --symmetric
  narcissus estimate times.csv --monotone
  narcissus estimate traces.csv --pair login logout

\b
--prior: CSV of secret, probability. --gain: CSV, a row per secret, a column per guess.
Measures: bayes-risk, bayes-vulnerability, multiplicative-leakage, additive-leakage,
min-entropy-leakage, shannon-leakage, capacity, min-capacity, shannon-capacity, and with a gain
g-vulnerability, g-leakage, additive-g-leakage. Leakages and capacities in bits, but for the
multiplicative and the additive ones.

\b
A program is run with your own rights, once for each sample, with a secret drawn at random; it
prints one line, with commas between columns (or its time is observed). It must exit with 0. Runs
are kept in a file; after Ctrl-C the same command goes on from there.
"""

OF_PROGRAM = ("secrets", "given", "observe", "width", "most_runs", "time_limit", "runs", "yes")
OF_FILE = ("secret", "group", "symmetric", "monotone", "among", "pair")


@click.command(epilog=EPILOG)
@click.argument("samples", required=False, type=click.Path(path_type=Path))
@options.take("--secret", "COLUMN", "Default: the column `secret`, or the first.")
@options.take("--confidence", None, "Of each interval.", float, shown=0.95)
@options.take(
    "--estimator", None, "Try this one (may be repeated).", name="estimators", multiple=True
)
@options.take(
    "--outputs",
    None,
    "Whether a lower limit is worth stating; auto looks how often outputs repeat.",
    click.Choice(["auto", "discrete", "continuous"]),
    name="kind",
    shown="auto",
)
@options.take("--seed", None, "Of the split of the samples.", click.IntRange(min=0), shown=0)
@options.take("--group", "COLUMN", "Compare groups of people: who gives more away?")
@options.flag(
    "--symmetric", "Assume that all secrets are treated alike, as in randomised response."
)
@options.flag(
    "--monotone",
    "Assume that larger secrets make larger outputs likelier throughout (or smaller ones).",
)
@options.take(
    "--among",
    "SECRET",
    "Assume that two of these are the easiest to tell apart (repeat for each).",
    multiple=True,
)
@options.take(
    "--pair",
    "SECRET SECRET",
    "Assume that these two are the easiest to tell apart.",
    nargs=2,
    default=None,
)
@options.take("--measure", "NAME", "Another one, too; or all.", name="measures", multiple=True)
@options.file("--prior", "FILE", "Of the secrets, for other measures, or for a program's secrets.")
@options.file("--gain", "FILE", "What guesses gain: asks for g-leakage.")
@options.flag("--test", "Test whether outputs depend on the secret at all.")
@options.take("--program", "COMMAND", "Run this instead of reading SAMPLES.")
@options.take("--secrets", "A,B,...", "What it is told; or @FILE, one a line.")
@options.take(
    "--given",
    None,
    "As {secret} or last argument; on stdin; or a line for a line, started once.",
    click.Choice(["argument", "stdin", "lines"]),
    shown="argument",
)
@options.take(
    "--observe",
    None,
    "The line that it prints, its wall clock, or its processor time.",
    click.Choice(["output", "time", "cpu"]),
    shown="output",
)
@options.take("--width", None, "Run it until limits are so narrow.", float, shown=0.1)
@options.take("--most-runs", None, "Then stop.", click.IntRange(min=1), shown=20_000)
@options.take("--time-limit", None, "Seconds of one run.", float, shown=10.0)
@options.take(
    "--runs",
    None,
    "Where its runs are kept.",
    click.Path(path_type=Path, dir_okay=False),
    shown=Path("runs.csv"),
)
@options.yes
@options.report
@options.as_json("Full precision, on standard output.")
def command(
    *,
    samples: Path | None,
    measures: tuple[str, ...],
    prior: Path | None,
    gain: Path | None,
    program: str | None,
    yes: bool,
    report: Path | None,
    as_json: bool,
    estimators: tuple[str, ...],
    seed: int,
    **more: Any,
) -> None:
    """Estimate Bayes security and Bayes risk from samples, with limits that hold.

    Samples come from a file, or from a program that is run until the limits are narrow enough.
    """
    from narcissus import channels
    from narcissus.cli.bound_options import option_names

    if (samples is None) == (program is None):
        raise click.UsageError("give SAMPLES or --program, one of them")
    _belong(of_program=program is not None)
    weights = None if prior is None else channels.read_prior(prior)
    everything = gain is not None or (prior is not None and program is None)
    others = wanted_measures(measures, everything=everything, gain=gain is not None)
    asked: dict[str, Any] = {"measures": others, "gain": gain_from(gain)}
    how: dict[str, Any] = {"estimators": list(estimators) or None, "rng": seed}
    held = _assumptions(more)
    with option_names():
        if program is not None:
            found = _of_program(program, weights, more, {**asked, **how}, yes=yes)
            click.echo(json.dumps(found.to_dict()) if as_json else str(found))
            if report is not None:
                files = {"the runs": found.runs, "the prior": prior, "the gain": gain}
                write_sampled(report, found.parts, files, seed, silent=as_json, name=found.program)
            return
        assert samples is not None
        if more["group"] is not None:
            _apart("--group", {"--measure": others, "--test": more["test"], **held})
        how |= {"confidence": more["confidence"], "kind": more["kind"]}
        head, parts = _of_file(samples, more, how | held, {**asked, "prior": weights})
    if as_json:
        click.echo(json.dumps(_keys(parts)))
    else:
        click.echo(head)
        click.echo("\n\n".join(map(str, parts)))
    if report is not None:
        files = {"the samples": samples, "the prior": prior, "the gain": gain}
        write_sampled(report, parts, files, seed, silent=as_json)


def _belong(*, of_program: bool) -> None:
    """Refuse options of a file with a program, and the reverse."""
    context = click.get_current_context()
    given = [
        parameter
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name or "")
        is click.core.ParameterSource.COMMANDLINE
    ]
    idle = OF_FILE if of_program else OF_PROGRAM
    for parameter in given:
        if parameter.name in idle:
            other = "SAMPLES" if of_program else "--program"
            raise click.UsageError(f"{parameter.opts[0]} is for {other}, which is not given")


def _apart(option: str, needless: dict[str, Any]) -> None:
    for name, value in needless.items():
        if value:
            shown = name if name.startswith("--") else f"--{name}"
            raise click.UsageError(f"{shown} does not go with {option}")


def _assumptions(more: dict[str, Any]) -> dict[str, Any]:
    names = ("symmetric", "monotone", "among", "pair")
    return {name: more[name] for name in names if more[name]}


def _keys(parts: Sequence[Result]) -> dict[str, Any]:
    keys = {"SampledLeakage": "leakage", "NoLeakageTest": "no_leakage"}
    first, *rest = parts
    named = {keys[type(part).__name__]: part.to_dict() for part in rest}
    return {**first.to_dict(), **named}


def _of_file(
    samples: Path, more: dict[str, Any], how: dict[str, Any], asked: dict[str, Any]
) -> tuple[str, Sequence[Result]]:
    from narcissus import channels
    from narcissus.cli.progress import progress

    secrets, outputs, column = channels.read_samples(samples, secret=more["secret"])
    group = more["group"]
    groups = () if group is None else (taken(outputs, group, column),)
    head = f"{samples.name}: secrets in the column {column!r}, {outputs.shape[1]} output columns"
    with progress(quiet=not sys.stderr.isatty()) as observer:
        level: dict[str, Any] = {**how, "observer": observer}
        if groups:
            return head, [channels.estimate_groups(secrets, outputs, *groups, **level)]
        parts: list[Result] = [channels.estimate(secrets, outputs, **level)]
        plain = {key: level[key] for key in ("confidence", "estimators", "kind", "rng", "observer")}
        if asked["measures"]:
            parts.append(channels.sampled_leakage(secrets, outputs, **asked, **plain))
        if more["test"]:
            parts.append(
                channels.no_leakage_test(secrets, outputs, rng=how["rng"], observer=observer)
            )
    return head, parts


def _of_program(
    line: str, prior: Any, more: dict[str, Any], asked: dict[str, Any], *, yes: bool
) -> ProgramLeakage:
    """Run the program until the limits are narrow enough; ask first if that takes long."""
    from narcissus import channels
    from narcissus.cli.interrupts import on_interrupt
    from narcissus.cli.playing import agreed
    from narcissus.cli.progress import progress

    made = program_from(
        line, more["secrets"], prior,
        given=more["given"], observe=more["observe"], seconds=more["time_limit"],
    )  # fmt: skip
    path: Path = more["runs"]

    def play(hours: float | None) -> ProgramLeakage:
        stop = channels.StopWhen(more["width"], more["confidence"], more["most_runs"], hours)
        with progress() as observer:
            return channels.program_leakage(
                made, path=path, stop=stop, kind=more["kind"], observer=observer, **asked
            )

    on_interrupt(f"runs are kept in {path}; the same command goes on from there")
    return agreed(play, yes=yes)
