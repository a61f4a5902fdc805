"""Files are read without trusting them."""

import io
import json
import os
import pickle
import stat
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from narcissus import read_table
from narcissus._arrays import unpack
from narcissus.channels import read_channel
from narcissus.errors import InputError, TooLargeError
from narcissus.extraction.files import (
    DataSet,
    Pool,
    arrays_of,
    check_release,
    headers_of,
    parse_rows,
    refuse_pickle,
    trained_once,
)


def safetensors(path, array, **changes):
    header = {"x": {"dtype": "F32", "shape": list(array.shape),
                    "data_offsets": [0, array.nbytes], **changes}}  # fmt: skip
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + array.tobytes())
    return path


def test_arrays(tmp_path):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", x=array)
    safetensors(tmp_path / "a.safetensors", array)
    for name in ("a.npy", "a.npz", "a.safetensors"):
        assert (DataSet.read(tmp_path / name).rows == array).all()
        assert check_release(tmp_path / name) > 0
    (tmp_path / "a.csv").write_text("0,1,2\n3, 4, 5\n")
    assert (DataSet.read(tmp_path / "a.csv").rows == array).all()


def test_safetensors_against_the_library(tmp_path):
    library = pytest.importorskip("safetensors.numpy", reason="an extra: language")
    library.save_file({"x": np.ones((2, 2), dtype=np.float16)}, tmp_path / "l.safetensors")
    assert (arrays_of(tmp_path / "l.safetensors")["x"] == 1).all()


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("thing", [{}, [], (1,), {"a": 1}, "text", 5, None, np.arange(3)])
def test_pickles_are_refused_whatever_they_are_called(tmp_path, protocol, thing):
    path = tmp_path / "model.bin"
    path.write_bytes(pickle.dumps(thing, protocol))
    if protocol >= 4 and len(path.read_bytes()) < 14:
        pytest.skip("too short for a frame; its suffix would tell")
    with pytest.raises(InputError, match="is a pickle"):
        check_release(path)


def test_links_hand_over_nothing_but_the_release(tmp_path):
    """Those of a cache of Hugging Face stay; others could lead to any file of this machine."""
    model = tmp_path / "models--x" / "snapshots" / "1"
    blobs = tmp_path / "models--x" / "blobs"
    model.mkdir(parents=True)
    blobs.mkdir()
    safetensors(blobs / "abc", np.ones(2, dtype=np.float32))
    (model / "model.safetensors").symlink_to("../../blobs/abc")
    (model / "again.safetensors").symlink_to("model.safetensors")
    assert check_release(model) > 0
    (tmp_path / "private").write_text("x")
    for target, said in (
        ("../../../private", "leads out"), (".", "leads out"), ("none", "leads nowhere"),
        ("notes", "leads nowhere"), ("../../blobs", "leads out"),
    ):  # fmt: skip
        (model / "notes").symlink_to(target)
        with pytest.raises(InputError, match=f"notes is a link that {said}"):
            check_release(model)
        (model / "notes").unlink()
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / "model.safetensors").symlink_to(blobs / "abc")
    with pytest.raises(InputError, match="leads out"):
        check_release(moved)


