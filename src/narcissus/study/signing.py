"""Detached Ed25519 signatures of records, with the library ``cryptography``.

Source: RFC 8032. What is signed are the bytes of ``record.json``; the signature, in base64, is the
file ``record.json.sig`` beside it.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Any

from narcissus._files import parsing, read_bytes
from narcissus._folders import opened_folder
from narcissus._optional import optional
from narcissus.errors import InputError
from narcissus.study.marks import write_marked
from narcissus.study.reading import LARGEST

_PURPOSE = "Signing records"


def signature_path(record: Path) -> Path:
    return record.with_name(record.name + ".sig")


def read_private_key(path: Path) -> Any:
    """Read an Ed25519 private key from a PEM file without a password."""
    keys = optional("cryptography.hazmat.primitives.serialization", extra="sign", purpose=_PURPOSE)
    what = "an Ed25519 private key in PEM form, without a password"
    with parsing(path, what, TypeError, ValueError):  # the library is written in Rust
        key = keys.load_pem_private_key(read_bytes(path, largest=10_000), password=None)
    if not hasattr(key, "sign") or "Ed25519" not in type(key).__name__:
        raise InputError(
            f"{path} holds a key of another kind; make one with "
            "`openssl genpkey -algorithm ed25519 -out key.pem`"
        )
    return key


def sign(record: Path, key: Any, content: str | None = None) -> Path:
    """Sign a record with a private key; return the file of the signature.

    content: The text that was written as the record; None reads the file. Who can write in its
        folder could put another there before it is read, and that would be signed.
    """
    data = read_bytes(record, largest=LARGEST) if content is None else content.encode()
    signature = key.sign(data)
    target = signature_path(record)
    with opened_folder(target.parent) as place:
        write_marked(place, target.name, base64.b64encode(signature).decode() + "\n")
    return target


def check_signature(record: Path, key_file: Path) -> None:
    """Check the signature beside a record against a public key; raise InputError if it fails."""
    keys = optional("cryptography.hazmat.primitives.serialization", extra="sign", purpose=_PURPOSE)
    errors = optional("cryptography.exceptions", extra="sign", purpose=_PURPOSE)
    with parsing(key_file, "an Ed25519 public key in PEM form", TypeError, ValueError):
        key: Any = keys.load_pem_public_key(read_bytes(key_file, largest=10_000))
    if "Ed25519" not in type(key).__name__:
        raise InputError(f"{key_file} holds a key of another kind, not an Ed25519 public key")
    path = signature_path(record)
    try:
        signature = base64.b64decode(read_bytes(path, largest=1000).strip(), validate=True)
        key.verify(signature, read_bytes(record, largest=LARGEST))
    except (binascii.Error, errors.InvalidSignature) as error:
        raise InputError(
            f"the signature {path} is not one of {record} by the key {key_file}"
        ) from error
