"""What a model's folder holds next to the model that is audited: texts and pictures, or refused.

Whoever gets the folder gets every file in it, whatever it is called: weights under the name of a
note, a pickle of another trainer, a checkpoint in a folder below. A verdict is about one model, so
each other file must be seen to be a text, a picture or a tokenizer, by its first bytes and by how
it ends; anything else is refused, unless the user declares that it is not published. Files that are
declared so are not opened.
"""

from __future__ import annotations

import io
import pickletools
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from narcissus._files import file_size, files_below, read_bytes
from narcissus._validation import did_you_mean, some_of
from narcissus.errors import InputError
from narcissus.extraction.files import PICKLES

LARGEST_TEXT = 2**26
"""Most bytes of a model's configuration, and of each file of its tokenizer (64 MiB)."""
LARGEST_NOTE = 2**20
"""Most bytes of a text that is no table of a tokenizer: a longer one may be weights in letters."""
LARGEST_PICTURE = 2**23
LARGEST_OF_FINDER = 2**16
"""Most bytes of what macOS leaves in folders (``.DS_Store``)."""
TABLES = frozenset(
    {
        *("tokenizer.json", "vocab.json", "vocab.txt", "merges.txt", "tokenizer.model"),
        *("spiece.model", "sentencepiece.bpe.model", "special_tokens_map.json"),
        "added_tokens.json",
    }
)
"""Of tokenizers: data alone, copied as they are."""
_OTHER_TABLES = frozenset({"tekken.json", "tokenizer_config.json", "trainer_state.json"})
_WEIGHTS = re.compile(
    r".*\.(?:safetensors|gguf|ggml|h5|hdf5|keras|msgpack|onnx|onnx_data|ot|tflite|pb|mlmodel|np[yz]"
    r"|mar|nemo|engine|bin|weights|parquet|arrow)(?:\.\d+)?"
    r"|.*\.(?:safetensors|bin|h5|msgpack)\.index(?:\.[\w-]+)?\.json"
    r"|.*\.ckpt\.[^/]*|.*\.data-\d+-of-\d+|(?:.*/)?[^/]*\.mlpackage/.*",
    re.IGNORECASE | re.DOTALL,
)
"""Names of weights: files of such names are refused whatever they hold."""
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HIGH = re.compile(rb"[\x80-\xff]")
_MOST_HIGH = 0.05
"""Share of bytes above ASCII in a text that is not UTF-8."""
_FEWEST_STEPS = 3
"""Steps of a pickle: a text of one letter may be a shorter one."""
_CHUNKS = frozenset(
    {
        *(b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB"),
        *(b"tEXt", b"zTXt", b"iTXt", b"bKGD", b"hIST", b"pHYs", b"sPLT", b"tIME", b"eXIf"),
        *(b"acTL", b"fcTL", b"fdAT"),
    }
)
_SHOWN = 6
_ENTRY = re.compile(rb'[\s",]+')
_LONGEST_PIECE = 2**12
"""Most bytes of a token, and of a line of a table."""
_MOST_PIECES = 2**20
"""Most pieces of a tokenizer: some four times those of the largest known."""
_LONGEST_PART = 2**20
"""Most bytes of how a tokenizer changes characters."""


@dataclass(frozen=True)
class Unpublished:
    """Files and folders of a model's folder that, as the user declares, are not published.

    names: as in the study: ``"pytorch_model.bin"``, ``"onnx/"``.
    """

    names: tuple[str, ...] = ()

    def holds(self, name: str) -> bool:
        """Say whether a file is declared; its name is relative to the folder.

        >>> Unpublished(("onnx/", "a.bin")).holds("onnx/model.onnx"), Unpublished().holds("a.bin")
        (True, False)
        """
        return any(
            name == entry or name.startswith(f"{entry}/")
            for entry in (entry.rstrip("/") for entry in self.names)
        )

    def below(self, part: str) -> Unpublished:
        """Return what is declared of a folder within the folder."""
        start = f"{part}/" if part else ""
        inside = [name.removeprefix(start) for name in self.names if name.startswith(start)]
        return Unpublished(tuple(name for name in inside if name))

    def check(self, folder: Path, read: Iterable[Path]) -> None:
        """Refuse a declaration of what is not there, or of what the model itself is read from."""
        there = [path.relative_to(folder).as_posix() for path in files_below(folder)]
        for name in self.names:
            plain = name.rstrip("/")
            if plain not in there:
                raise InputError(
                    f"`unpublished` names {name!r}, and {folder} has no such file or folder"
                    f"{did_you_mean(plain, there)}"
                )
        for path in read:
            if self.holds(name := path.relative_to(folder).as_posix()):
                raise InputError(
                    f"`unpublished` names {name}, of which the audited model is read: what is "
                    "audited is what is published"
                )


NONE_DECLARED = Unpublished()


class HasModelFolder(Protocol):
    """A part that may read its model from a folder: of models in memory, nothing is left out."""

    @property
    def limits_memory(self) -> bool:
        """Whether the memory of a model that others made is limited where it runs."""
        return True

    @property
    def unpublished(self) -> tuple[str, ...]:
        """Files and folders of the model's folder that are declared as not published."""
        return ()

    @property
    def others(self) -> tuple[str, ...]:
        """Texts and pictures in the model's folder, which nobody reads."""
        return ()

    def require_same_files(self) -> None:
        """Refuse a folder to which files were added, or from which some were taken."""


def require_same_names(folder: Path, before: Set[str], now: Set[str]) -> None:
    """Refuse a folder whose files have other names than they had when it was checked."""
    if changed := sorted(before ^ now):
        raise InputError(
            f"files were added to {folder}, or taken from it, while it was read: "
            f"{some_of(changed, _SHOWN)}; nothing is judged: run the same command again, on a "
            "folder that stays as it is"
        )


def other_files(
    folder: Path, read: Iterable[Path], unpublished: Unpublished = NONE_DECLARED
) -> tuple[str, ...]:
    """Return the names of texts, pictures and tokenizers next to a model, which nobody reads.

    read: the files from which the model is read.
    Raises InputError: there is anything else in the folder or below it that is not declared, or
        something is declared that is not there, or that is read.
    """
    known = set(read)
    unpublished.check(folder, known)
    harmless: list[str] = []
    refused: list[str] = []
    for path in files_below(folder):
        name = path.relative_to(folder).as_posix()
        if path in known or unpublished.holds(name) or path.is_dir():
            continue
        # a pipe, a socket or a device is never opened
        (harmless if path.is_file() and is_harmless(path, name) else refused).append(name)
    if refused:
        kept = {parent for path in known for parent in path.relative_to(folder).parents}
        names = list(dict.fromkeys(_topmost(PurePosixPath(name), kept) for name in refused))
        listed = ", ".join(f'"{name}"' for name in names[:_SHOWN])
        listed += ", ..." if len(names) > _SHOWN else ""
        raise InputError(
            f"the folder {folder} holds more than the model that is audited, and a verdict is "
            f"about one model: {some_of(names, _SHOWN)}; take them out of the folder that is "
            f"published, or declare in [model] that they are not: `unpublished = [{listed}]`"
        )
    return tuple(harmless)


def _topmost(name: PurePosixPath, kept: Iterable[Path]) -> str:
    """Return the largest folder of a file that holds nothing of the model, or the file."""
    holds_model = {parent.as_posix() for parent in kept}
    for parent in reversed(name.parents):
        if parent.as_posix() not in {".", *holds_model}:
            return f"{parent}/"
    return str(name)


def is_harmless(path: Path, name: str) -> bool:
    """Say whether a file is seen to be a text, a picture or a tokenizer, and no weights.

    name: with the folders below the model's.
    """
    if _WEIGHTS.fullmatch(name) or path.suffix.lower() in PICKLES:
        return False
    size = file_size(path, largest=2**63)
    if size == 0:
        return True
    if size > LARGEST_TEXT or zipfile.is_zipfile(path):
        return False
    content = read_bytes(path, largest=LARGEST_TEXT)
    of_finder = path.name == ".DS_Store" and content[4:8] == b"Bud1"
    return (
        is_table(path, content)
        or (size <= LARGEST_NOTE and is_text(content))
        or (size <= LARGEST_PICTURE and is_picture(content))
        or (size <= LARGEST_OF_FINDER and of_finder)
    )


def is_table(path: Path, content: bytes) -> bool:
    """Say whether a file may be a table of a tokenizer, by its name and what it is made of."""
    if path.name in TABLES | _OTHER_TABLES and is_text(content):
        longest = _LONGEST_PART if path.suffix == ".json" else _LONGEST_PIECE
        return max(map(len, _ENTRY.split(content))) <= longest
    of_pieces = path.name in TABLES or path.name.startswith("tokenizer.model.")
    return of_pieces and ".model" in path.name and _is_sentencepiece(content)


def is_text(content: bytes) -> bool:
    r"""Say whether bytes are a text: UTF-8, or nearly ASCII, and no pickle that is written so.

    >>> is_text("Größe: 3".encode()), is_text(b"(lp0\nI1\na."), is_text(b"\0\0\x80?")
    (True, False, False)
    """
    if _CONTROL.search(content):
        return False
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        if len(_HIGH.findall(content)) > _MOST_HIGH * len(content):
            return False
    return not _is_pickle(content)


def _is_pickle(content: bytes) -> bool:
    """Say whether bytes are a pickle to their end; nothing of it is carried out."""
    stream = io.BytesIO(content.rstrip())
    try:
        steps = sum(1 for _ in pickletools.genops(stream))
    except Exception:  # whatever the library meets in bytes that are none
        return False
    return steps > _FEWEST_STEPS and not stream.read(1)


def is_picture(content: bytes) -> bool:
    """Say whether bytes are a picture from their first to their last."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return _is_png(content)
    if content.startswith(b"\xff\xd8\xff"):
        return content.endswith(b"\xff\xd9")
    if content.startswith((b"GIF87a", b"GIF89a")):
        return content.endswith(b";")
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return int.from_bytes(content[4:8], "little") + 8 == len(content)
    return False


def _is_png(content: bytes) -> bool:
    place, kind = 8, b""
    while place + 12 <= len(content) and kind != b"IEND":
        length, kind = struct.unpack(">I4s", content[place : place + 8])
        if kind not in _CHUNKS:
            return False
        place += 12 + length
    return kind == b"IEND" and place == len(content)


def _is_sentencepiece(content: bytes) -> bool:
    """Say whether bytes are a tokenizer of SentencePiece: pieces, then how they were made."""
    longest = {1: _LONGEST_PIECE} | dict.fromkeys((2, 3, 4, 5), _LONGEST_PART)
    pieces = 0
    try:
        for number, (field, length) in enumerate(_parts(content)):
            if length > longest.get(field, -1) or number >= _MOST_PIECES:
                return False
            pieces += field == 1
    except (IndexError, ValueError):
        return False
    return pieces > 0


def _parts(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the number and the length of each field of a message of Protocol Buffers."""
    place = 0

    def number() -> int:
        nonlocal place
        value = 0
        for shift in range(0, 64, 7):
            byte = content[place]
            place += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number is too long")

    while place < len(content):
        key = number()
        length = number()
        if key & 7 != 2:
            raise ValueError("a field is no message")
        yield key >> 3, length
        place += length
    if place != len(content):
        raise ValueError("a field is cut off")
