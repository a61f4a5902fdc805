"""Trials that somebody else put into a results folder, with a checksum that fits."""

import io
import sqlite3
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from narcissus._arrays import pack, unpack
from narcissus.study.store import FILE


def forge(payload):
    with sqlite3.connect(Path("out") / FILE) as db:
        db.execute(
            "UPDATE trials SET payload = ?, crc = ? WHERE key = '2/0'",
            (payload, zlib.crc32(payload)),
        )
    db.close()


def bomb():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("guess.npy", bytes(2**28 + 1))
    return buffer.getvalue()


JUNK = {
    "junk": lambda good: b"junk",
    "empty": lambda good: b"",
    "an empty archive": lambda good: pack({}),
    "other names": lambda good: pack({"x": np.zeros(3)}),
    "a missing array": lambda good: pack({k: v for k, v in good.items() if k != "guess"}),
    "another shape": lambda good: pack({**good, "guess": np.zeros((2, 2))}),
    "texts": lambda good: pack({**good, "prior/hits": np.array("a")}),
    "an array too many": lambda good: pack({**good, "extra/hits": np.zeros(2)}),
    "a bomb": lambda good: bomb(),
    "cut off": lambda good: pack(good)[:-30],
}


@pytest.mark.parametrize("made", JUNK.values(), ids=JUNK)
def test_a_payload_that_no_run_wrote_is_one_clear_error(study, narcissus, made):
    attacks = {"prior": {}, "posterior": {"trials": 3}, "ceiling": {}}
    path = study(attacks=attacks)
    assert narcissus("audit", path, "--out", "out", "--quiet")[0] == 0
    db = sqlite3.connect(Path("out") / FILE)
    [(good,)] = db.execute("SELECT payload FROM trials WHERE key = '2/0'").fetchall()
    db.close()
    forge(made(unpack(good)))
    code, out, err = narcissus("audit", path, "--out", "out", "--quiet")
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert "was not written by this study" in err
    assert "--restart" in err
    assert narcissus("audit", path, "--out", "out", "--quiet", "--restart")[0] == 0
