# ruff: noqa: E501, PT017, PLW2901, SIM118 (tables of what is tried)
"""Every reader of files, and what is handed to it: something that it reads, changed by chance.

Run by `test_readers.py` in a process of its own, ``python -m tests.fuzz.readers CASES SEED READER...``
in an empty folder: so a crash of a library, a hang and memory without end are seen as well. What
was handed over last lies in the folder then.
"""

from __future__ import annotations

import contextlib
import copy
import faulthandler
import gzip
import io
import itertools
import json
import lzma
import resource
import shutil
import signal
import struct
import sys
import time
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from narcissus.errors import NarcissusError

SECONDS, MEMORY = 30, 2**30
"""Most that a case may take: seconds, and bytes of memory beyond those taken before."""
ROOT = Path(__file__).resolve().parents[2]

NUMBERS = [
    b"0", b"-0", b"-1", b"2", b"1e308", b"1e999", b"-1e999", b"5e-324", b"1e-400", b"nan", b"inf",
    b"-inf", b"NaN", b"Infinity", b"9" * 400, b"1" + b"0" * 19, b"18446744073709551616", b"0x10",
    b"1_000", "\u0663".encode(), b"1/0", b"1/3", b"0.1.2", b"1,5", b".5", b"+1", b"true", b"null",
    b"2147483648", b"9223372036854775807", b"1" * 5000, b'"1"', b"",
]  # fmt: skip
TOKENS = [
    b"", b"\0", b"\r", b"\n", b"\r\n", b'"', b'""', b"'", b",", b";", b"\t", b"\xff\xfe", b"\xef\xbb\xbf",
    b"[", b"]", b"{", b"}", b"[[", b"=", b"#", b"\\", b"\\u0000", b"\\ud800", b"../../etc/passwd",
    b"/dev/zero", b"/proc/kmsg", "\u202e".encode(), "\u200b".encode(), b"\x1b[2J", b"=1+1", b"@x",
    b"secret", b"__class__", b"{0.__class__}", b"%s%n", b"x" * 5000, "\U0001f600".encode(), b"\xed\xa0\x80",
    b"null", b"true", b"{}", b"[]", b"[" * 60, b"[" * 5000, b'{"a":' * 2000, b"a:b",
]  # fmt: skip
EXTREMES = [
    struct.pack(form, value)
    for form, values in {
        "<i": (-1, 0, 2**31 - 1, -(2**31)), "<q": (-1, 2**63 - 1, -(2**63), 2**40),
        "<d": (float("nan"), float("inf"), -1.0, 1e308), "<H": (0, 0xFFFF), ">I": (0xFFFFFFFF,),
    }.items()
    for value in values
]  # fmt: skip


def _pieces(content: bytes) -> list[tuple[int, int]]:
    """Places of words and numbers, each with its end."""
    import re

    return [
        m.span() for m in re.finditer(rb"[A-Za-z_][\w.-]*|[-+]?[\d.]+(?:[eE][-+]?\d+)?", content)
    ]


def _at(made: bytearray, chance: Any) -> int:
    """A place: anywhere, or near an end, where files say what they hold."""
    size, kind = len(made), chance.integers(4)
    if kind == 0:
        return int(chance.integers(min(size, 64) + 1))
    if kind == 1:
        return max(0, size - int(chance.integers(min(size, 1200) + 1)))
    return int(chance.integers(size + 1))


def spoil(content: bytes, chance: Any) -> bytes:
    """Change a file in one to four places."""
    made = bytearray(content)
    for _ in range(int(chance.integers(1, 5))):
        how, at = int(chance.integers(10)), _at(made, chance)
        if how == 0 and at < len(made):
            made[at] ^= 1 << int(chance.integers(8))
        elif how == 1 and chance.integers(3) == 0:
            del made[at:]
        elif how == 2:
            made[at : at + int(chance.integers(13))] = b""
        elif how == 3:
            piece = EXTREMES[chance.integers(len(EXTREMES))]
            made[at : at + len(piece)] = piece
        elif how == 4:
            made[at:at] = TOKENS[chance.integers(len(TOKENS))]
        elif how == 5:  # a line, or a slice, twice
            start = made.rfind(b"\n", 0, at) + 1
            end = made.find(b"\n", at) + 1 or len(made)
            made[end:end] = made[start:end] if end - start < 10_000 else made[at : at + 20]
        elif how == 6:
            other = _at(made, chance)
            made[at : at + 8], made[other : other + 8] = made[other : other + 8], made[at : at + 8]
        elif spans := _pieces(bytes(made)):
            start, end = spans[chance.integers(len(spans))]
            if how == 7:
                made[start:end] = NUMBERS[chance.integers(len(NUMBERS))]
            elif how == 8:
                made[start:end] = TOKENS[chance.integers(len(TOKENS))]
            else:
                first, last = spans[chance.integers(len(spans))]
                made[start:end] = made[first:last]
    return bytes(made)


