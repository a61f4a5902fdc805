"""The command ``narcissus``: its table of commands and its exit codes.

Exit codes: 0 assessed, threshold met (or none given); 1 threshold exceeded; 2 usage or bad
input; 3 could not assess; 4 internal error; 130 interrupted (Ctrl-C), 143 SIGTERM, 129 SIGHUP.
"""

from __future__ import annotations

import codecs
import errno
import gc
import os
import signal
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar, cast

import click
from click.shell_completion import CompletionItem

from narcissus._isolation import isolate
from narcissus._optional import is_short_of_memory
from narcissus._version import __version__
from narcissus._visible import SHOW_VALUES, show_visibly, visible
from narcissus.cli.heart import attended
from narcissus.cli.interrupts import Interrupted, farewell, interruptible
from narcissus.errors import LeftFolderWarning, NarcissusError, NotDrawnError

# name -> (module, one line for the help page); the module holds a click command of that name.
COMMANDS: dict[str, tuple[str, str]] = {
    "audit": ("playing", "Run a study: what attackers recover, and what nobody can exceed."),
    "app": ("page", "Open a page to make, run and read studies in the browser."),
    "init": ("studies", "Write a study to start from: of your table, or a shipped one."),
    "synth": ("playing", "Audit published files of one table, without their generator."),
    "risk": ("bounds", "Show one person's risk next to an epsilon."),
    "measure": ("playing", "Measure files as disclosure control does."),
    "tables": ("published", "Derive what published tables give away with certainty."),
    "rules": ("published", "Compare rules for publishing tables: risk and loss."),
    "bound": ("bounds", "Prove what no attacker can exceed, from a guarantee."),
    "protect": ("bounds", "Find how much noise keeps the risk below a limit."),
    "refute": ("evidence", "Find the guarantee that an audit's counts refute."),
    "membership": ("evidence", "Audit membership by shadow models, with limits."),
    "canaries": ("studies", "Write secrets to plant in a training text, for an audit."),
    "channel": ("channels", "Compute exactly what a channel leaks: a table or a mechanism."),
    "compose": ("channels", "Compute what many outputs about one secret leak together."),
    "refine": ("channels", "Compare two channels: which tells more, with a witness."),
    "design": ("channels", "Find the most secure mechanism at a given loss."),
    "estimate": ("channels", "Estimate from samples what a channel leaks, with limits."),
    "extract": ("playing", "Weigh the evidence that a program extracts data."),
    "complexity": ("evidence", "Measure how short a file can be described, given another."),
    "privacy": ("games", "Find two neighbours and an event that show what is lost."),
    "profile": ("games", "Compute a small game's exact resilience, for every attacker."),
    "report": ("records", "Draw a record again, or what changed between two records."),
    "verify": ("records", "Run a record's study again, and compare every number."),
}  # a module without a point is one of this room

GROUPS: dict[str, tuple[str, ...]] = {
    "Data to publish": ("audit", "app", "init", "synth", "measure", "tables", "rules"),
    "A guarantee to choose": ("risk", "bound", "protect"),
    "A model to examine": ("membership", "refute", "canaries", "extract", "complexity"),
    "A channel to measure": ("channel", "compose", "refine", "design", "estimate"),
    "A game to play": ("privacy", "profile"),
    "A result to read": ("report", "verify"),
}
"""Commands by what somebody has in hand, in the order of the help."""
_PAPERS = "it is in the package narcissus-papers (packages/narcissus-papers in the sources)"
MOVED = {
    "compare": "`narcissus report A B` compares two records",
    "examples": "`narcissus init --example` lists the shipped studies, and with a NAME writes one",
    "reproduce": f"`narcissus-papers reproduce` makes a paper's figures again; {_PAPERS}",
    "scale": f"`narcissus-papers scale` runs a game against a parameter; {_PAPERS}",
    "schema": (
        "`narcissus init --schema KIND` prints that of a study file, `narcissus report --schema "
        "KIND` that of a record, and `narcissus init --parts` lists the parts of studies"
    ),
}
"""Where that is now which was a separate command."""
_HERE = "narcissus.cli"
OK, EXCEEDED, USAGE, NOT_ASSESSED, INTERNAL = 0, 1, 2, 3, 4
PIPE_CLOSED = 141
LEAST_MEMORY = 2**29
"""Least address space, in bytes, with which NumPy and SciPy load, and formulas are computed."""
ENOUGH = 3 * 2**29
"""Address space, in bytes, with which a small table is audited: pandas, its figures, a worker."""
OF_TABLES = frozenset(
    ("audit", "app", "init", "synth", "measure", "tables", "rules", "membership", "scale")
)
"""Commands that are refused below `ENOUGH`: their libraries end the process, or fail anyhow."""


