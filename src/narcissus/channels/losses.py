"""Tables of what answers cost, from files; mechanisms and gains into files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narcissus._files import open_text, parsing, put
from narcissus._visible import cell, csv_text, unmarked
from narcissus.channels.array_files import is_array_file, read_matrix
from narcissus.channels.channel import channel
from narcissus.channels.rational import RationalChannel
from narcissus.errors import InputError

OF_SECRETS = ("secret", "secrets")
OF_ANSWERS = ("answer", "answers", "guess", "guesses")
"""What the first cell of a file says that its rows are."""


def read_losses(
    path: Path | str, secrets: Sequence[str] | None = None
) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """Read losses from a CSV: names of the answers first, then a row a secret, its name first.

    Or from an npy or npz with a matrix, as `read_channel` reads them, of answers in the columns.
    Where the first cell of a CSV is ``guess`` or ``answer`` its rows are the answers.

    Parameters
    ----------
    path
        The file.
    secrets
        Names of the secrets, where they are known: rows or columns of these names, or as many
        of an array without names, are the secrets.

    Returns
    -------
    losses, secrets, answers
        Shape (secrets, answers), and their names; the secrets in the order of ``secrets``.

    Raises
    ------
    InputError
        The file is missing or unreadable, rows differ in length, a cell is no number (with its
        place), or it holds Python objects; or neither names nor the first cell tell whether rows
        or columns are the secrets, and it makes a difference; or not all ``secrets`` are there.
    """
    path = Path(path)
    if is_array_file(path):
        losses, rows, columns, named = _of_arrays(path)
        first = "secret" if named else ""
        if secrets is not None and not named:
            tall, wide = (size == len(secrets) for size in losses.shape)
            rows = list(secrets) if tall else rows
            columns = list(secrets) if wide else columns
    else:
        losses, rows, columns, first = _of_text(path)
    if _rows_are_answers(path, losses, (rows, columns), first, secrets):
        losses, rows, columns = losses.T, columns, rows
    if secrets is None:
        return losses, rows, columns
    if sorted(rows) != sorted(secrets):
        raise InputError(
            f"{path} must have a row for each secret of the channel: {', '.join(secrets[:10])}"
        )
    return losses[[rows.index(name) for name in secrets]], list(secrets), columns


def _rows_are_answers(
    path: Path,
    losses: NDArray[np.float64],
    names: tuple[list[str], list[str]],
    first: str,
    secrets: Sequence[str] | None,
) -> bool:
    """Return whether rows are answers: by the first cell, else by whose names are the secrets'."""
    if first in (*OF_SECRETS, *OF_ANSWERS):
        return first in OF_ANSWERS
    rows, columns = names
    known = sorted(rows if secrets is None else secrets)
    if sorted(columns) != known or sorted(rows) != known:
        return sorted(columns) == known
    turned = losses[:, [columns.index(name) for name in rows]]
    if not np.array_equal(turned, turned.T):
        raise InputError(
            f"{path}: rows and columns may both be the secrets, and it makes a difference; write "
            "`secret` into the first cell of a CSV whose rows are the secrets, `guess` into that "
            "of one whose rows are what the attacker answers"
        )
    return False


def _of_text(path: Path) -> tuple[NDArray[np.float64], list[str], list[str], str]:
    """Return the numbers of a CSV, the names of its rows and columns, and its first cell."""
    with parsing(path, "a readable CSV"), open_text(path) as stream:
        rows = [[unmarked(one.strip()) for one in row] for row in csv.reader(stream) if row]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise InputError(
            f"{path} needs a line with the names of the answers and one at least with a secret's "
            "name and what each answer costs"
        )
    answers, secrets = rows[0][1:], list[str]()
    losses = np.empty((len(rows) - 1, len(answers)))
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise InputError(
                f"{path}, line {number}: {len(row)} cells where the first line has {len(rows[0])}"
            )
        secrets.append(row[0])
        for place, text in enumerate(row[1:]):
            try:
                losses[number - 2, place] = float(text)
            except ValueError:
                raise InputError(
                    f"{path}, line {number}: the loss of answer {answers[place]!r} is "
                    f"{cell(text)}, "
                    "not a number"
                ) from None
    return losses, secrets, answers, rows[0][0].lower()


def _of_arrays(path: Path) -> tuple[NDArray[np.float64], list[str], list[str], bool]:
    found = read_matrix(path)
    losses = found.matrix if isinstance(found.matrix, np.ndarray) else found.matrix.toarray()
    n, m = losses.shape
    secrets = found.secrets or [f"s{i + 1}" for i in range(n)]
    answers = found.outputs or [f"a{i + 1}" for i in range(m)]
    if (len(secrets), len(answers)) != (n, m):
        raise InputError(
            f"{path} names {len(secrets)} secrets and {len(answers)} answers of a matrix of "
            f"{n} x {m}"
        )
    named = found.secrets is not None or found.outputs is not None
    return np.asarray(losses, dtype=np.float64), secrets, answers, named


def write_channel(path: Path | str, made: Any) -> None:
    """Write a channel as `read_channel` reads it: CSV in full precision, or npz by its name.

    Parameters
    ----------
    path
        The file.
    made
        A `RationalChannel`, whose fractions are kept, or what `channel` takes.

    Raises
    ------
    InputError
        The file cannot be written, or is to hold no channel.
    """
    path = Path(path)
    made = made if isinstance(made, RationalChannel) else channel(made)
    if path.suffix.lower() != ".npz":
        rows = made.rows if isinstance(made, RationalChannel) else made.dense.tolist()
        put(path, _table("secret", made.secrets, made.outputs, rows))
        return
    if isinstance(made, RationalChannel):
        raise InputError(f"{path}: fractions are written to a CSV, since npz holds floats")
    packed = io.BytesIO()
    names: dict[str, Any] = {"secrets": np.array(made.secrets), "outputs": np.array(made.outputs)}
    np.savez_compressed(packed, matrix=made.dense, **names)
    put(path, packed.getvalue())


def write_gain(path: Path | str, gain: Any, secrets: Sequence[str]) -> None:
    """Write a gain as a CSV: a row per guess, a column per secret.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    rows = np.asarray(gain).tolist()
    guesses = [f"g{i + 1}" for i in range(len(rows))]
    put(Path(path), _table("guess", guesses, secrets, rows))


def _table(corner: str, names: Sequence[str], columns: Sequence[str], rows: Any) -> str:
    cells = ([name, *map(_digits, row)] for name, row in zip(names, rows, strict=True))
    return csv_text([[corner, *columns], *cells], exact=True)


def _digits(number: float | Fraction) -> str:
    return str(number) if isinstance(number, Fraction) else repr(number)