def spoil_json(content: bytes, chance: Any) -> bytes:
    """Change values of a JSON document, so that it stays one; now and then its bytes."""
    if chance.integers(4) == 0:
        return spoil(content, chance)
    data = json.loads(content)
    values: list[Any] = [
        None, True, 0, -1, 2**63, 10**400, 1e308, 0.5, "", "x", "nan", "\u202e", "../x", [], {}, [[]],
        {"a": {"b": 1}}, [0.5] * 3, ["x"], -0.0, "1", [None], 2**31,
    ]  # fmt: skip
    for _ in range(int(chance.integers(1, 4))):
        places: list[tuple[Any, Any]] = []
        queue: list[Any] = [data]
        while queue:
            one = queue.pop()
            keys = list(one) if isinstance(one, dict) else range(len(one))
            for key in keys:
                places.append((one, key))
                if isinstance(one[key], dict | list):
                    queue.append(one[key])
        if not places:
            break
        inside, key = places[chance.integers(len(places))]
        how = int(chance.integers(6))
        if how == 0:
            del inside[key]
        elif how == 1 and isinstance(inside, dict):
            inside[str(values[chance.integers(len(values))])] = inside.pop(key)
        elif how == 2 and isinstance(inside, list):
            inside.append(copy.deepcopy(inside[key]))
        elif how == 3:
            other, at = places[chance.integers(len(places))]
            inside[key] = copy.deepcopy(other[at])
        else:
            inside[key] = copy.deepcopy(values[chance.integers(len(values))])
    return json.dumps(data).encode()


@dataclass(frozen=True)
class Reader:
    """What reads files, by the names of those that it is given, and files that it reads."""

    seeds: Callable[[], list[tuple[str, bytes]]]
    read: Callable[[Path], object]
    spoil: Callable[[bytes, Any], bytes] = spoil


def _text(name: str, *texts: str) -> Callable[[], list[tuple[str, bytes]]]:
    return lambda: [(name, text.encode()) for text in texts]


def _rows(header: str, *rows: str, times: int = 1) -> str:
    return "\n".join([header, *(rows * times)]) + "\n"


PEOPLE = _rows(
    "sex,age,town,born,ill",
    *(
        f"{i % 2},{i % 5},{'xyz'[i % 3]},{i % 28 + 1}.3.2020,{('no', 'yes')[i % 7 > 3]}"
        for i in range(40)
    ),
)
CHANNEL = "secret,a,b\nx,0.75,0.25\ny,0.25,0.75\nz,1/2,1/2\n"
SAMPLES = _rows("secret,out", "x,1", "y,2", "x,1", "y,1", times=8)
LOSS = "secret,a,b\nx,0,1\ny,2,0\n"
GROUPS = "secret,group\nx,old\ny,young\nz,old\n"
SCORES = _rows(
    "model,record,score,member", *(f"m{i // 6},r{i % 6},{i / 7},{i * 5 % 3 % 2}" for i in range(36))
)


def _packed(*seeds: tuple[str, str]) -> list[tuple[str, bytes]]:
    return [(f"{name}.gz", gzip.compress(text.encode(), 1)) for name, text in seeds]


def _parquet(*texts: str) -> list[tuple[str, bytes]]:
    import pandas as pd

    made: list[tuple[str, bytes]] = []
    for text, how in itertools.product(texts, ("snappy", "gzip", None)):
        buffer = io.BytesIO()
        pd.read_csv(io.StringIO(text)).to_parquet(buffer, compression=how, index=False)
        made.append(("f.parquet", buffer.getvalue()))
    return made


