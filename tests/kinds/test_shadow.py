"""Kept records beside the frames and pages that were drawn of them before."""

import os
import re
from pathlib import Path

import pytest

from narcissus.audits import Audit
from narcissus.report import render_text
from narcissus.study.reading import read_record

SHADOW = Path(__file__).parent / "shadow"
STUDY = Path(__file__).parents[1] / "study"
FOLDERS = {
    "records": STUDY / "kept",
    "last": STUDY / "records" / "last",
}
TEXT = r"<StringDtype\(na_value=nan\)>|dtype\('O'\)"
NAMES = sorted(path.stem for path in SHADOW.glob("*.csv"))


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def record(name):
    folder, _, kind = name.partition("_")
    return read_record(FOLDERS[folder] / f"{kind}.json")


def test_the_frame_has_the_same_columns_and_numbers(name, record):
    frame = Audit(record).to_frame()
    found = frame.to_csv(index=False) + str(frame.dtypes.to_dict())
    shadow = (SHADOW / f"{name}.csv").read_text()
    # pandas before 3 kept texts as objects
    assert re.sub(TEXT, "text", found) == re.sub(TEXT, "text", shadow)


def test_the_page_says_the_same(name, record):
    """But for digests, which are of the new format."""

    def same(text):
        lines = [
            line
            for line in re.sub(r"(sha256:)?[0-9a-f]{64}", "#", text).splitlines()
            if not re.search("ecord format|format 2|same on every machine", line)
            and line.strip() != "#"
        ]
        return "\n".join(lines)

    text = render_text(record, internal=True)
    if os.environ.get("UPDATE_GOLDEN"):
        (SHADOW / f"{name}.txt").write_text(text)
    assert same(text) == same((SHADOW / f"{name}.txt").read_text())
