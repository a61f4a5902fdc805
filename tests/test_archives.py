"""No reader of archives takes one of two members of a name: programs differ in which they take."""

import io
import re
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import narcissus
from narcissus import read_table
from narcissus._arrays import unpack
from narcissus._files import unpacked_name
from narcissus.channels import read_channel
from narcissus.counts.books import choose_sheets, list_sheets
from narcissus.errors import InputError
from narcissus.extraction.classifier import read_dense_net
from narcissus.extraction.files import (
    DataSet,
    arrays_of,
    check_release,
    headers_of,
    refuse_pickle,
)
from narcissus.extraction.images import LabelledImages, read_images
from narcissus.tables.leftover import count_left_over
from narcissus.tables.metadata import read_metadata
from narcissus.tables.packages import list_contents


def npy(values):
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


def write(path, members):
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore")
        for name, content in members:
            archive.writestr(name, content)
    return path


IMAGES = np.arange(48.0).reshape(3, 4, 4)
MEMBERS = {
    "images": npy(IMAGES),
    "matrix": npy(np.full((2, 2), 0.5)),
    "fc1.weight": npy(np.ones((3, 2))),
}
LAYERS = ["fc1", "fc2"]
READERS = {
    "headers": ("images", headers_of),
    "arrays": ("images", arrays_of),
    "data set": ("images", DataSet.read),
    "images": ("images", read_images),
    "images with labels": ("images", LabelledImages.read),
    "network": ("fc1.weight", lambda path: read_dense_net(path, LAYERS)),
    "release": ("images", check_release),
    "channel": ("matrix", read_channel),
    "store": ("images", lambda path: unpack(path.read_bytes())),
}
"""Each reader of arrays in an archive, and the array that it asks for."""


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("names", ["{0}.npy {0}.npy", "{0} {0}.npy", "{0}.npy {0}", "{0} {0}"])
def test_no_reader_takes_one_of_two_arrays_of_a_name(tmp_path, reader, names):
    name, read = READERS[reader]
    members = [(member, MEMBERS[name]) for member in names.format(name).split()]
    with pytest.raises(InputError, match=r"holds .*(twice|which are one array)"):
        read(write(tmp_path / "a.npz", members))


def test_a_suffix_that_stands_twice_hides_no_array(tmp_path):
    for other in ("images.npy.npy", "images.npy.npy.npy"):
        path = write(tmp_path / "a.npz", [("images.npy", MEMBERS["images"]), (other, npy(IMAGES))])
        with pytest.raises(InputError, match="which are one array"):
            arrays_of(path)
    np.savez(tmp_path / "b.npz", images=IMAGES, labels=np.arange(3))
    assert LabelledImages.read(tmp_path / "b.npz").rows.shape == (3, 16)


OF_TABLES = {
    "table": read_table,
    "contents": list_contents,
    "sheets": choose_sheets,
    "names of sheets": list_sheets,
    "metadata": read_metadata,
}


def a_book(path):
    library = pytest.importorskip("openpyxl", reason="an extra: formats")
    book = library.Workbook()
    for row in (["age", "sex"], [30, "f"], [40, "m"], [50, "f"]):
        book.active.append(row)
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        return [(member, archive.read(member)) for member in archive.namelist()]


@pytest.mark.parametrize("reader", OF_TABLES)
@pytest.mark.parametrize("change", [str, str.upper])
def test_no_reader_takes_one_of_two_parts_of_a_book(tmp_path, reader, change):
    """Excel takes names of parts in any case."""
    path = tmp_path / "a.xlsx"
    members = a_book(path)
    OF_TABLES[reader](path)
    (sheet,) = [pair for pair in members if pair[0] == "xl/worksheets/sheet1.xml"]
    write(path, [*members, (change(sheet[0]), sheet[1])])
    with pytest.raises(InputError, match=r"holds .*(twice|which are one part)"):
        OF_TABLES[reader](path)


@pytest.mark.parametrize("read", [read_table, unpacked_name, read_metadata, refuse_pickle])
def test_no_reader_takes_one_of_two_tables_of_a_name(tmp_path, read):
    path = write(tmp_path / "a.csv.zip", [("a.csv", "x\n1\n"), ("a.csv", "x\n2\n")])
    with pytest.raises(InputError, match="twice"):
        read(path)
    assert count_left_over(path) is None


CALLS = {
    *(("_archives.py", "ZipFile"), ("_files.py", "ZipFile"), ("_arrays.py", "load")),
    *(("extraction/files.py", "load"), ("channels/files.py", "load")),
    *(("channels/files.py", "load_npz"), ("tables/sheets.py", "ExcelReader")),
    ("counts/books.py", "load_workbook"),
}
"""Where a library opens an archive: `opened_archive` looks at its members before each."""


def test_every_call_that_opens_an_archive_is_one_of_these():
    root = Path(narcissus.__file__).parent
    call = re.compile(r"\b(?:np\.(load)|(ZipFile|load_npz|load_workbook|ExcelReader|read_excel))\(")
    found = {
        (path.relative_to(root).as_posix(), match[1] or match[2])
        for path in root.rglob("*.py")
        for match in call.finditer(path.read_text(encoding="utf-8"))
    }
    assert found == CALLS


@pytest.mark.parametrize("content", [b"", b"hello", b"a longer text, of more than a header" * 9])
def test_a_member_that_is_no_array_is_named(tmp_path, content):
    path = write(tmp_path / "a.npz", [("x.npy", npy(IMAGES)), ("README.txt", content)])
    for read in (headers_of, arrays_of, lambda path: read_dense_net(path, LAYERS)):
        with pytest.raises(InputError, match=r"its member `README.txt` is no array"):
            read(path)
    (tmp_path / "b.npy").write_bytes(content)
    with pytest.raises(InputError, match="does not begin as an array"):
        headers_of(tmp_path / "b.npy")