def _of_programs() -> list[tuple[str, bytes]]:
    """The same people as Excel, Stata, SPSS, SAS, Arrow and JSON lines write them."""
    import pandas as pd
    import pyreadstat

    frame = pd.read_csv(io.StringIO(PEOPLE))
    book = io.BytesIO()
    frame.to_excel(book, index=False)
    made = [("f.xlsx", book.getvalue())]
    for suffix, options in {"dta": {}, "sav": {}, "zsav": {"compress": True}, "xpt": {}}.items():
        path = Path(f"whole.{suffix}")
        write = getattr(
            pyreadstat, f"write_{suffix.replace('zsav', 'sav').replace('xpt', 'xport')}"
        )
        labels = {} if suffix == "xpt" else {"variable_value_labels": {"sex": {0: "f", 1: "m"}}}
        write(frame, path, **options, **labels)
        made.append((f"f.{suffix}", path.read_bytes()))
    frame.to_feather("whole.feather", compression="uncompressed")
    made.append(("f.feather", Path("whole.feather").read_bytes()))
    made.append(("f.jsonl", frame.to_json(orient="records", lines=True).encode()))
    return made


def _spoil_sheet(content: bytes, chance: Any) -> bytes:
    """Change a file; of a zip archive half of the time what is packed in it."""
    if not content.startswith(b"PK") or chance.integers(2):
        return spoil(content, chance)
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        names = old.namelist()
        hit = names[chance.integers(len(names))]
        for name in names:
            text = old.read(name)
            new.writestr(name, spoil(text, chance) if name == hit else text)
    return made.getvalue()


def _otherwise_packed() -> list[tuple[str, bytes]]:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("f.csv", PEOPLE)
    return [("f.csv.xz", lzma.compress(PEOPLE.encode())), ("f.csv.zip", made.getvalue())]


def _arrays(**arrays: Any) -> list[tuple[str, bytes]]:
    """An npz, packed and not, a safetensors, and the first array as an npy."""
    made: list[tuple[str, bytes]] = []
    for save in (np.savez, np.savez_compressed):
        buffer = io.BytesIO()
        save(buffer, **arrays)
        made.append(("f.npz", buffer.getvalue()))
    buffer = io.BytesIO()
    np.save(buffer, next(iter(arrays.values())))
    header, body = {}, b""
    kinds = {"float64": "F64", "float32": "F32", "int64": "I64", "uint8": "U8", "bool": "BOOL"}
    for name, array in arrays.items():
        array = np.asarray(array)
        if array.dtype.name in kinds:
            ends = [len(body), len(body) + array.nbytes]
            header[name] = {
                "dtype": kinds[array.dtype.name],
                "shape": list(array.shape),
                "data_offsets": ends,
            }
            body += array.tobytes()
    text = json.dumps(header).encode()
    return [
        *made,
        ("f.npy", buffer.getvalue()),
        ("f.safetensors", struct.pack("<Q", len(text)) + text + body),
    ]


def _spoil_packed(content: bytes, chance: Any) -> bytes:
    """Change what is packed, or the pack."""
    if content[:2] == b"\x1f\x8b" and chance.integers(2):
        return gzip.compress(spoil(gzip.decompress(content), chance), 1)
    return spoil(content, chance)


def _studies() -> list[tuple[str, bytes]]:
    places = [files("narcissus.study") / "examples", ROOT / "examples"]
    found = [path for place in places for path in Path(str(place)).rglob("*.toml")]
    return [("f.toml", path.read_bytes()) for path in sorted(found)]


def _load_study(path: Path) -> None:
    import narcissus

    narcissus.load_study(path)


def _policies() -> list[tuple[str, bytes]]:
    return [("f.toml", b"[threshold]\nshare = 0.5\nadvantage = 0.1\nreason = 'r'\norigin = 'o'\n")]


def _read_policy(path: Path) -> None:
    from types import SimpleNamespace

    from narcissus.kinds.secrets.kind import SecretsPolicy
    from narcissus.kinds.synthetic.schema import SyntheticPolicy
    from narcissus.kinds.table.kind import PolicyFile
    from narcissus.study.toml import read_policy

    study = SimpleNamespace(policy=None, threshold=None)
    for model in (SecretsPolicy, SyntheticPolicy, PolicyFile):
        with contextlib.suppress(NarcissusError):
            read_policy(study, Path(), path, model)


def _records() -> list[tuple[str, bytes]]:
    return [("f.json", p.read_bytes()) for p in sorted((ROOT / "tests/study/kept").glob("*.json"))]


