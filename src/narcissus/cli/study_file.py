"""A study that a command writes to a file."""

from __future__ import annotations

from pathlib import Path

import click

from narcissus.errors import InputError


def refuse_existing(out: Path | None, *, force: bool) -> None:
    if out is not None and out.exists() and not force:
        raise InputError(f"{out} exists; choose another, or replace it with --force")


def written_to(out: Path, text: str, *, quiet: bool = False) -> None:
    """Write a study, and print how to play it."""
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}") from error
    if not quiet:
        click.echo(f"wrote {out}; play it with: narcissus audit {out}")
