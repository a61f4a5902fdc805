"""``narcissus report`` and ``verify``: a record drawn again, and played again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import click

from narcissus._visible import WORD_JOINER, visible
from narcissus.cli.main import EXCEEDED, OK
from narcissus.cli.options import InFile, Opt, command, refuse_others, some
from narcissus.cli.playing import Run, with_run
from narcissus.cli.rooms import audits, drawing, studies
from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.study.record import Record

MOST_SHOWN = 10
RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""How far apart two numbers may be and count as the same: so much of them, or so much."""
_SHARES: tuple[Callable[[float], float], ...] = (
    lambda x: x,
    lambda x: 100 * x,
    lambda x: 100 - 100 * x,
    lambda x: 100 - 50 * x,
)
"""What a sentence makes of a number before it is rounded."""
_NUMERAL = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?")


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    out: Path | None = None
    as_text: Annotated[bool, Opt(name="--text")] = False
    as_json: Annotated[bool, Opt(name="--json")] = False
    markdown: bool = False
    statement: Annotated[str | None, Opt(alone="")] = None
    export: Annotated[str | None, Opt(click.Choice(["acro"]))] = None
    shareable: Annotated[bool, Opt(name="--shareable/--internal")] = True
    shown: Annotated[Path | None, Opt(name="--record")] = None
    schema: Annotated[str | None, Opt(alone="")] = None
    verbose: bool = False


@command
def report(record: Path | None = None, other: Path | None = None, *, of: ReportOptions) -> None:
    if of.schema is not None:
        from narcissus.cli.studies import print_schema, record_schema

        refuse_others("--schema", "schema")
        print_schema(record_schema(of.schema or None))
    elif record is None:
        also = "" if of.statement is None else " Name it before --statement."
        raise click.UsageError(f"Missing argument 'RECORD'.{also}")
    elif other is not None:
        refuse_others("two records", "record", "other", "out")
        _compare(record, other, of.out)
    else:
        _draw(record, of)


def _draw(record: Path, of: ReportOptions) -> None:
    from narcissus._files import put, remedy, write_atomically
    from narcissus.study.marks import replace_marked
    from narcissus.study.reading import read_record
    from narcissus.study.shareable import shareable

    name = _form(of)
    path = record / "record.json" if record.is_dir() else record
    loaded = read_record(path)
    if of.shown is not None:
        put(of.shown, shareable(loaded).to_json())
        click.echo(f"Record: {of.shown}")
        return
    if of.statement is not None:
        target = Path(of.statement) if of.statement else path.with_name("statement.md")
        _state(loaded, target, private=not of.shareable)
        return
    target = of.out or path.with_name("acro" if of.export else f"{name}.html")
    try:
        drawn = "" if of.export else _drawn(loaded, name, of)
    except Exception as error:  # a mistake of ours, unless another program wrote the record
        error.add_note(f"while drawing {path}, a record of kind {loaded.kind!r}")
        raise
    if of.out is None and (of.as_text or of.as_json or of.markdown):
        click.echo(drawn, nl=False)
        return
    try:
        if of.export:
            from narcissus.report.acro import export_acro

            export_acro(loaded, path, target)
        elif target.is_dir():
            raise InputError(f"`--out`: {target} is a folder; name a file")
        elif of.out is None:
            replace_marked(target, drawn, private=not of.shareable)
        else:
            write_atomically(target, drawn, private=not of.shareable)
    except OSError as error:
        option = "" if of.out is None else "`--out`: "
        raise InputError(
            f"{option}cannot write {target} ({error.strerror or error}); {remedy(error)}"
        ) from error
    click.echo(f"{'Outputs for ACRO' if of.export else name.capitalize()}: {target}")


def _form(of: ReportOptions) -> str:
    """Return the chosen form; refuse two forms, and options that the form does not take."""
    forms = {
        "--json": of.as_json,
        "--markdown": of.markdown,
        "--statement": of.statement is not None,
        "--export": of.export,
        "--record": of.shown,
    }
    also = {
        "--text": of.as_text,
        "--internal": of.shown and not of.shareable,
        "--verbose": of.verbose,
        "--out": of.out and (of.shown or of.statement is not None),
    }
    if of.verbose and not of.as_text:
        raise click.UsageError("`--verbose` needs `--text`: HTML always holds all of the report")
    options = [name for name, on in forms.items() if on]
    options += [name for name, on in also.items() if on and options]
    if len(options) > 1:
        raise click.UsageError(f"{' and '.join(options)} do not go together; choose one")
    return options[0].removeprefix("--") if options else "report"