def _spoil_record(content: bytes, chance: Any) -> bytes:
    """Change a record, and write a digest that fits."""
    from narcissus.study.record import digest_of

    made = spoil_json(content, chance)
    with contextlib.suppress(Exception):
        data = json.loads(made)
        if chance.integers(10):
            data["digest"] = digest_of(data)
        made = json.dumps(data).encode()
    return made


def _read_record(path: Path) -> None:
    from narcissus.report import render_html, render_text
    from narcissus.study.reading import read_record

    record = read_record(path)
    render_text(record)
    render_html(record)


def _stores() -> list[tuple[str, bytes]]:
    from narcissus.study.store import FILE, TrialStore

    with TrialStore(Path("made"), {"a": 1}) as store:
        for trial in range(4):
            store.put(f"{trial}/0", {"a": np.arange(3.0), "b": np.array([trial])})
    old = b"SQLite format 3\0" + bytes(range(256)) * 4
    return [(FILE, (Path("made") / FILE).read_bytes()), (FILE, old)]


def _read_store(path: Path) -> None:
    from narcissus.study.store import TrialStore

    for identity in ({"a": 1}, {"a": 2}):
        with TrialStore(path.parent, identity) as store:
            for key in store.keys():
                store.get(key)
            store.put("9/9", {"a": np.arange(2)})
    for beside in path.parent.glob("trials.damaged-*"):
        beside.unlink()


def _read_table(path: Path) -> None:
    from narcissus.tables import read_table

    for above in (10**6, 0):
        for missing in ("category", "refuse"):
            with contextlib.suppress(NarcissusError):
                read_table(path, missing=missing, count_above=above)
    read_table(path)


def _read_channel(path: Path) -> None:
    from narcissus import channels

    for read in (
        channels.read_rational, channels.read_prior, channels.read_rational_prior,
        channels.read_samples, channels.read_losses,
    ):  # fmt: skip
        with contextlib.suppress(NarcissusError):
            read(path)
    channels.analyse(channels.read_channel(path))


def _numbers_of(*texts: str) -> Callable[[], list[tuple[str, bytes]]]:
    def make() -> list[tuple[str, bytes]]:
        made = [("f.csv", text.encode()) for text in texts]
        for text in texts:
            header, *rows = [line.split(",") for line in text.splitlines()]
            try:
                cells = [[float(c) for c in row] for row in rows]
            except ValueError:
                continue
            made.append(
                (
                    "f.json",
                    json.dumps([dict(zip(header, row, strict=True)) for row in cells]).encode(),
                )
            )
            made.append(("f.json", json.dumps(cells).encode()))
        return made

    return make


def _read_guarantee(path: Path) -> None:
    from narcissus.guarantees import read_losses, read_profile

    for read, adjacency in itertools.product(
        (read_losses, read_profile), ("replace-one", "add-remove")
    ):
        with contextlib.suppress(NarcissusError):
            read(path, adjacency=adjacency).profile(np.array([0.0, 1.0]))


def _read_priors(path: Path) -> None:
    from narcissus.priors import read_priors
    from narcissus.priors.secrets import read_values

    with contextlib.suppress(NarcissusError):
        read_values(path)
    read_priors(path)


def _read_shadows(path: Path) -> None:
    from narcissus.membership import audit_membership, read_shadow_scores

    for scale in ("probability", "loss", "logit"):
        with contextlib.suppress(NarcissusError):
            read_shadow_scores(
                path, path if path.suffix == ".npy" else None, scale=scale, wanted="logit"
            )
    audit_membership(read_shadow_scores(path), targets=2, rng=1)


def _command(*words: str) -> Callable[[Path], None]:
    """A command that is given the file in the place of ``FILE``; it may not fail inside."""

    def run(path: Path) -> None:
        from narcissus.cli import main

        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main([word.replace("FILE", str(path)) for word in words])
            except SystemExit as left:
                assert left.code in {0, 1, 2, 3}, err.getvalue()
                assert "Traceback" not in err.getvalue(), err.getvalue()
                if left.code == 2:
                    assert err.getvalue().strip(), "refused without a word"

    return run


def _read_images(path: Path) -> None:
    from narcissus.extraction.images import LabelledImages, read_images

    for read in (read_images, lambda p: read_images(p, p)):
        with contextlib.suppress(NarcissusError):
            read(path)
    LabelledImages.read(path)


