"""``narcissus estimate`` with a program, and with other measures."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narcissus.errors import InputError

if TYPE_CHECKING:
    from narcissus.channels import Program


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
