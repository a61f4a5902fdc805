"""Digests of what real people are in, keyed: nobody without the key can test guesses of the data.

A plain digest of a table lets whoever knows nearly all of it try what is missing, millions of
guesses a second. The key is drawn for each results folder, stays in it, and is shown nowhere.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from narcissus._files import read_bytes, remedy
from narcissus._folders import OpenedFolder, opened_folder
from narcissus.errors import InputError, StoreError

FILE = "digest.key"
"""Name of the key's file in a results folder: 64 hexadecimal digits, for its owner alone."""
KEYED = "hmac-sha256:"
"""How a keyed digest begins."""
WITHHELD = "withheld"
"""Stands for a digest where no folder keeps a key, and in what is made to be shown."""

_OF_NOBODY = ("study", "policy", "module ", "program ")
"""How the names begin of what holds no people: settings, thresholds, source of programs."""
_BYTES = 32


def kept_key(folder: Path, name: str = FILE) -> bytes | None:
    """Read a key of a folder, 32 bytes; None where there is none.

    A file that another user owns, or may read, holds no key: whoever knows it could test guesses.
    """
    path = folder / name
    try:
        if _is_private(path):
            text = read_bytes(path, largest=2 * _BYTES + 2).decode("ascii").strip()
            if len(key := bytes.fromhex(text)) == _BYTES:
                return key
    except (OSError, ValueError, InputError):
        pass  # what is no key counts as none
    return None


def new_key(
    folder: Path, name: str = FILE, *, write: Callable[..., None] = OpenedFolder.write
) -> bytes:
    """Draw a key, 32 bytes, and keep it in a folder, which is made where it is missing.

    write: writes a file of an opened folder, as `OpenedFolder.write` does.
    Raises StoreError: it cannot be written.
    """
    key = secrets.token_bytes(_BYTES)
    try:
        with opened_folder(folder, make=True) as place:
            write(place, name, f"{key.hex()}\n", private=True)
    except OSError as error:
        raise StoreError(
            f"cannot keep the key in {folder / name}: {error.strerror or error}; {remedy(error)}"
        ) from error
    return key


def _is_private(path: Path) -> bool:
    if not os.path.lexists(path):
        return False
    status = path.lstat()
    if sys.platform == "win32":
        return stat.S_ISREG(status.st_mode)
    is_ours = status.st_uid == os.geteuid() and not status.st_mode & 0o077
    return is_ours and stat.S_ISREG(status.st_mode)


def keyed(digest: str, key: bytes | None) -> str:
    """HMAC-SHA-256 of a digest (RFC 2104), or `WITHHELD` without a key.

    digest: as text, with or without the name of its function.
    key: 32 bytes; None withholds the digest, an empty one leaves it plain.
    """
    if key is None:
        return WITHHELD
    return KEYED + hmac.new(key, digest.encode(), "sha256").hexdigest() if key else digest


def keyed_digests(digests: Mapping[str, str], keyed: Callable[[str], str]) -> dict[str, str]:
    """Key all digests of a record but those of settings, thresholds and source."""
    return {
        name: digest if is_of_nobody(name) else keyed(digest) for name, digest in digests.items()
    }


def is_of_nobody(name: str) -> bool:
    """Return whether a digest of this name is of what holds no people: settings, source."""
    return name.startswith(_OF_NOBODY)


def is_secret(value: object) -> bool:
    """Return whether a value of a record is a digest that only the holder of a key can compare."""
    return isinstance(value, str) and (value == WITHHELD or value.startswith(KEYED))
