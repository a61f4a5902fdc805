"""What the page reads and writes lies in the folder that was opened, and is for one user alone."""

import asyncio
import os
import unicodedata

import pytest

from narcissus.app.folder import LARGEST_STUDY, Folder, file_of, parsed, reports
from narcissus.errors import InputError, TooLargeError


@pytest.fixture
def folder(tmp_path):
    root = (tmp_path / "root").resolve()
    root.mkdir()
    (tmp_path / "outside.csv").write_text("a\n1\n")
    (root / "leads-out.csv").symlink_to(tmp_path / "outside.csv")
    (root / "out").symlink_to(tmp_path)
    (root / "loop").symlink_to(root / "loop")
    (root / "in.csv").write_text("a\n1\n")
    (root / "leads-in.csv").symlink_to(root / "in.csv")
    return Folder(root)


OUTSIDE = [
    "../outside.csv", "/etc/passwd", "leads-out.csv", "out/outside.csv", "x/../../outside.csv",
    "..", "out", "a\0b", "..\\outside.csv/../../x", "loop/../../outside.csv",
    "./" * 520 + "../outside.csv", "x/../" * 2000 + "../outside.csv", "x/" * 900 + "../" * 901,
    "y" * 300 + "/../../outside.csv", " " * 2000 + "/../../outside.csv",
]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_path_that_leads_out_is_refused(folder, name):
    with pytest.raises(InputError, match=r"outside|no name"):
        folder.inside(name)
    if "\0" not in name:
        for study in ({"data": {"path": name}}, {"x": [{"y": [name]}]}, {"policy": name}):
            with pytest.raises(InputError, match="outside"):
                folder.require_inside(study)


def test_what_lies_inside_is_taken(folder):
    for name in ("in.csv", "leads-in.csv", "new.csv", "./in.csv", "a/b.csv"):
        assert folder.inside(name).is_relative_to(folder.root)
        folder.require_inside({"data": {"path": name}})
    folder.require_inside({"a": ["x" * 5000, "yes/no", "1/2", "", "ä" * 300, 1, 2.5, True]})
    for key in ("unknown", "known", "columns", "drop", "title", "reason", "origin"):
        folder.require_inside({"x": {key: ["/day", "../x"]}})
    assert folder.tables() == ["in.csv", "leads-in.csv"]
    assert folder.new_name("Umla\u0308ute x.csv") == "Uml\u00e4ute-x"


@pytest.mark.parametrize("name", ["", "..", "../x", ".hidden", "a/b", "no", "a\0", "linked"])
def test_no_other_file_is_a_study(folder, name):
    (folder.root.parent / "x.toml").write_text("")
    (folder.root / "linked.toml").symlink_to(folder.root.parent / "x.toml")
    with pytest.raises(InputError, match=r"no study|no name of a study"):
        folder.study(name)


