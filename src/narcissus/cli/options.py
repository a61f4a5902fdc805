"""Commands made of typed functions, the options that several of them share, and their pages.

A positional parameter of a function is an argument of its command, a keyword one an option of the
same name; a dataclass stands for all of its fields. ``help/COMMAND.txt`` is the help page: what
is above the options, the text of each option (others are in ``shared.txt``), and what follows.
"""

from __future__ import annotations

import inspect
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import click

from narcissus.cli.rooms import leakage, results
from narcissus.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from narcissus.report import Page

ANY = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
EXISTING = click.Path(path_type=Path, dir_okay=False, exists=True)
LARGEST = 2**63 - 1
"""More than anybody counts: what is computed of it stays a number."""


def _counted(kind: click.ParamType[Any, Any], number: int, given: tuple[Any, Any]) -> int:
    if abs(number) > LARGEST:
        kind.fail("a whole number of at most 19 digits is needed", *given)
    return number


class Whole(click.types.IntParamType):
    """Whole numbers that somebody may count."""

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        return _counted(self, super().convert(value, param, ctx), (param, ctx))


class CountFrom(click.IntRange):
    """Whole numbers from one on that somebody may count."""

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        return _counted(self, super().convert(value, param, ctx), (param, ctx))


WHOLE, COUNT, SEED = Whole(), CountFrom(min=1), click.IntRange(min=0)
INSIDE = click.FloatRange(0, 1, min_open=True, max_open=True)

Texts = Mapping[str, tuple[str | None, str]]  # of options: place-holder and text


@dataclass(frozen=True)
class Opt:
    """What the type and the name of a parameter do not say of its option."""

    kind: Any = None
    name: str = ""
    check: Callable[[click.Context, click.Parameter, Any], Any] | None = None
    alone: str | None = None  # The value of an option that may be given without one

    def option(self, name: str, hint: Any, default: Any, texts: Texts) -> click.Option:
        """Make an option; its default is shown unless its text ends with one, in brackets."""
        inner = [part for part in get_args(hint) if part is not NoneType]
        if get_origin(hint) is not tuple and inner:  # a union with None
            return self.option(name, inner[0], default, texts)
        option = self.name or f"--{name.replace('_', '-')}"
        arguments: dict[str, Any] = {"callback": self.check}
        arguments["metavar"], arguments["help"] = texts[option]
        arguments["type"] = self.kind or {Path: ANY, int: WHOLE, float: float}.get(
            inner[0] if inner else hint
        )
        if hint is bool:
            arguments["is_flag"] = True
        elif get_origin(hint) is tuple:
            arguments |= {"multiple": True} if inner[-1] is Ellipsis else {"nargs": len(inner)}
        if self.alone is not None:
            arguments |= {"is_flag": False, "flag_value": self.alone}
        if default in (MISSING, inspect.Parameter.empty):
            arguments["required"] = True
        elif default is not False and default not in (None, ()):
            arguments |= {"default": default, "show_default": not arguments["help"].endswith("]")}
        return click.Option([option, name], **arguments)

    def argument(self, parameter: inspect.Parameter, hint: Any, texts: Texts) -> click.Argument:
        kind = self.kind or (ANY if Path in (hint, *get_args(hint)) else None)
        return click.Argument(
            [parameter.name],
            required=parameter.default is parameter.empty,
            type=kind,
            nargs=-1 if get_origin(hint) is tuple else 1,
            metavar=texts.get(parameter.name, (None, ""))[0],
        )


def _unwrapped(hint: Any) -> tuple[Any, Any]:
    """Return the type of an annotation, and what `Annotated` adds to it."""
    if get_origin(hint) is Annotated:
        return hint.__origin__, hint.__metadata__[-1]
    return hint, None


def some(*names: str) -> tuple[str, ...]:
    """Name the fields of a dataclass of options that a command takes."""
    return names


def _options(kind: type[Any], names: tuple[str, ...], texts: Texts) -> Iterator[click.Option]:
    hints = get_type_hints(kind, include_extras=True)
    defaults = {field.name: field.default for field in fields(kind)}
    for name in names or defaults:
        hint, annotation = _unwrapped(hints[name])
        if isinstance(hint, type) and is_dataclass(hint):
            yield from _options(hint, annotation or (), texts)
        else:
            yield (annotation or Opt()).option(name, hint, defaults[name], texts)


def _filled(kind: type[Any], names: tuple[str, ...], given: dict[str, Any]) -> Any:
    """Make a dataclass of options from what was given, which is taken out."""
    values: dict[str, Any] = {}
    hints = get_type_hints(kind, include_extras=True)
    for name in names or hints:
        hint, annotation = _unwrapped(hints[name])
        is_group = isinstance(hint, type) and is_dataclass(hint)
        values[name] = _filled(hint, annotation or (), given) if is_group else given.pop(name)
    return kind(**values)


@cache
def _read(name: str) -> str:
    path = Path(__file__).with_name("help") / f"{name}.txt"
    return path.read_text(encoding="utf-8").replace(r"\b", "\b")


def texts_of(section: str) -> Texts:
    """Read the lines ``--option PLACE-HOLDER``, each with its text in the line below."""
    lines = section.splitlines()
    heads = (line.partition(" ") for line in lines[::2])
    return {
        name: (metavar or None, text.strip())
        for (name, _, metavar), text in zip(heads, lines[1::2], strict=True)
    }


