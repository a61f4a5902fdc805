"""A file that changes between two readings is an error, however it changes."""

import os

import pytest

from narcissus._files import file_digest, read_bytes
from narcissus._scratch import scratch_folder
from narcissus._unchanged import note_reading, require_unchanged, unchanged_files
from narcissus.errors import InputError


def rewrite(path):
    path.write_bytes(b"others")


def replace(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def link(path):
    target = path.with_name("target")
    path.rename(target)
    target.write_bytes(b"others")
    path.symlink_to(target)


def disguise(path):
    """Write other bytes, as many, and set the times back."""
    status = path.stat()
    rewrite(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def change_and_back(path):
    before = path.read_bytes()
    rewrite(path)
    path.write_bytes(before)


CHANGES = [rewrite, replace, link, disguise, change_and_back, os.unlink]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_between_two_readings_is_an_error(tmp_path, change):
    path = tmp_path / "table.csv"
    path.write_bytes(b"people")
    os.utime(path, (1, 1))

    def read_and_change():
        with unchanged_files():
            read_bytes(path)
            change(path)

    with pytest.raises(InputError, match=r"table\.csv was changed, .* nothing is judged"):
        read_and_change()


def test_what_stays_and_what_is_made_meanwhile_is_no_change(tmp_path):
    path, new = tmp_path / "table.csv", tmp_path / "new"
    path.write_bytes(b"people")
    with unchanged_files():
        assert read_bytes(path) == b"people"
        new.write_bytes(b"more")
        assert file_digest(path) != file_digest(new)
        with unchanged_files():
            read_bytes(path)
        require_unchanged()


def test_an_outer_watch_sees_what_changed_in_an_inner_one(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"people")

    def read_and_rewrite():
        with unchanged_files():
            with unchanged_files():
                read_bytes(path)
            rewrite(path)
            require_unchanged()

    with pytest.raises(InputError, match="was changed"):
        read_and_rewrite()


def test_nothing_is_watched_outside(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"people")
    with unchanged_files():
        pass
    read_bytes(path)
    rewrite(path)
    require_unchanged()


def test_a_folder_that_this_process_made_is_its_own(tmp_path):
    """A model that is trained here is written, read and written again."""
    with unchanged_files(), scratch_folder() as folder:
        for content in ("a", "bb"):
            (folder / "weights").write_text(content)
            note_reading(folder / "weights", (folder / "weights").stat())