def _read_model(path: Path) -> None:
    from narcissus.extraction.classifier import read_dense_net
    from narcissus.extraction.files import DataSet, arrays_of, check_release

    for read in (arrays_of, check_release, lambda p: DataSet.read(p).rows):
        with contextlib.suppress(NarcissusError):
            read(path)
    read_dense_net(path, ["fc1", "fc2"])(np.zeros((1, 3)))


def _folder_of(
    check: Callable[[], Callable[[Path], object]], *beside: str
) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        folder = Path("model")
        folder.mkdir(exist_ok=True)
        for name in beside:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(dict(_arrays(x=np.zeros(3)))["f.safetensors"])
        (folder / path.name).write_bytes(path.read_bytes())
        check()(folder)

    return read


def _language_folder() -> Any:
    from narcissus.extraction.model_folders import check_model_folder

    return check_model_folder


def _diffusers_folder() -> Any:
    from narcissus.extraction.image_models import check_diffusers_folder

    return check_diffusers_folder


def _read_documents(path: Path) -> None:
    from narcissus.extraction.recovered import read_documents

    for unit in ("file", "paragraph"):
        with contextlib.suppress(NarcissusError):
            read_documents(path, unit)
    read_documents(path)


def _read_groups(path: Path) -> None:
    from narcissus.channels import analyse_groups, read_channel, read_groups

    found = read_groups(path)
    analyse_groups(read_channel("c.csv"), found)


def _read_synthetic(path: Path) -> None:
    from narcissus.synthetic import read_files

    with contextlib.suppress(NarcissusError):
        read_files(path, "people.csv")
    read_files("people.csv", path)


def _runs() -> list[tuple[str, bytes]]:
    _estimate(Path("runs.csv"))
    return [
        ("runs.csv", Path("runs.csv").read_bytes()),
        ("runs.csv.json", Path("runs.csv.json").read_bytes()),
    ]


_estimate = _command(
    "estimate", "--program", "/bin/echo {secret}", "--secrets", "x,y", "--most-runs", "200",
    "--runs", "runs.csv", "--seed", "1", "--yes", "--width", "0.9",
)  # fmt: skip


def _read_runs(path: Path) -> None:
    Path(path.name).write_bytes(path.read_bytes())
    _estimate(path)