class PipeClosedError(Exception):
    """The reader of our output closed the pipe."""


@contextmanager
def _closed_pipes() -> Generator[None]:
    """Hide a closed pipe from click, which would exit with 1: a verdict here."""
    try:
        yield
    except BrokenPipeError as error:
        raise PipeClosedError from error


class LazyGroup(click.Group):
    """A group that imports a command only when it is called, for a quick ``--help``."""

    program: ClassVar[str] = "narcissus"
    modules: ClassVar[dict[str, tuple[str, str]]] = COMMANDS
    groups: ClassVar[dict[str, tuple[str, ...]]] = GROUPS
    moved: ClassVar[dict[str, str]] = MOVED
    starts: ClassVar[str] = "newcomer"
    """The module of the command that files stand for; empty where there is none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        return self.load(self.modules[cmd_name][0], cmd_name)

    def load(self, module: str, name: str) -> click.Command:
        """Import a module, of this room where its name has no point, and return its command."""
        return getattr(import_module(module if "." in module else f"{_HERE}.{module}"), name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.starts and args[0] not in self.modules and os.path.exists(args[0]):
            return args[0], self.load(self.starts, "start"), args
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from narcissus._validation import did_you_mean

            name = args[0]
            message = error.message.rstrip(".") + did_you_mean(name, self.modules)
            if name in self.moved:
                message = f"`{name}` is no command any more: {self.moved[name]}"
            elif os.path.basename(name) != name or os.path.splitext(name)[1]:
                message = f"no such file: {name}"
            raise click.UsageError(message, ctx) from error

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        """Parse the words; ``--help`` prints already here."""
        with _closed_pipes():
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _closed_pipes():
            return super().invoke(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command, and else a file, which is one to start with."""
        commands = super().shell_complete(ctx, incomplete)
        return commands or [CompletionItem(incomplete, type="file")] * bool(self.starts)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by groups with their one-line texts, without importing them."""
        width = max(map(len, self.modules))
        for title, names in self.groups.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), self.modules[name][1]) for name in names])


def group(kind: type[LazyGroup]) -> Callable[[Callable[[], None]], LazyGroup]:
    """Return a decorator that makes a group of commands of a function, whose help is its text."""
    # nothing is coloured: click would cut escapes of names out of what is no terminal
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "color": True}
    shown = click.option(
        "--show-values",
        is_flag=True,
        expose_value=False,
        help="Let messages quote cells of the data, here or behind the command. Logs keep them.",
    )
    version = click.version_option(__version__, "--version", prog_name=kind.program)

    def made(function: Callable[[], None]) -> LazyGroup:
        return click.group(cls=kind, context_settings=settings)(version(shown(function)))

    return made


@group(LazyGroup)
def cli() -> None:
    """Measure what an attacker can really reconstruct from a data release.

    And prove what no attacker can. Start with a file: `narcissus people.csv` plays a quick look,
    `narcissus people.csv published.csv` examines a file that was made from it, and `narcissus
    counts.csv` derives what published counts give away.
    """


def main(argv: list[str] | None = None, commands: LazyGroup = cli) -> Any:
    """Run the command line; exit with 2 and one message on an error of our own."""
    is_ours = argv is None  # this process, which somebody else may have who gives arguments
    if is_ours:
        isolate()
        _require_streams()
        _require_memory(sys.argv[1:])
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # pyright: ignore[reportUnnecessaryComparison] (closed before)
                if codecs.lookup(stream.encoding).name == "ascii":
                    # click would write past it, and past what shows things visibly, in UTF-8.
                    cast(Any, stream).reconfigure(encoding="utf-8")
                show_visibly(stream)
        os.environ.setdefault("PYTHONSAFEPATH", "1")  # for whatever Python a library starts
    try:
        with interruptible(to_the_end=is_ours), click.Context(commands, color=True):
            code = _run(list(sys.argv[1:] if argv is None else argv), commands)
    except (Interrupted, KeyboardInterrupt) as error:
        number = error.number if isinstance(error, Interrupted) else signal.SIGINT
        farewell(number)
        code = 128 + number
    if is_ours:
        gc.freeze()  # the process ends in a sixth of the time
    sys.exit(code)


def _require_streams() -> None:
    """Open closed standard streams: the next file opened would take their place.

    A closed standard output ends the process, since the verdict would be lost.
    """
    streams: list[Any] = [sys.stdin, sys.stdout, sys.stderr]
    if None not in streams:
        return
    for number, stream in enumerate(streams):
        if stream is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            os.set_inheritable(number, True)
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] (closed before)
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (to the end)
    if streams[1] is None:
        click.echo("error: standard output is closed: lead it to a file, or to /dev/null", err=True)
        sys.exit(USAGE)


def _require_memory(words: list[str]) -> None:
    """Exit where the libraries of a command cannot be loaded: they hang, or die in silence."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    is_help = not {"--help", "-h"}.isdisjoint(words)
    is_of_tables = not is_help and not OF_TABLES.isdisjoint(words[:1])
    is_of_tables |= not is_help and any(map(os.path.isfile, words[:1]))
    minimum = ENOUGH if is_of_tables else LEAST_MEMORY
    if limit not in {resource.RLIM_INFINITY, -1} and limit < minimum:
        click.echo(
            f"error: this process may have {limit // 2**20} MiB of memory (`ulimit -v`); a formula "
            f"needs at least {LEAST_MEMORY // 2**20} MiB, an audit of a small table "
            f"{ENOUGH // 2**20} MiB",
            err=True,
        )
        sys.exit(USAGE)


