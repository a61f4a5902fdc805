"""Where releases are kept: in a folder, or in memory where the folder is not."""

import pytest

from narcissus.errors import StoreError
from narcissus.mechanisms import Shelf
from narcissus.mechanisms.table import shelf as module


def test_in_a_folder_they_are_files(tmp_path):
    shelf = Shelf(tmp_path / "deep" / "kept")
    assert shelf.get("a.npz") is None
    assert shelf.to_bring() == ({}, 0)
    shelf.put("a.npz", b"one")
    assert Shelf(shelf.folder).get("a.npz") == b"one"
    assert shelf.handed_over() == ({}, 0)
    (shelf.folder / "b.npz").symlink_to(shelf.folder / "a.npz")
    with pytest.raises(StoreError, match="is a link"):
        shelf.get("b.npz")
    assert shelf.to_bring() == ({"a.npz": b"one"}, 1)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot keep a release in"):
        Shelf(tmp_path / "file").put("a.npz", b"one")


def test_elsewhere_they_are_brought_along_and_handed_over(tmp_path):
    shelf = Shelf(tmp_path / "kept")
    shelf.leave({"a.npz": b"one"})
    shelf.leave({"a.npz": b"other"})  # said before each key
    assert shelf.get("a.npz") == b"one"
    assert shelf.get("b.npz") is None
    shelf.put("b.npz", b"two")
    assert shelf.get("b.npz") == b"two"
    assert shelf.handed_over() == ({"b.npz": b"two"}, 0)
    assert shelf.handed_over() == ({}, 0)
    assert not shelf.folder.exists()


def test_large_ones_stay_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BROUGHT", 5)
    monkeypatch.setattr(module, "SENT_BACK", 3)
    shelf = Shelf(tmp_path)
    for name, content in {"a": b"123", "b": b"456", "c": b"78"}.items():
        shelf.put(f"{name}.npz", content)
    brought, left = shelf.to_bring()
    assert (brought, left) == ({"a.npz": b"123", "c.npz": b"78"}, 1)
    shelf.leave(brought)
    for content in (b"1234", b"123456", b"123"):
        shelf.put("d.npz", content)
    assert shelf.handed_over() == ({"d.npz": b"123"}, 6)
