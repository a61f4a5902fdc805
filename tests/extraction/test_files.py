"""Files are read without trusting them."""

import json
import pickle
import zipfile

import numpy as np
import pytest

from narcissus.errors import InputError, TooLargeError
from narcissus.extraction.arrays import arrays_of
from narcissus.extraction.files import DataSet, check_release, parse_rows


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
