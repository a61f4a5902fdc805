"""Bytes of a container that no reader of its table reads."""

import gzip
import io
import lzma
import struct
import subprocess
import zipfile
from shutil import which

import numpy as np
import pandas as pd
import pytest

from narcissus.tables.leftover import count_left_over

MORE = b"age,income\n31,41234\n"
ROWS = 3_000


def table(rows=ROWS):
    g = np.random.default_rng(1)
    frame = pd.DataFrame({
        "age": g.integers(18, 90, rows), "bmi": g.normal(25, 4, rows).round(1),
        "sex": pd.Categorical(g.choice(["f", "m"], rows)), "is": g.random(rows) < 0.5,
        "who": [f"person {at} " * 30 for at in range(rows)],
        "visits": pd.array(g.integers(0, 9, rows), "Int64"),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(g.integers(0, 99, rows), "D"),
    })  # fmt: skip
    frame.loc[3, "visits"] = pd.NA
    return frame


FRAME = table()


def by_arrow(**how):
    def write(path):
        arrow = pytest.importorskip("pyarrow")
        library = pytest.importorskip("pyarrow.parquet")
        library.write_table(arrow.Table.from_pandas(FRAME), path, **how)

    return write


def by_polars(method, **how):
    def write(path):
        polars = pytest.importorskip("polars")
        getattr(polars.from_pandas(FRAME), method)(path, **how)

    return write


def by_duckdb(path):
    library = pytest.importorskip("duckdb")
    with library.connect() as connection:
        connection.register("frame", FRAME)
        connection.sql(f"copy (select * from frame) to '{path}' (row_group_size 2048)")


def feather(**how):
    def write(path):
        arrow = pytest.importorskip("pyarrow")
        library = pytest.importorskip("pyarrow.feather")
        library.write_feather(arrow.Table.from_pandas(FRAME), path, chunksize=999, **how)

    return write


def by_program(command):
    def write(path):
        if which(command.split()[0]) is None:
            pytest.skip(f"{command.split()[0]} is not installed")
        FRAME.to_csv(path.parent / "a.csv", index=False)
        subprocess.run(f"{command} {path.name}", shell=True, check=True, cwd=path.parent)

    return write


def to_pipe(path):
    """Write an archive to what cannot seek: sizes follow the data of each member."""

    class Pipe(io.RawIOBase):
        kept = io.BytesIO()

        def writable(self):
            return True

        def write(self, data):
            return self.kept.write(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", FRAME.to_csv(index=False))
        archive.comment = b"a comment"
    path.write_bytes(pipe.kept.getvalue())


def large_zip(path):
    with (
        zipfile.ZipFile(path, "w") as archive,
        archive.open("a.csv", "w", force_zip64=True) as file,
    ):
        file.write(FRAME.to_csv(index=False).encode())


def as_csv(path):
    FRAME.to_csv(path, index=False)


ORDINARY = [
    ("a.parquet", by_arrow()),
    ("a.parquet", by_arrow(write_page_index=True, row_group_size=700, data_page_version="2.0")),
    ("a.parquet", by_arrow(use_dictionary=False, data_page_size=500, write_page_checksum=True)),
    ("a.parquet", by_polars("write_parquet")),
    ("a.parquet", by_polars("write_parquet", row_group_size=500, statistics="full")),
    ("a.parquet", by_duckdb),
    ("a.feather", feather()),
    ("a.feather", feather(compression="uncompressed")),
    ("a.arrow", by_polars("write_ipc")),
    ("a.arrow", by_polars("write_ipc", compression="zstd")),
    ("a.arrow", by_polars("write_ipc_stream")),
    ("a.csv.zip", as_csv),
    ("a.csv.zip", to_pipe),
    ("a.csv.zip", large_zip),
    ("a.csv.zip", by_program("zip -q -fd - a.csv >")),
    ("a.csv.gz", as_csv),
    ("a.csv.gz", by_program("gzip -c a.csv >")),
    ("a.csv.xz", as_csv),
    ("a.csv.xz", by_program("xz -c -T2 --block-size=9999 a.csv >")),
    ("a.csv.zst", by_program("zstd -q a.csv -o")),
    ("a.csv.zst", by_program("pzstd -q -p 2 a.csv -o")),
    ("a.xlsx", lambda path: FRAME.head(99).to_excel(path, index=False)),
]


@pytest.mark.parametrize(("name", "write"), ORDINARY)
def test_ordinary_files_have_no_bytes_beside_their_table(name, write, tmp_path):
    write(tmp_path / name)
    assert count_left_over(tmp_path / name) == 0


def before_end(data, length):
    return data[:-length] + MORE + data[-length:]


def hidden_member(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("hidden.csv", MORE)
        archive.writestr("a.csv", FRAME.to_csv(index=False))
        archive.filelist.pop(0)


def in_parquet(path):
    by_arrow()(path)
    data = path.read_bytes()
    path.write_bytes(before_end(data, 8 + int.from_bytes(data[-8:-4], "little")))


def after_footer(path):
    """Put bytes behind the footer of a Parquet file, and say that it is longer."""
    by_arrow()(path)
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little") + len(MORE)
    path.write_bytes(data[:-8] + MORE + struct.pack("<I", length) + data[-4:])


def in_arrow(path):
    feather()(path)
    data = path.read_bytes()
    path.write_bytes(before_end(data, 10 + int.from_bytes(data[-10:-6], "little")))


def and_skipped(path):
    by_program("zstd -q a.csv -o")(path)
    with path.open("ab") as file:
        file.write(struct.pack("<II", 0x184D2A50, len(MORE)) + MORE)


def second_member(path):
    """Append a stream of gzip without a row, whose header has a comment."""
    empty = gzip.compress(b"")
    header = empty[:3] + bytes([empty[3] | 16]) + empty[4:10]
    path.write_bytes(gzip.compress(b"a\n1\n") + header + MORE + b"\0" + empty[10:])


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.csv.zip", hidden_member),
        ("a.parquet", in_parquet),
        ("a.parquet", after_footer),
        ("a.feather", in_arrow),
        ("a.csv.zst", and_skipped),
        ("a.csv.gz", second_member),
    ],
)
def test_bytes_between_the_parts_of_a_file_are_counted(name, write, tmp_path):
    write(tmp_path / name)
    assert count_left_over(tmp_path / name) >= len(MORE)


