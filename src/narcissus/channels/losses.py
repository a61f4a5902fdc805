"""Tables of what answers cost, from files, and mechanisms into files."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from narcissus._files import open_text, parsing, write_atomically
from narcissus.channels.channel import Channel
from narcissus.errors import InputError


def read_losses(path: Path | str) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """Read losses from a CSV: names of the answers first, then a row a secret, its name first.

    Returns
    -------
    losses, secrets, answers
        Shape (secrets, answers), and their names.

    Raises
    ------
    InputError
        The file is missing or unreadable, rows differ in length, or a cell is no number (with its
        place).
    """
    path = Path(path)
    with parsing(path, "a readable CSV"), open_text(path) as stream:
        rows = [row for row in csv.reader(stream) if row]
    if len(rows) < 3 or len(rows[0]) < 2:
        raise InputError(
            f"{path} needs a line with the names of the answers and at least two with a secret's "
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


def write_channel(path: Path | str, made: Channel) -> None:
    """Write a channel as `read_channel` reads it, in full precision.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["secret", *made.outputs])
    for name, row in zip(made.secrets, made.dense.tolist(), strict=True):
        writer.writerow([name, *map(repr, row)])
    try:
        write_atomically(Path(path), text.getvalue())
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