@contextmanager
def _values_shown(words: list[str]) -> Generator[None]:
    """Remove ``--show-values`` from the words, wherever it is, and apply it."""
    before = os.environ.get(SHOW_VALUES)
    if "--show-values" in words:
        words[:] = [word for word in words if word != "--show-values"]
        os.environ[SHOW_VALUES] = "1"  # worker processes inherit it
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SHOW_VALUES, None)


@contextmanager
def _warnings_worded() -> Generator[None]:
    """Print what a library warns of once, as a note: a line of its source tells a user nothing."""
    seen: set[str] = set()

    def show(message: Warning | str, *_place: object, **_more: object) -> None:
        text = visible(" ".join(str(message).split()))
        if text not in seen:
            seen.add(text)
            is_ours = isinstance(message, LeftFolderWarning)
            label = "warning" if is_ours else "note: a library warned while it computed"
            click.echo(f"{label}: {text}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _run(words: list[str], commands: LazyGroup) -> int:
    try:
        with _values_shown(words), _warnings_worded(), attended(words, commands.program):
            code = commands.main(args=words, prog_name=commands.program, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return USAGE
    except click.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as end:  # of code that a study brought: it must not decide the exit code
        if f"_{commands.program.upper().replace('-', '_')}_COMPLETE" in os.environ:
            raise  # the shell asked what may come next
        click.echo(
            f"error: sys.exit({end.code!r}) was called by code that is not of this program; "
            "nothing was decided",
            err=True,
        )
        return USAGE
    except PipeClosedError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in buffers goes nowhere
        return PIPE_CLOSED
    except Exception as error:
        if (why := _interruption(error)) is not None:
            raise why from None
        if isinstance(error, NarcissusError | OSError) or is_short_of_memory(error):
            # What a stranger's name breaks into lines begins no line of its own.
            lines = [_cut(line) for line in _said(error).split("\n")]
            is_ours = isinstance(error, NotDrawnError)
            click.echo(
                ("internal error: " if is_ours else "error: ") + "\n  ".join(lines), err=True
            )
            return INTERNAL if is_ours else USAGE
        import traceback

        traceback.print_exc()
        click.echo(
            f"internal error: {error!r}; please report it with the lines above, and that this is "
            f"narcissus {__version__} on Python {sys.version.split()[0]}",
            err=True,
        )
        return INTERNAL
    return code if isinstance(code, int) else OK


def _interruption(error: BaseException | None) -> BaseException | None:
    """Return the interruption behind an error: wrapped, or met during its cleanup.

    Python wraps exceptions raised while a class is made, and an interrupted library may fail in its
    own way.
    """
    while error is not None and not isinstance(error, Interrupted | KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _cut(line: str, most: int = 2000) -> str:
    """Return a line of an error, of a long one its two ends: a cell may have megabytes."""
    return line if len(line) <= most else f"{line[: most // 2]} ... {line[-most // 2 :]}"


def _allowed() -> str:
    """Say how much address space this process may have, where that is limited."""
    if sys.platform == "win32":
        return ""
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed == resource.RLIM_INFINITY:
        return ""
    return (
        f": a process may have {allowed / 2**20:,.0f} MiB here (`ulimit -v`), and an audit of a "
        f"small table takes {ENOUGH / 2**20:,.0f} MiB"
    )


def _said(error: Exception) -> str:
    """Describe an error: our own words, or the file that the system refuses."""
    if not isinstance(error, NarcissusError) and is_short_of_memory(error):
        return f"there is not enough memory for this{_allowed()}"
    if not isinstance(error, OSError):
        return str(error)
    if error.filename:
        return f"{error.strerror or error}: {error.filename}"
    where = "cannot write what is printed: " if error.errno == errno.ENOSPC else ""
    return f"{where}{error.strerror or error}"