@pytest.mark.parametrize("name", ["a.csv.zip", "a.csv.gz", "a.csv.xz", "a.csv.zst"])
def test_bytes_after_the_end_are_counted_and_zeros_are_not(name, tmp_path):
    path = tmp_path / name
    as_csv(path)
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(8))
    assert count_left_over(path) == 0
    path.write_bytes(whole + MORE)
    assert count_left_over(path) == len(MORE)


def test_streams_one_after_the_other_are_read(tmp_path):
    for name, pack in (("a.csv.gz", gzip.compress), ("a.csv.xz", lzma.compress)):
        (tmp_path / name).write_bytes(pack(b"a,b\n") + pack(b"1,2\n"))
        assert count_left_over(tmp_path / name) == 0


def test_a_file_whose_parts_cannot_be_told_has_no_count(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + b"\xff" * 40 + b"\x20\0\0\0PAR1")
    assert count_left_over(tmp_path / "a.parquet") is None
    (tmp_path / "a.csv").write_text("a,b\n")
    assert count_left_over(tmp_path / "a.csv") == 0


def zipped(path, extra, *, local=True):
    """Write an archive whose member has extra fields, before it and in the list of members."""
    with zipfile.ZipFile(path, "w") as archive:
        member = zipfile.ZipInfo("people.csv")
        member.extra = extra
        archive.writestr(member, "a,b\n1,2\n")
    if not local:  # the list alone
        data = path.read_bytes()
        begun = data.index(b"people.csv") + len("people.csv")
        assert data[begun : begun + len(extra)] == extra
        swapped = struct.pack("<HH", 0x5455, len(extra) - 4) + bytes(len(extra) - 4)
        path.write_bytes(data[:begun] + swapped + data[begun + len(extra) :])
    return path


def field(kind, content):
    return struct.pack("<HH", kind, len(content)) + content


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize(
    ("extra", "is_understood"),
    [
        (field(0x5455, b"\x01abcd"), True),
        (field(0x7875, b"\x01\x04\xe8\x03\0\0\x04\xe8\x03\0\0"), True),
        (field(0xA220, b"\x28\xa0\x05\0" + bytes(20)), True),
        (field(0x6375, b"412345;flu"), False),
        (field(0x4242, b"412345;flu"), False),
        (field(0x5455, b"412345;flu;412346"), False),
        (field(0xA220, b"\x28\xa0\x05\0" + b"412345;flu"), False),
        (field(0x5455, b"\x01abcd") + field(0x4242, b"412345"), False),
    ],
)
def test_extra_fields_of_a_member_count_unless_they_are_understood(
    tmp_path, extra, is_understood, local
):
    """Times, owners, sizes and padding are; whatever else stands there may be of people."""
    if not local and len(extra) > 17:
        pytest.skip("times are shorter")
    left = count_left_over(zipped(tmp_path / "file.zip", extra, local=local))
    assert (left == 0) == is_understood