def _drawn(record: Record, name: str, of: ReportOptions) -> str:
    from narcissus.report.first_screen import markdown

    internal = not of.shareable
    if name == "report":
        if of.as_text:
            return drawing.render_text(record, internal=internal, whole=of.verbose)
        return drawing.render_html(record, internal=internal)
    first = drawing.page_of(record, internal=internal).first
    assert first is not None
    as_json = json.dumps(first.to_dict(), indent=1, ensure_ascii=False) + "\n"
    return visible(as_json if name == "json" else markdown(first), keep="\n" + WORD_JOINER)


def _state(record: Record, path: Path, *, private: bool) -> None:
    """Write the statement of a record; a file that somebody filled in is not replaced."""
    from narcissus._files import write_atomically, writing
    from narcissus.report.statement import statement_docx, statement_markdown, statement_of

    draw = {".md": statement_markdown, ".docx": statement_docx}.get(path.suffix.lower())
    if draw is None:
        raise InputError(f"`--statement`: {path} must end in .md or .docx")
    drawn = draw(statement_of(record, internal=private))
    content = drawn if isinstance(drawn, bytes) else drawn.encode()
    with writing(path):
        if path.exists() and path.read_bytes() != content:
            raise InputError(
                f"`--statement`: {path} exists and differs, so it may be filled in: name another "
                "file, or remove it"
            )
        write_atomically(path, content, private=private)
    click.echo(f"Statement: {path}")


def _compare(a: Path, b: Path, out: Path | None) -> None:
    """Print what changed between two records, or write a page of it."""
    from narcissus._files import write_atomically
    from narcissus.report.compare import compared
    from narcissus.report.html import page_html
    from narcissus.report.text import page_text
    from narcissus.study.reading import read_record
    from narcissus.study.shareable import to_show

    page = compared(to_show(read_record(a)), to_show(read_record(b)))
    if out is None:
        click.echo(page_text(page), nl=False)
        return
    try:
        write_atomically(out, page_html(page))
    except OSError as error:
        raise InputError(f"`--out`: cannot write {out} ({error.strerror or error})") from error
    click.echo(f"Compared: {out}")


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    policy: InFile = None
    run: Annotated[Run, some("workers", "engine", "scheduler", "allow_code", "yes", "quiet")]


@command
def verify(record: Path, study: Path, *, of: VerifyOptions) -> int:
    from narcissus.study.keyed import FILE as KEY
    from narcissus.study.keyed import WITHHELD, is_secret, kept_key
    from narcissus.study.reading import read_record

    path = record / "record.json" if record.is_dir() else record
    written = read_record(path)
    loaded = studies.load_study(study, allow_code=of.run.allow_code)
    digests = written.provenance.digests
    if written.study.get("run", {}).get("quick"):
        loaded = with_run(loaded, "--quick", quick=True)
    _require_of(written, path, loaded, study)
    key = kept_key(path.parent)
    is_keyed = any(map(is_secret, digests.values()))
    audit = _again(loaded, written, digests=key if is_keyed else b"", policy=of.policy, run=of.run)
    again = audit.to_dict()
    tally = Likeness(numbers_of=again)
    blind = is_keyed and (key is None or WITHHELD in digests.values())
    deviations = list(_found(written, again, blind=blind, tally=tally))
    if blind:
        click.echo(
            f"Whether the data are the same could not be told by their digest: {path.parent} holds "
            f"no {KEY}, the key that stays with the steward. All else was compared."
        )
    if not deviations:
        click.echo(f"Verified: played again, {study} gives every number of {path}.")
        click.echo(tally.said())
        click.echo(_NOT_COMPARED)
        return OK
    click.echo(
        f"NOT verified: {len(deviations):,} differences between {path} and playing it again:"
    )
    for line in deviations[:MOST_SHOWN]:
        click.echo(f"  {line}")
    if len(deviations) > MOST_SHOWN:
        click.echo(f"  and {len(deviations) - MOST_SHOWN:,} more")
    for name, old, new in _versions(written.to_dict(), again):
        click.echo(f"  (the record was made with {name} {old}, here is {new})")
    return EXCEEDED


_NOT_COMPARED = (
    "Not compared: the versions of Narcissus, Python and packages, and the machine, which the "
    "record states of its first run."
)
_SENTENCES = {
    "assessed",
    "reasons",
    "caveat",
    "would_change",
    "reason",
    "remedy",
    "why",
    "remarks",
    "assumptions",
    "contradictions",
}
"""Where a record has sentences with numbers that were rounded; every other text is exact."""


