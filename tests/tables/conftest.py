"""Files of people for the tests of reading."""

from __future__ import annotations

import gzip

import pytest


@pytest.fixture(autouse=True)
def values_shown(monkeypatch):
    """Let messages quote cells, so that tests see which; that they do not is in test_visible."""
    monkeypatch.setenv("NARCISSUS_SHOW_VALUES", "1")


@pytest.fixture
def write(tmp_path):
    """Give a function that writes a file and gives its path."""

    def write(content, name="people.csv"):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


GOOD = "age,sex,town\n31,f,Ulm\n42,m,Bonn\n9,f,Bonn\n31,m,Ulm\n"


def decoded(table):
    return [
        tuple(table.labels[j][code] for j, code in enumerate(row)) for row in table.codes.tolist()
    ]
