"""Every error that Narcissus raises on purpose, under one base class."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
_TOLD = 20  # problems that are told at once


class NarcissusError(Exception):
    """Base of all errors raised on purpose; the message states a remedy."""


class InputError(NarcissusError, ValueError):
    """An unusable argument, table or file."""


class StudyError(InputError):
    """A wrong study file; the message names the key and its line in the file."""


class MissingExtraError(NarcissusError, ImportError):
    """A missing optional package; the message names the extra."""


class NotDrawnError(InputError):
    """A record that agrees with its schema and cannot be drawn: a mistake of ours, or a forgery."""


class TooLargeError(InputError):
    """An exact answer that does not fit; the message states its size."""


class LongWorkError(InputError):
    """Work longer than the time agreed to; the message states the time."""

    seconds: float | None = None  # the estimate; None where there is none
    work: str = ""  # what it is, in words


class StoreError(NarcissusError):
    """An unusable results folder: unwritable, or of another study."""


class AnotherStudyError(StoreError):
    """A results folder of this installation that belongs to another study."""


class LeftFolderWarning(UserWarning):
    """A folder of a run that could not be removed; the message names it."""


class ColumnError(InputError):
    """A column that cannot be used, for a reason that others may share: these are told together.

    column: Its name.
    reason: Equal for columns that are told together.
    describe: Says what is wrong with all columns of the reason, by their names.
    """

    def __init__(
        self, text: str, column: str, reason: str, describe: Callable[[Sequence[str]], str]
    ) -> None:
        super().__init__(text)
        self.column, self.reason, self.describe = column, reason, describe

    def is_unlike(self, file: str) -> bool:
        """Check whether a file has hardly a value of the column that the real one has."""
        return self.reason.startswith("values: ") and self.reason.endswith(f" in the {file} file")


class ProblemsError(InputError):
    """Several problems that are told together.

    problems: Each of them.
    """

    def __init__(self, text: str, problems: Sequence[InputError] = ()) -> None:
        super().__init__(text)
        self.problems = tuple(problems)


def each_problem(error: InputError) -> list[InputError]:
    """Return the problems that an error tells, each by itself."""
    if not isinstance(error, ProblemsError):
        return [error]
    return [problem for part in error.problems for problem in each_problem(part)]


def _together(problems: Sequence[InputError]) -> list[InputError]:
    """Return the problems, those of columns with the same reason as one."""
    groups: dict[str, list[InputError]] = {}
    for number, problem in enumerate(problems):
        key = problem.reason if isinstance(problem, ColumnError) else f"problem {number}"
        groups.setdefault(key, []).append(problem)
    merged: list[InputError] = []
    for group in groups.values():
        columns = [problem.column for problem in group if isinstance(problem, ColumnError)]
        first = group[0]
        if len(columns) > 1 and isinstance(first, ColumnError):
            merged.append(ProblemsError(first.describe(columns), group))
        else:
            merged += group
    return merged


def refuse(problems: Sequence[InputError]) -> None:
    """Raise one error for all problems, each in a separate line; nothing for none.

    Columns with one reason are one problem.
    """
    problems = _together(problems)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        shown = [f"* {problem}" for problem in problems[:_TOLD]]
        rest = len(problems) - len(shown)
        shown += [f"* and {rest:,} more problems of this kind"] if rest else []
        raise ProblemsError("\n".join([f"{len(problems):,} problems:", *shown]), problems)


def for_each(function: Callable[[ItemT], ResultT], items: Sequence[ItemT]) -> list[ResultT]:
    """Return the result for each item; an `InputError` tells what is wrong with all of them."""
    results: list[ResultT] = []
    wrong: list[InputError] = []
    for item in items:
        try:
            results.append(function(item))
        except InputError as error:
            wrong.append(error)
    refuse(wrong)
    return results


def raised_where(error: Exception) -> str:
    """Describe an exception of the user's own code, and its place."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    # what was sent to a worker by value has lost the file that its code names
    file = frame.f_globals.get("__file__") or frame.f_code.co_filename
    return f"{type(error).__name__}: {error} ({Path(file).name}, line {line})"