TABLES = _text("f.csv", PEOPLE, CHANNEL, SAMPLES)
READERS = {
    "studies": Reader(_studies, _load_study),
    "policies": Reader(_policies, _read_policy),
    "records": Reader(_records, _read_record, _spoil_record),
    "stores": Reader(_stores, _read_store),
    "tables": Reader(lambda: [*TABLES(), ("f.tsv", PEOPLE.replace(",", "\t").encode())], _read_table),
    "packed tables": Reader(
        lambda: _packed(("f.csv", PEOPLE), ("f.txt", PEOPLE.replace(",", ";"))), _read_table, _spoil_packed
    ),
    "otherwise packed tables": Reader(_otherwise_packed, _read_table, _spoil_sheet),
    "tables of other programs": Reader(_of_programs, _read_table, _spoil_sheet),
    "parquet tables": Reader(lambda: _parquet(PEOPLE, SAMPLES), _read_table),
    "synthetic files": Reader(_text("f.csv", PEOPLE), _read_synthetic),
    "channels": Reader(_text("f.csv", CHANNEL, SAMPLES, LOSS, "x,0.5\ny,0.5\n", "0.5,0.5\n1,0\n"), _read_channel),
    "packed channels": Reader(lambda: _packed(("f.csv", CHANNEL)), _read_channel, _spoil_packed),
    "parquet channels": Reader(lambda: _parquet(CHANNEL.replace("1/2", "0.5"), SAMPLES), _read_channel),
    "channels of arrays": Reader(
        lambda: _arrays(matrix=np.array([[0.5, 0.5], [1.0, 0.0]]), secrets=np.array(["x", "y"])), _read_channel
    ),
    "groups": Reader(_text("f.csv", GROUPS), _read_groups),
    "losses": Reader(
        _text("f.csv", LOSS, LOSS.replace("secret", "guess")),
        _command("channel", "two.csv", "--loss", "FILE"),
    ),
    "privacy losses and curves": Reader(
        _numbers_of(
            "loss,probability\n1,0.5\n-1,0.3\n-2,0.2\n", "epsilon,delta\n0,0.4\n1,0.1\n2,0\n",
            "epsilon,delta_add,delta_remove\n0,0.4,0.3\n1,0.1,0.2\n",
            "loss,probability_add,probability_remove\n-1,0.7310585786300049,0.2689414213699951\n1,0.2689414213699951,0.7310585786300049\n",
        ),
        _read_guarantee,
    ),
    "priors": Reader(
        _numbers_of("a,b,c\n0.5,0.25,0.25\n0.1,0.2,0.7\n", "x,2\ny,1\nz,1\n", "0.5,0.5\n1,\n"), _read_priors
    ),
    "canaries": Reader(
        _text("f.csv", _rows("score,member,pair", *(f"{i / 3},{i % 2},{i // 2}" for i in range(24)))),
        _command("refute", "--scores", "FILE", "--pairs"),
    ),
    "canaries with priors": Reader(
        _text("f.csv", _rows("score,member,prior", *(f"{i / 3},{i % 2},0.{i % 8 + 1}" for i in range(24)))),
        _command("refute", "--scores", "FILE"),
    ),
    "shadow scores": Reader(
        lambda: [
            ("f.csv", SCORES.encode()), *_parquet(SCORES),
            *_arrays(scores=np.arange(36.0).reshape(6, 6) % 5, members=np.arange(36).reshape(6, 6) * 5 % 3 % 2),
        ],
        _read_shadows,
    ),
    "models": Reader(
        lambda: _arrays(**{
            "fc1.weight": np.ones((4, 3)), "fc1.bias": np.zeros(4), "fc2.weight": np.ones((1, 4)),
            "fc2.bias": np.zeros(1),
        }),
        _read_model,
    ),
    "images": Reader(
        lambda: _arrays(
            images=np.arange(12, dtype=np.uint8).reshape(3, 2, 2), labels=np.array([0, 1, 1])
        ),
        _read_images,
    ),
    "configurations": Reader(
        _text("config.json", '{"model_type": "gpt2", "n_layer": 1, "architectures": ["GPT2LMHeadModel"]}'),
        _folder_of(_language_folder, "model.safetensors"), spoil_json,
    ),
    "indexes": Reader(
        _text("model_index.json", '{"_class_name": "DDPMPipeline", "unet": ["diffusers", "UNet2DModel"]}'),
        _folder_of(_diffusers_folder, "unet/model.safetensors"), spoil_json,
    ),
    "documents": Reader(_text("f.txt", "a line\nanother line\n\na paragraph of words\n"), _read_documents),
    "kept runs": Reader(_runs, _read_runs),
}  # fmt: skip
"""All that reads files of others, by name."""


def prepare() -> None:
    """Lay down what is read beside the file in question."""
    Path("people.csv").write_text(PEOPLE)
    Path("c.csv").write_text(CHANNEL)
    Path("two.csv").write_text("secret,a,b\nx,0.75,0.25\ny,0.25,0.75\n")


def is_open(path: Path) -> bool:
    """Tell whether this process has a file open: False where the system does not say."""
    for place in Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(OSError):  # the one that lists them
            if place.samefile(path):
                return True
    return False


def fuzz(name: str, cases: int, seed: int) -> float:
    """Try so many cases; give the seconds that it took. What fails is raised."""
    reader = READERS[name]
    shutil.rmtree("place", ignore_errors=True)
    Path("place").mkdir()
    seeds = reader.seeds()
    chance = np.random.default_rng([seed, *name.encode()])
    before, read = time.monotonic(), 0
    for case in range(cases):
        file, content = seeds[case % len(seeds)]
        path = Path("place") / file
        made = content if case < len(seeds) else reader.spoil(content, chance)
        path.write_bytes(made)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of the processor: machines are busy
        faulthandler.dump_traceback_later(20 * SECONDS, exit=True)
        try:
            reader.read(path)
            read += 1
        except NarcissusError as error:
            said = str(error)
            assert said.strip(), "an error without a word"
            assert len(said) < 20_000, f"an error of {len(said)} characters"
            assert not is_open(path), f"open while its error lives: {said}"
        except BaseException as error:
            error.add_note(f"reader {name}, seed {seed}, case {case}")
            raise
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used
        assert more * 1024 < MEMORY, f"{more * 1024:,} bytes of memory"
    assert read, "nothing was read, not even what was right"
    return time.monotonic() - before


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)
    prepare()
    cases, seed = map(int, sys.argv[1:3])
    for reader in sys.argv[3:]:
        print(f"{reader}: {cases / fuzz(reader, cases, seed):.0f} cases a second", flush=True)