def _numbers(value: Any) -> Iterator[float]:
    """Yield all numbers of plain values, those in texts too."""
    if isinstance(value, dict):
        yield from _numbers(list(cast("dict[str, Any]", value).items()))
    elif isinstance(value, list | tuple):
        for part in cast("list[Any]", value):
            yield from _numbers(part)
    elif isinstance(value, str):
        yield from (float(part.replace(",", "")) for part in _NUMERAL.findall(value))
    elif isinstance(value, int | float):
        yield float(value)


def _require_of(written: Record, path: Path, study: studies.Study, file: Path) -> None:
    """Refuse a record that is not of the study, or that lacks how it was played."""
    if not written.provenance.entropy:
        raise InputError(
            f"{path} is a record as it may be shown: its seed is withheld, so that it cannot be "
            "played again; take the record.json of the results folder"
        )
    if written.provenance.digests.get("study") != f"sha256:{study.digest}":
        raise InputError(f"{path} is a record of another study than {file}, or of a changed one")


def _again(
    study: studies.Study, written: Record, *, digests: bytes | None, policy: Path | None, run: Run
) -> audits.Audit:
    """Play a study with the seed of a record."""
    from narcissus.audits.play import play as replay
    from narcissus.study.keyed import keyed
    from narcissus.study.kinds import RunOptions

    def play(**how: Any) -> audits.Audit:
        how |= {"looks": _looks(written)}
        how |= {"workers": run.workers, "policy": policy, "keyed": partial(keyed, key=digests)}
        return replay(study, RunOptions(entropy=int(written.provenance.entropy), **how))

    return run.play(play)


def _looks(written: Record) -> int | None:
    """Return the look at which a run ended for want of time; None for every other run."""
    result: Any = written.result
    ends = [
        getattr(getattr(result, "play", None), "end", None)
    ]  # of a game; else those of the settings of a table
    ends += [getattr(end, "precision", None) for end in getattr(result, "settings", ())]
    ended: list[Any] = [end for end in ends if getattr(end, "ended", None) == "budget"]
    return ended[0].look if ended else None


def _found(
    written: Record, again: dict[str, Any], *, blind: bool, tally: Likeness
) -> Iterator[str]:
    """Yield all differences; ``blind`` skips what only the holder of a key can compare."""
    old, new = (_compared(record) for record in (written.to_dict(), again))
    if blind:
        old, new = _without_secrets(old), _without_secrets(new)
    yield from _of_itself(written)
    yield from differences(old, new, tally=tally)