def test_pickles_in_archives_and_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        archive.writestr("archive/data.pkl", b"x")
    np.save(tmp_path / "o.npy", np.array([{}]), allow_pickle=True)
    for name in ("m.zip", "o.npy"):
        with pytest.raises(InputError, match="pickle"):
            check_release(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npy", b"nonsense", "not a readable .npy file"),
        ("a.npz", b"PK\x03\x04nonsense", "not a readable .npz file"),
        ("a.safetensors", b"\xff" * 20, "cut off"),
        ("a.safetensors", b"\x02", "cut off"),
        ("a.txt", b" \n", "empty"),
    ],
)
def test_damaged_data(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        DataSet.read(tmp_path / name)


def test_releases_that_are_not_accepted(tmp_path):
    with pytest.raises(InputError, match="no such"):
        check_release(tmp_path / "none")
    (tmp_path / "r").write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        check_release(tmp_path / "r")
    (tmp_path / "r").write_bytes(b"12345")
    with pytest.raises(TooLargeError, match="5 bytes"):
        check_release(tmp_path / "r", largest=4)


def test_text_and_rows():
    assert parse_rows("1 2\n\n3,4\n").tolist() == [[1, 2], [3, 4]]
    assert parse_rows("1 2\n3") is None
    assert parse_rows("a") is None
    assert parse_rows("nan") is None
    assert parse_rows("") is None
    assert DataSet(b"a\n\nb\n").records == ("a", "b")
    with pytest.raises(InputError, match="UTF-8"):
        _ = DataSet(b"\xff").text
    with pytest.raises(InputError, match="rows of numbers"):
        _ = DataSet(b"a b").rows
    with pytest.raises(InputError, match="not finite"):
        DataSet.of_rows([[np.nan]])


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


def packed(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def entry(**changes):
    return {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


ARRAYS = {
    "2^45 values": (npy((2**45,)), "281,474,976,710,656 bytes"),
    "negative shape": (npy((-1,)), "shape"),
    "no bytes each": (npy((2**45,), "|V0"), "type"),
    "many dimensions": (npy((9,) * 400), "a shape that no array has"),
    "giant dimension": (npy((10**400,)), "a shape that no array has"),
    "objects": (npy((1,), "|O"), "pickle"),
    "too few values": (npy((3,), body=bytes(16)), "should have 24 bytes.*there are 16"),
    "too many values": (npy((1,), body=bytes(16)), "should have 8 bytes.*there are 16"),
    "long header": (b"\x93NUMPY\x02\0\xff\xff\xff\xff" + bytes(100), "has 4,294,967,295 bytes"),
    "no header": (b"\x93NUMPY\x01\x00\xff", "not a readable"),
    "texts": (npy((2,), "<U2", bytes(16)), "not numbers"),
}
TENSORS = {
    "list header": (packed([1, 2]), "no table"),
    "number header": (packed(1), "no table"),
    "deep header": (packed(b"[" * 100_000), "nested too deeply|JSON|value"),
    "header is no JSON": (packed(b"{"), "not a readable"),
    "header is no text": (packed(b"\xff\xff"), "not a readable"),
    "header beyond": ((2**62).to_bytes(8, "little"), "cut off"),
    "entry is a list": (packed({"x": []}), "nothing usable of x"),
    "entry is empty": (packed({"x": {}}), "type None"),
    "type is a list": (packed(entry(dtype=["F32"])), "type"),
    "text offsets": (packed(entry(data_offsets="08"), bytes(8)), "offsets"),
    "text in offsets": (packed(entry(data_offsets=["0", "8"]), bytes(8)), "offsets"),
    "negative offsets": (packed(entry(data_offsets=[-8, 0]), bytes(8)), "offsets"),
    "offsets beyond": (packed(entry(data_offsets=[8, 16]), bytes(8)), "offsets"),
    "offsets reversed": (packed(entry(data_offsets=[8, 0]), bytes(8)), "offsets"),
    "three offsets": (packed(entry(data_offsets=[0, 8, 8]), bytes(8)), "offsets"),
    "many dimensions": (packed(entry(shape=[9] * 5000), bytes(8)), "more than 32 dimensions"),
    "giant dimension": (packed(entry(shape=[10**400]), bytes(8)), "shape"),
    "huge shape": (packed(entry(shape=[2**45]), bytes(8)), "are 0 to 8"),
    "negative shape twice": (packed(entry(shape=[-1, -2]), bytes(8)), "shape"),
    "true is no size": (packed(entry(shape=[True, 2]), bytes(8)), "shape"),
    "overlap": (packed({**entry(), "y": entry()["x"]}, bytes(8)), "overlap"),
    "bytes behind": (packed(entry(), bytes(9)), "1 bytes behind"),
}
ARCHIVES = {"no archive": (b"PK\x05\x06", "not a readable")}
KINDS = {".npy": ARRAYS, ".safetensors": TENSORS, ".npz": ARCHIVES}


def hollow_archive(path, size, *, disk=0, decoy=False):
    """Write an archive of nothing whose list of members is said to have ``size`` bytes.

    disk: what stands where a part of the archive is numbered. decoy: a smaller list is said, too.
    """
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, size, 0)
    locator = b"PK\6\7" + struct.pack("<IQI", 0, size, 1)
    end = b"PK\5\6" + struct.pack("<IHHIIH", disk, 1, 1, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    small = record[:40] + struct.pack("<Q", 10) + record[48:] if decoy else b""
    with path.open("wb") as file:
        file.truncate(size)  # a hole, which takes no room on the disk
        file.seek(size)
        file.write(small + record + locator + end)


@pytest.mark.parametrize("suffix", [".npz", ".bin", ".zip", ".xlsx"])
@pytest.mark.parametrize("more", [{}, {"disk": 0x06054B50}, {"decoy": True}])
def test_an_archive_with_a_giant_list_of_members_is_refused(tmp_path, memory, suffix, more):
    path = tmp_path / f"a{suffix}"
    hollow_archive(path, 2**29, **more)
    read = {".npz": arrays_of, ".bin": refuse_pickle}.get(suffix, read_table)
    with pytest.raises(
        InputError, match=r"a\.\w+: the list of its members has (536,870,912|4,294,967,295) bytes"
    ):
        read(path)
    assert memory() < 2**24


@pytest.mark.parametrize("read", [arrays_of, read_channel, lambda path: unpack(path.read_bytes())])
def test_no_reader_of_arrays_reads_a_giant_list_of_members(tmp_path, memory, read):
    """Each of its members takes several times its bytes."""
    path = tmp_path / "a.npz"
    hollow_archive(path, 2**24 + 1)
    with pytest.raises(InputError, match="the list of its members has 16,777,217 bytes"):
        read(path)
    assert memory() < 2**26


@pytest.mark.parametrize(("suffix", "case"), [(s, c) for s, cases in KINDS.items() for c in cases])
def test_crafted_files_are_refused_before_they_take_memory(tmp_path, memory, suffix, case):
    content, says = KINDS[suffix][case]
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    for read in (arrays_of, DataSet.read):
        with pytest.raises(InputError, match=says):
            read(path)
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


RNG = np.random.default_rng(1)


def test_lines_without_repetition():
    pool = Pool(list("abcdef"), 4)
    draw = pool.draw(30, RNG)
    assert all(len(set(one.records)) == 4 for one in draw.data)
    seen = {record for one in draw.data for record in one.records}
    assert seen == set("abcdef")
    assert [one.raw for one in pool.fresh(draw, RNG)] != [one.raw for one in draw.data]


def test_rows_with_both_classes():
    rows, labels = np.arange(20.0).reshape(10, 2), [1, -1] * 5
    for one in Pool(rows, 5, labels).draw(20, RNG).data:
        assert one.labels.tolist() == [1, 1, 1, -1, -1]
        assert all(labels[int(row[0]) // 2] == y for row, y in zip(one.rows, one.labels))
    assert Pool(rows, 10).draw(1, RNG).data[0].labels is None


@pytest.mark.parametrize(
    ("records", "size", "labels", "message"),
    [
        (["a"], 2, None, "size"),
        (["a", "b"], 2, [1, -1], "rows of numbers"),
        (np.zeros((4, 1)), 4, [1, 1, 1, -1], "enough of both"),
        (np.zeros((4, 1)), 2, [1, 0, 1, -1], "-1 or 1"),
    ],
)
def test_bad_pools(records, size, labels, message):
    with pytest.raises(InputError, match=message):
        Pool(records, size, labels)


SAID = {"width": 8, "entropy": "7", "images": "a" * 64}


@pytest.fixture
def trained(tmp_path):
    """Give a function that says whether the model in a folder is trained (again)."""
    folder = tmp_path / "model"

    def again(said=SAID, place=folder):
        runs = []
        trained_once(place, said, lambda: runs.append(place.mkdir()))
        return bool(runs)

    assert again()
    return again


def test_the_same_training_is_found_and_another_is_not(trained, tmp_path):
    assert not trained()
    assert trained({**SAID, "images": "b" * 64})
    assert trained()
    assert trained(place=tmp_path / "shadow-1")


def test_no_model_is_trained_through_a_link(tmp_path):
    """The results folder may have come from somebody else."""
    outside, place = tmp_path / "outside", tmp_path / "results"
    outside.mkdir()
    (outside / "config.json").write_text("theirs")
    place.mkdir()
    (place / "model").symlink_to(outside)
    with pytest.raises(InputError, match="is reached by a link"):
        trained_once(
            place / "model", SAID, lambda: (place / "model" / "config.json").write_text("")
        )
    assert (outside / "config.json").read_text() == "theirs"


def test_the_folder_that_is_released_says_nothing_of_its_training(trained, tmp_path):
    assert list((tmp_path / "model").iterdir()) == []
    (mark,) = (path for path in tmp_path.iterdir() if path.name != "model")
    if os.name != "nt":
        assert stat.S_IMODE(mark.stat().st_mode) == 0o600
    mark.write_text("{")  # broken, it counts as none
    assert trained()
    (tmp_path / "model").rmdir()
    assert trained()


@pytest.mark.parametrize("version", [b"\x03\x00", b"\x01\x01", b"\x09\x00"])
def test_an_array_of_another_version_of_the_format_is_refused(tmp_path, version):
    path = tmp_path / "a.npy"
    np.save(path, np.zeros(3))
    content = path.read_bytes()
    path.write_bytes(content[:6] + version + content[8:])
    with pytest.raises(InputError, match="version"):
        arrays_of(path)
