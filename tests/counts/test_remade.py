"""Tables that are made again print percentages as the published one does."""

import numpy as np
import pandas as pd
import pytest

from narcissus.counts import AsPublished, Publication, WantedSecret
from narcissus.counts.game import PosteriorReader
from narcissus.errors import InputError

from .test_layouts import write

TEXT = "ill,count,percent\nno,x,80.0\nyes,x,20.0\nTotal,x,100\n"


def people(no, yes):
    return pd.DataFrame({"ill": ["no"] * no + ["yes"] * yes})


def made(tmp_path, text, some, rng=0, **given):
    declared = Publication(texts_tell_nothing=True, **given)
    tables = declared.understand([write(tmp_path, text)])
    publish = AsPublished(tables.cells, tables.structure, declared.rules)
    publish.check(people(12, 3))
    return publish(some, np.random.default_rng(rng)), tables


def test_percentages_are_those_of_the_people_in_the_table(tmp_path):
    cells, tables = made(tmp_path, TEXT, people(9, 4), mark=["x=any"])
    assert [float(100 * one.share.value) for one in cells[:2]] == [69.2, 30.8]
    reader = PosteriorReader(
        cells, tables.structure, WantedSecret("ill", ()), None, rng=np.random.default_rng(0),
        steps=10**5,
    )  # fmt: skip
    assert reader.believed("uniform") == pytest.approx(9 / 13, abs=0.01)  # without them, it is 1/2


def test_percentages_are_hidden_where_the_published_table_hides_them(tmp_path):
    text = "ill,count,percent\nno,12,80.0\nyes,x,x\nTotal,15,100\n"
    for yes, is_hidden in ((3, True), (6, False)):
        cells, _ = made(tmp_path, text, people(9, yes), below=4)
        assert [one.share is None for one in cells] == [False, is_hidden, True]


def test_percentages_of_other_people_are_refused(tmp_path):
    with pytest.raises(InputError, match="percentage of this row is not that of"):
        made(tmp_path, TEXT.replace("80.0", "70.0").replace("20.0", "30.0"), people(9, 4),
             mark=["x=any"])  # fmt: skip
