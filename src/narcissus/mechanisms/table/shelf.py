"""Where releases are kept: a folder, or, far from it, what was brought along and is taken back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from narcissus._files import read_bytes, write_atomically
from narcissus.errors import StoreError

LARGEST = 2**28
"""Bytes of a file that are read."""

SENT_BACK = 2**24
"""Most bytes of a release that is sent back by who has not the folder."""

BROUGHT = 2**26
"""Most bytes of releases that are brought along, together."""


class Shelf:
    """Releases by name, as bytes.

    Parameters
    ----------
    folder
        Where they are, a file each; made when it is needed.

    Notes
    -----
    It is sent to workers together with the mechanism. One on another machine has no such folder:
    it is told so by `leave`, and gives what was made there by `handed_over`.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._brought: Mapping[str, bytes] | None = None
        self._made: dict[str, bytes] = {}
        self._too_large = 0

    def get(self, name: str) -> bytes | None:
        """Return a release, or None.

        Raises
        ------
        StoreError
            It is a link.
        """
        if self._brought is not None:
            return self._made.get(name, self._brought.get(name))
        path = self.folder / name
        if path.is_symlink():
            raise StoreError(f"{path} is a link, which nothing here follows: remove it")
        return read_bytes(path, largest=LARGEST) if path.exists() else None

    def put(self, name: str, content: bytes) -> None:
        """Keep a release.

        Raises
        ------
        StoreError
            The folder cannot be written.
        """
        if self._brought is None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                write_atomically(self.folder / name, content, private=True)
            except OSError as error:
                raise StoreError(f"cannot keep a release in {self.folder}: {error}") from error
        elif len(content) <= SENT_BACK:
            self._made[name] = content
        else:
            self._too_large = max(self._too_large, len(content))

    def to_bring(self) -> tuple[dict[str, bytes], int]:
        """Return what may be brought to where the folder is not, and how many are too much."""
        found: dict[str, bytes] = {}
        size = left = 0
        for path in sorted(self.folder.glob("*.npz")):
            if path.is_symlink() or size + path.stat().st_size > BROUGHT:
                left += 1
                continue
            found[path.name] = read_bytes(path, largest=BROUGHT)
            size += len(found[path.name])
        return found, left

    def leave(self, brought: Mapping[str, bytes]) -> None:
        """Keep in memory from here on: the folder is elsewhere; once told, again is nothing."""
        if self._brought is None:
            self._brought = brought

    def handed_over(self) -> tuple[dict[str, bytes], int]:
        """Return what was made since, and the bytes of the largest that was too large, or 0."""
        made, large = self._made, self._too_large
        self._made, self._too_large = {}, 0
        return made, large
