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
from narcissus.channels.array_files import is_array_file, read_matrix
from narcissus.channels.channel import channel
from narcissus.channels.rational import RationalChannel
from narcissus.errors import InputError


def read_losses(path: Path | str) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """Read losses from a CSV: names of the answers first, then a row a secret, its name first.

    Or from an npy or npz with a matrix, as `read_channel` reads them, of answers in the columns.

    Returns
    -------
    losses, secrets, answers
        Shape (secrets, answers), and their names.

    Raises
    ------
    InputError
        The file is missing or unreadable, rows differ in length, a cell is no number (with its
        place), or it holds Python objects.
    """
    path = Path(path)
    if is_array_file(path):
        return _of_arrays(path)
    with parsing(path, "a readable CSV"), open_text(path) as stream:
        rows = [row for row in csv.reader(stream) if row]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise InputError(
            f"{path} needs a line with the names of the answers and one at least with a secret's "
            "name and what each answer costs"
        )
    answers, secrets = [name.strip() for name in rows[0][1:]], []
    losses = np.empty((len(rows) - 1, len(answers)))
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise InputError(
                f"{path}, line {number}: {len(row)} cells where the first line has {len(rows[0])}"
            )
        secrets.append(row[0].strip())
        for place, text in enumerate(row[1:]):
            try:
                losses[number - 2, place] = float(text)
            except ValueError:
                raise InputError(
                    f"{path}, line {number}: the loss of answer {answers[place]!r} is {text!r}, "
                    "not a number"
                ) from None
    return losses, secrets, answers


def _of_arrays(path: Path) -> tuple[NDArray[np.float64], list[str], list[str]]:
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
    return np.asarray(losses, dtype=np.float64), secrets, answers


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
    names = {"secrets": np.array(made.secrets), "outputs": np.array(made.outputs)}
    np.savez_compressed(packed, allow_pickle=False, matrix=made.dense, **names)
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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([corner, *columns])
    for name, row in zip(names, rows, strict=True):
        writer.writerow([name, *map(_digits, row)])
    return text.getvalue()


def _digits(number: float | Fraction) -> str:
    return str(number) if isinstance(number, Fraction) else repr(number)
