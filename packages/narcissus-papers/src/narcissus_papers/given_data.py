"""The user's folder of data: files that items need and the project does not hold."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from narcissus._files import file_size
from narcissus.errors import InputError
from narcissus.observer import Observer
from narcissus_papers.base import Item, Needed

LARGEST = 2**40


def digests(items: Sequence[Item], data: Path | None, observer: Observer) -> dict[str, str | None]:
    """Return the SHA-256 of each file that items need, by its name; None if it is missing.

    A missing folder, a wrong file, or a named folder with none of the files raises InputError.
    """
    needed = {one.name: (item, one) for item in items for one in item.needs}
    if data is None:
        return dict.fromkeys(needed)
    if not data.is_dir():
        raise InputError(f"`data` must be a folder, and {data} is none")
    found: dict[str, str | None] = {name: _digest(data / name) for name in needed}
    for item in items:
        for one in item.needs:
            _require_the_one(item, one, data, found[one.name])
    missing = [
        f"{name} (for {item.name}; from {one.source})"
        for name, (item, one) in needed.items()
        if found[name] is None
    ]
    if missing and len(missing) == len(needed):
        raise InputError(f"{data} has none of the files that are needed: {', '.join(missing)}")
    for said in missing:
        observer.note(f"not in {data}: {said}")
    return found


def _digest(path: Path) -> str | None:
    if not path.exists():
        return None
    file_size(path, largest=LARGEST)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _require_the_one(item: Item, needed: Needed, data: Path, found: str | None) -> None:
    if found is not None and needed.sha256 and found != needed.sha256.lower():
        raise InputError(
            f"{data / needed.name} is not the file that {item.name} needs: its SHA-256 is {found}, "
            f"and should be {needed.sha256.lower()}; fetch it from {needed.source}"
        )
    if found is not None and needed.check is not None:
        needed.check(data / needed.name)