def _compared(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must be equal: all except versions, machine and the digests over them."""
    fields = {
        k: v for k, v in record.items() if k not in ("provenance", "digest", "portable_digest")
    }
    made = record["provenance"]
    return {**fields, "entropy": made["entropy"], "digests": made["digests"]}


def _without_secrets(value: Any) -> Any:
    """Leave of what only the holder of a key can compare that it is there."""
    from narcissus.study.keyed import is_secret

    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {k: None if is_secret(v) else _without_secrets(v) for k, v in items}
    if isinstance(value, list):
        return [_without_secrets(v) for v in cast("list[Any]", value)]
    return value


def _of_itself(written: Record) -> Iterator[str]:
    """Yield a difference if the portable digest is not of the record."""
    from narcissus.study.record import portable_digest_of

    digest = written.portable_digest
    if digest and digest != portable_digest_of(written.to_dict()):
        yield f"portable_digest: {_shown(digest)} is of another record"


@dataclass
class Likeness:
    """A count of comparisons, and the largest distance between numbers that count as equal."""

    same: int = 0
    numbers: int = 0
    texts: int = 0
    apart: int = 0
    largest: float = 0.0
    numbers_of: Any = None
    """What was played, whose numbers sentences round."""
    known: tuple[float, ...] = ()

    def number(self, old: float, new: float) -> bool:
        """Compare two numbers of which at least one is not an integer."""
        self.numbers += 1
        if old == new or (math.isnan(old) and math.isnan(new)):
            return True
        gap = abs(old - new)
        if not math.isfinite(gap) or gap > max(ABSOLUTE, RELATIVE * max(abs(old), abs(new))):
            return False
        self.apart += 1
        self.largest = max(self.largest, gap)
        return True

    def text(self, old: str, new: str, place: str) -> bool:
        """Compare two texts; a number in a sentence may be rounded differently."""
        self.same += 1
        if old == new:
            return True
        if place.rpartition(".")[2].partition("[")[0] not in _SENTENCES:
            return False
        self.texts += 1
        if _NUMERAL.sub("#", old) != _NUMERAL.sub("#", new):
            return False
        pairs = zip(_NUMERAL.findall(old), _NUMERAL.findall(new), strict=True)
        return all(figure == other or self._is_between(figure, other) for figure, other in pairs)

    def _is_between(self, one: str, other: str) -> bool:
        """Whether a number of what was played lies where two numerals meet, within 1e-9.

        So it does where two processors round a number to either of them.
        """
        ends = _next_to(one, other)
        if ends is None:
            return False
        middle = sum(ends) / 2
        apart = max(ABSOLUTE, 4 * RELATIVE * abs(middle))
        if not self.known:
            self.known = tuple({make(x) for x in _numbers(self.numbers_of) for make in _SHARES})
        return any(abs(x - middle) <= apart for x in self.known)

    def said(self) -> str:
        numbers = f"{self.numbers:,} other numbers "
        if self.apart:
            numbers += (
                f"within 1e-9 ({self.apart:,} of them differ, by {self.largest:.2g} at most: the "
                "last digits depend on the processor)"
            )
        else:
            numbers += "the same to the last digit"
        texts = f" {self.texts:,} of the texts round a number the other way." if self.texts else ""
        words = f"{self.same:,} counts, statuses, grades and texts, the same"
        return f"Compared: {words}; {numbers}.{texts}"


def _next_to(one: str, other: str) -> tuple[float, float] | None:
    """Return two numerals, not both integers, that are a unit of the last digit apart.

    An integer is next to what rounds to it alone, however that is written.
    """
    are_whole = [not {".", "e"} & {*numeral} for numeral in (one, other)]
    left, right = _decimal(one), _decimal(other)
    if left is None or right is None or all(are_whole):
        return None
    finest = min(int(value.as_tuple().exponent) for value in (left, right))
    gap = abs(left - right)
    is_next = gap <= Decimal(1).scaleb(finest) and (gap < 1 or not any(are_whole))
    return (float(left), float(right)) if is_next else None


def _decimal(numeral: str) -> Decimal | None:
    """Read a numeral of a text; None if it is too large or too small for a float."""
    try:
        value = Decimal(numeral.replace(",", ""))
    except InvalidOperation:
        return None
    return value if abs(value.adjusted()) <= 400 else None


def differences(
    old: Any,
    new: Any,
    place: str = "",
    *,
    tally: Likeness | None = None,
) -> Iterator[str]:
    """Yield where two values differ, with both; non-integers only beyond 1e-9."""
    tally = Likeness() if tally is None else tally
    if isinstance(old, dict) and isinstance(new, dict):
        record, other = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        for key in dict.fromkeys([*record, *other]):
            inner = f"{place}.{key}" if place else key
            if key not in record or key not in other:
                yield f"{inner}: only in {'the record' if key in record else 'what was played'}"
            else:
                yield from differences(record[key], other[key], inner, tally=tally)
    elif isinstance(old, list) and isinstance(new, list):
        left, right = cast("list[Any]", old), cast("list[Any]", new)
        if len(left) != len(right):
            yield f"{place}: {len(left)} entries in the record, {len(right)} played again"
            return
        for number, (a, b) in enumerate(zip(left, right, strict=True), start=1):
            inner = f"{place}[{number}]"
            yield from differences(a, b, inner, tally=tally)
    elif not _same(old, new, tally, place):
        yield f"{place}: {_shown(old)} in the record, {_shown(new)} played again"


def _same(old: Any, new: Any, tally: Likeness, place: str) -> bool:
    if isinstance(old, str) and isinstance(new, str):
        return tally.text(old, new, place)
    kinds: set[type] = {type(old), type(new)}
    if float in kinds and kinds <= {int, float}:
        return tally.number(cast("float", old), cast("float", new))
    tally.same += 1
    return len(kinds) == 1 and old == new


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _versions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield versions that differ from when the record was made."""
    provenance, other = old["provenance"], new["provenance"]
    pairs = {"Narcissus": (provenance["narcissus"], other["narcissus"])}
    pairs |= {n: (v, other["packages"].get(n, "none")) for n, v in provenance["packages"].items()}
    pairs |= {"Python": (provenance["python"], other["python"])}
    for name, (before, now) in pairs.items():
        if before != now:
            yield name, before, now