def test_a_study_file_is_private_and_bounded(folder):
    folder.write("new", "a = 1\n", new=True)
    assert (folder.root / "new.toml").stat().st_mode & 0o777 == 0o600
    with pytest.raises(TooLargeError):
        folder.write("new", "#" * LARGEST_STUDY + "\n")
    (folder.root / "new.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="no UTF-8"):
        folder.read("new")
    for text in ("a = ", "a = 1\na = 2", "[" * 10_000, "\ud800", "a = 1 \x01"):
        with pytest.raises(InputError, match="not valid TOML"):
            parsed(text, "x.toml")


def sent(folder, name, *pieces, **more):
    async def stream():
        for piece in pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    return asyncio.run(folder.take(name, stream(), **more))


def test_an_upload_is_for_this_user_alone_and_replaces_nothing(folder):
    before = os.umask(0)
    try:
        assert sent(folder, "new.csv", b"a,b\n", b"1,2\n") == "uploads/new.csv"
    finally:
        os.umask(before)
    path = folder.root / "uploads" / "new.csv"
    assert path.read_bytes() == b"a,b\n1,2\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    with pytest.raises(InputError, match="there already"):
        sent(folder, "new.csv", b"other")
    assert path.read_bytes() == b"a,b\n1,2\n"
    assert [one.name for one in path.parent.iterdir()] == ["new.csv"]


def test_an_upload_is_bounded_and_leaves_nothing_behind(folder):
    with pytest.raises(TooLargeError, match="larger than 10 bytes"):
        sent(folder, "big.csv", b"12345", b"67890", b"1", most=10)
    with pytest.raises(ZeroDivisionError):  # whatever ends it
        sent(folder, "cut.csv", b"12345", ZeroDivisionError())
    assert list((folder.root / "uploads").iterdir()) == []


@pytest.mark.parametrize("name", ["x.sh", "x.toml", "x.py", "", "x.csv.sh", "csv"])
def test_only_a_table_is_taken(folder, name):
    with pytest.raises(InputError, match="no name of a table"):
        sent(folder, name, b"x")
    assert not (folder.root / "uploads").exists()


def test_an_upload_goes_through_no_link(folder):
    (folder.root / "uploads").symlink_to(folder.root.parent)
    with pytest.raises(InputError, match="is reached by a link"):
        sent(folder, "new.csv", b"x")
    assert not (folder.root.parent / "new.csv").exists()
    (folder.root / "uploads").unlink()
    (folder.root / "uploads").write_text("a file")
    with pytest.raises(InputError, match="is no folder"):
        sent(folder, "new.csv", b"x")


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_an_upload_stays_where_it_began(folder):
    """Who shares the folder swaps it for a link while the pieces come."""
    away = folder.root.parent / "away"
    away.mkdir()

    async def stream():
        yield b"a,b\n"
        (folder.root / "uploads").rename(folder.root / "before")
        (folder.root / "uploads").symlink_to(away)
        yield b"1,2\n"

    asyncio.run(folder.take("new.csv", stream()))
    assert list(away.iterdir()) == []
    assert (folder.root / "before" / "new.csv").read_bytes() == b"a,b\n1,2\n"


def test_results_that_lead_out_are_not_shown(folder, kept_audit):
    away, results = folder.root.parent / "away", folder.root / "results"
    kept_audit("table").save(away / "one")
    results.symlink_to(away)
    assert reports(results, "one", None) == []
    for place in ("one", "../away/one", "one/../one", "/etc", "", "a/b/c", ".x", "one\0"):
        with pytest.raises(InputError, match=r"no report|no such report"):
            file_of(results, place, "report.html")
    results.unlink()
    kept_audit("table").save(results / "one")
    assert file_of(results, "one", "report.html").is_file()
    assert [one.place for one in reports(results, "one", None)] == ["one"]


@pytest.mark.parametrize(
    "name",
    [
        "-x.csv", "\N{GRINNING FACE}.csv", "e\u0301.csv", "_data.csv", "survey, v2.csv",
        "people's.csv", "a&b.csv", "a<b>.csv", '"a".csv', "100%.csv", "a#b.csv",
        "50\N{EURO SIGN}.csv",
    ],
)  # fmt: skip
def test_an_upload_may_have_any_harmless_name(folder, name):
    path = sent(folder, name, b"a,b\n1,2\n")
    assert path == "uploads/" + unicodedata.normalize("NFC", name)
    assert path in folder.tables()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../a.csv", "holds /"), ("a\\b.csv", r"holds \\"), ("C:a.csv", "holds :"),
        ("a\0.csv", "nobody sees"), ("a\nb.csv", "nobody sees"), ("a\u202evsc.csv", "nobody sees"),
        ("a\u200b.csv", "nobody sees"), ("a\udcff.csv", "nobody sees"), (".a.csv", "hidden"),
        ("a" * 300 + ".csv", "longer"), ("\u00e9" * 130 + ".csv", "longer"),
    ],
)  # fmt: skip
def test_a_refused_name_of_an_upload_is_told_why(folder, name, why):
    with pytest.raises(InputError, match=why):
        sent(folder, name, b"a\n")
    assert not (folder.root / "uploads").exists()
