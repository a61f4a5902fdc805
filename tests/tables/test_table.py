"""A table by hand, its parts and its digest."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.tables import Table, read_table

GOOD = "age,sex,town\n31,f,Ulm\n42,m,Bonn\n9,f,Bonn\n31,m,Ulm\n"


def decoded(table):
    return [
        tuple(table.labels[j][code] for j, code in enumerate(row)) for row in table.codes.tolist()
    ]


def test_digest_changes_with_every_part(write):
    table = read_table(write(GOOD))
    seen = {table.digest}
    for content in (GOOD.replace("age", "Age"), GOOD.replace("Ulm", "Koln"), GOOD + "9,f,Ulm\n"):
        seen.add(read_table(write(content)).digest)
    assert len(seen) == 4
    assert table.select(table.names).digest == table.digest
    assert len(table.digest) == 64


def test_select_and_index(write):
    table = read_table(write(GOOD))
    part = table.select(["town", "age"])
    assert part.names == ("town", "age")
    assert part.values[1].tolist() == [9, 31, 42]
    assert decoded(part)[0] == ("Ulm", "31")
    assert table.index("sex") == 1
    with pytest.raises(InputError, match=r"no column `twon`; did you mean `town`\?"):
        table.index("twon")


def test_a_table_by_hand_is_checked():
    labels, codes = (("a", "b"), ("1", "2")), np.array([[0, 1], [1, 0]])
    assert Table(("x", "y"), labels, (False, True), codes).values[1].tolist() == [1, 2]
    for arguments, message in [
        ((("x", "x"), labels, (False, True), codes), "must differ"),
        ((("x",), labels, (False, True), codes), "one entry for each of 2 columns"),
        ((("x", "y"), (("a", "a"), ("1", "2")), (False, True), codes), "labels of column `x`"),
        ((("x", "y"), labels, (False, True), codes + 1), r"`x` must be in 0\.\.1, got 1 to 2"),
        ((("x", "y"), labels, (False, True), codes * 0.5), "must be integers"),
        ((("x", "y"), labels, (False, True), codes[:0]), "none empty"),
        ((("x", "y"), labels, (False, True), codes, (None, None)), "`values` must hold"),
    ]:
        with pytest.raises(InputError, match=message):
            Table(*arguments)