class OnceCommand(click.Command):
    """A command that refuses an option given twice, unless it takes several."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words as click does, which lets the last of several silently win."""
        try:
            *_, order = self.make_parser(ctx).parse_args(list(args))
        except click.UsageError:  # told below, in click's own words
            order = []
        for parameter, times in Counter(order).items():
            if isinstance(parameter, click.Option) and times > 1 and not parameter.multiple:
                both = "/".join((*parameter.opts, *parameter.secondary_opts))
                raise click.UsageError(
                    f"`{both}` is given {times} times, and the command takes one: the others would "
                    "be left out in silence",
                    ctx,
                )
        return super().parse_args(ctx, args)


def command(function: Callable[..., int | None]) -> click.Command:
    """Make a command of a typed function; its help page is the file of its name."""
    return command_of(function, _read(function.__name__))


def command_of(function: Callable[..., int | None], page: str) -> click.Command:
    above, section, below = page.split("---\n")
    texts = {**texts_of(_read("shared")), **texts_of(section)}
    hints = get_type_hints(function, include_extras=True)
    parameters: list[click.Parameter] = []
    groups: dict[str, tuple[type[Any], tuple[str, ...]]] = {}
    for parameter in inspect.signature(function).parameters.values():
        hint, annotation = _unwrapped(hints[parameter.name])
        if isinstance(hint, type) and is_dataclass(hint):
            groups[parameter.name] = hint, annotation or ()
            parameters += _options(hint, annotation or (), texts)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            parameters.append(
                (annotation or Opt()).option(parameter.name, hint, parameter.default, texts)
            )
        else:
            parameters.append((annotation or Opt()).argument(parameter, hint, texts))

    parameters.sort(key=lambda option: option.name in ("as_json", "quiet"))  # these end every list

    def call(**given: Any) -> int | None:
        made = {name: _filled(*group, given) for name, group in groups.items()}
        return function(**made, **given)

    return OnceCommand(
        function.__name__, params=parameters, callback=call, help=above, epilog=below or None
    )


def _beside_files(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse, before any work, a page or a picture that cannot be written."""
    if path is None:
        return None
    name, picture = option.opts[0], option.opts[0] == "--plot"
    if path.suffix not in ({".svg", ".pdf", ".png"} if picture else {".html"}):
        ends = ".svg, .pdf or .png" if picture else ".html"
        raise InputError(f"`{name}` must end in {ends}, got {path}")
    if not path.resolve().parent.is_dir():
        raise InputError(f"`{name}`: the folder of {path} does not exist; make it first")
    return path


def _in_own_folder(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Refuse to write about single records into a folder of others."""
    from narcissus._files import require_own_folder

    if path is not None:
        require_own_folder(path)
    return path


AsJson = Annotated[bool, Opt(name="--json")]
Count = Annotated[int | None, Opt(COUNT)]
Existing = Annotated[Path | None, Opt(EXISTING)]
InFile = Annotated[Path | None, Opt(FILE)]
Plot = Annotated[Path | None, Opt(FILE, check=_beside_files)]
Records = Annotated[Path | None, Opt(FILE, check=_in_own_folder)]
Report = Annotated[Path | None, Opt(FILE, check=_beside_files)]
SeedGiven = Annotated[int | None, Opt(SEED)]


def print_json(payload: Mapping[str, Any]) -> None:
    """Print full precision; non-finite numbers are null."""
    click.echo(json.dumps(results.plain(payload), indent=2))


def asked(files: Mapping[str, Path | None], seed: int | None = None) -> leakage.Asked:
    """Return the origin of the numbers of a page: the command as given, and its files.

    There are no digests: with nearly all of a file known, guesses of the rest could be tested.
    """
    named = {name: path.name for name, path in files.items() if path is not None}
    context = click.get_current_context()
    folders = r"(?:^|(?<==))(?:[A-Za-z]:)?[/\\][^=]*[/\\]"  # of this machine
    words = [
        re.sub(folders, "", word) for word in words_given(context, without=("report", "as_json"))
    ]
    command = shlex.join([context.info_name or "", *words])
    return leakage.Asked(f"narcissus {command}", named, seed)


def words_given(context: click.Context, *, without: Sequence[str] = ()) -> list[str]:
    """Return the arguments and options that were given, as words of a command."""
    words: list[str] = []
    for parameter in given_options(context):
        if parameter.name in without:
            continue
        value: Any = context.params[parameter.name or ""]
        for part in value if isinstance(value, tuple) else [value]:
            words += [parameter.opts[0]] if isinstance(parameter, click.Option) else []
            words += [] if part is True else [str(part)]
    return words


def given_options(context: click.Context) -> list[click.Parameter]:
    """Return the parameters that the command line itself sets."""
    return [
        parameter
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name or "")
        is click.core.ParameterSource.COMMANDLINE
    ]


def refuse_others(wish: str, *names: str) -> None:
    """Refuse what the command line sets besides these parameters: it would do nothing."""
    given = given_options(click.get_current_context())
    others = [
        option.opts[0] if isinstance(option, click.Option) else option.human_readable_name
        for option in given
        if option.name not in names
    ]
    if others:
        raise click.UsageError(f"not for {wish}: {', '.join(others)}")


def write_page(path: Path, page: Page, *, silent: bool) -> None:
    """Write a page, and print its path unless standard output is for JSON."""
    from narcissus._files import write_atomically
    from narcissus.report.html import page_html

    try:
        write_atomically(path, page_html(page))
    except OSError as error:
        raise InputError(f"`--report`: cannot write {path}: {error.strerror or error}") from error
    if not silent:
        click.echo(f"Report: {path}")


def save_figure(option: str, path: Path, draw: Callable[[Axes], object]) -> None:
    """Draw without a display, to the format of the file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure.add_subplot())
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{option}: cannot write {path}: {error}") from error
