"""Array files say what they hold; what they say is checked before memory is taken for it."""

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.extraction.arrays import arrays_of, headers_of
from narcissus.extraction.files import DataSet, check_release

GIB = 2**30


@pytest.fixture
def memory():
    """Give a function that says how many bytes were held at most since the start."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def npy(shape, kind="<f8", body=b""):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def safetensors(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def entry(**changes):
    return {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


CRAFTED = {
    "2^45 values": ("a.npy", npy((2**45,)), "281,474,976,710,656 bytes"),
    "negative shape": ("a.npy", npy((-1,)), "shape"),
    "no bytes each": ("a.npy", npy((2**45,), "|V0"), "type"),
    "objects": ("a.npy", npy((1,), "|O"), "pickle"),
    "too few values": ("a.npy", npy((3,), body=bytes(16)), "should have 24 bytes.*there are 16"),
    "too many values": ("a.npy", npy((1,), body=bytes(16)), "should have 8 bytes.*there are 16"),
    "long header": (
        "a.npy",
        b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + bytes(100),
        "header has 4,294,967,295 bytes",
    ),
    "no header": ("a.npy", b"\x93NUMPY\x01\x00\xff", "not a readable"),
    "texts": ("a.npy", npy((2,), "<U2", bytes(16)), "not numbers"),
    "list header": ("a.safetensors", safetensors([1, 2]), "no table"),
    "number header": ("a.safetensors", safetensors(1), "no table"),
    "deep header": ("a.safetensors", safetensors(b"[" * 100_000), "nested too deeply|JSON|value"),
    "header is no JSON": ("a.safetensors", safetensors(b"{"), "not a readable"),
    "header is no text": ("a.safetensors", safetensors(b"\xff\xff"), "not a readable"),
    "header beyond": ("a.safetensors", (2**62).to_bytes(8, "little"), "cut off"),
    "entry is a list": ("a.safetensors", safetensors({"x": []}), "nothing usable of x"),
    "entry is empty": ("a.safetensors", safetensors({"x": {}}), "type None"),
    "type is a list": ("a.safetensors", safetensors(entry(dtype=["F32"])), "type"),
    "text offsets": ("a.safetensors", safetensors(entry(data_offsets="08"), bytes(8)), "offsets"),
    "text in offsets": (
        "a.safetensors", safetensors(entry(data_offsets=["0", "8"]), bytes(8)), "offsets",
    ),
    "negative offsets": (
        "a.safetensors", safetensors(entry(data_offsets=[-8, 0]), bytes(8)), "offsets",
    ),
    "offsets beyond": (
        "a.safetensors", safetensors(entry(data_offsets=[8, 16]), bytes(8)), "offsets",
    ),
    "offsets reversed": (
        "a.safetensors", safetensors(entry(data_offsets=[8, 0]), bytes(8)), "offsets",
    ),
    "three offsets": (
        "a.safetensors", safetensors(entry(data_offsets=[0, 8, 8]), bytes(8)), "offsets",
    ),
    "huge shape": ("a.safetensors", safetensors(entry(shape=[2**45]), bytes(8)), "are 0 to 8"),
    "negative shape twice": (
        "a.safetensors", safetensors(entry(shape=[-1, -2]), bytes(8)), "shape",
    ),
    "true is no size": ("a.safetensors", safetensors(entry(shape=[True, 2]), bytes(8)), "shape"),
    "overlap": (
        "a.safetensors", safetensors({**entry(), "y": entry()["x"]}, bytes(8)), "overlap",
    ),
    "bytes behind": ("a.safetensors", safetensors(entry(), bytes(9)), "1 bytes behind"),
    "no archive": ("a.npz", b"PK\x05\x06", "not a readable"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "says"), CRAFTED.values(), ids=CRAFTED)
def test_crafted_files_are_refused_before_they_take_memory(tmp_path, memory, name, content, says):
    (tmp_path / name).write_bytes(content)
    for read in (arrays_of, DataSet.read):
        with pytest.raises(InputError, match=says):
            read(tmp_path / name)
    assert memory() < 10 * 2**20


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    """Give an archive of a few MiB with an array of 256 MiB, which is 2 GiB as float64."""
    path = tmp_path_factory.mktemp("bomb") / "a.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        file.write(npy((GIB // 4,), "|u1"))
        for _ in range(256):
            file.write(bytes(2**20))
    assert path.stat().st_size < 16 * 2**20
    return path


def test_an_archive_that_unpacks_to_gigabytes(bomb, memory):
    with pytest.raises(TooLargeError, match=r"2,147,483,648 bytes as float64; at most"):
        DataSet.read(bomb)
    check_release(bomb)  # a release is handed on, not unpacked
    assert memory() < 10 * 2**20


def test_an_archive_that_lies_about_its_sizes(tmp_path, memory):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy((10,), body=bytes(80)))
    content = inner.getvalue()
    real, told = len(npy((10,), body=bytes(80))), 2**31
    content = content.replace(struct.pack("<I", real), struct.pack("<I", told))
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(InputError):
        DataSet.read(tmp_path / "a.npz")
    assert memory() < 10 * 2**20


def test_small_values_count_as_the_numbers_that_they_become(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(1000, dtype=np.uint8))
    assert arrays_of(tmp_path / "a.npy", largest=8000)[""].shape == (1000,)
    with pytest.raises(TooLargeError, match="8,000 bytes as float64; at most 7,999"):
        arrays_of(tmp_path / "a.npy", largest=7999)


@pytest.mark.parametrize("kind", ["<f8", "<f4", "<f2", "<i8", "<u2", "|b1", ">f8"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_headers_say_what_numpy_wrote(tmp_path, kind, shape):
    array = np.zeros(shape, dtype=kind)
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "b.npz", one=array, two=array.T)
    [header] = headers_of(tmp_path / "a.npy")
    assert (header.shape, header.size) == (shape, array.nbytes)
    assert [h.name for h in headers_of(tmp_path / "b.npz")] == ["one", "two"]
    for name in ("a.npy", "b.npz"):
        assert all((found == 0).all() for found in arrays_of(tmp_path / name).values())
