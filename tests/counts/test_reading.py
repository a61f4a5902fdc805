"""Published tables as offices print them: long and wide, and what is refused of them."""

import re

import pytest

from narcissus.counts import Publication
from narcissus.errors import InputError


def read(tmp_path, text, name="a.csv", **given):
    (tmp_path / name).write_text(text)
    return Publication(texts_tell_nothing=True, **given).read([tmp_path / name])


LONG = 'district,sex,count\nNorth,Male,12\nNorth,Female,x\nNorth,*,15\nTotal,Total,"1,015"\n'
WIDE = """Table 3. Cases

{head}
North,12,x,15
Total,"1,000",c,"1,015"
x: fewer than 5
Source: an office
"""


@pytest.mark.parametrize(
    ("head", "given"),
    [
        ("district \\ sex,Male,Female,Total", {}),
        ("district,Male,Female,Total", {"across": ["a.csv=sex"]}),
        (",sex,,\ndistrict,Male,Female,Total", {}),
        ("district,sex,,\n,Male,Female,Total", {}),
    ],
)
def test_wide_tables_are_long_ones(tmp_path, head, given):
    cells = read(tmp_path, WIDE.format(head=head), below=5, **given)
    found = {tuple(sorted(one.labels.items())): one for one in cells}
    assert len(found) == 6
    assert found[("district", "North"), ("sex", "Male")].count.low == 12
    assert found[("district", "North"), ("sex", "Female")].count.kind == "suppressed"
    assert found[(("sex", "Male"),)].count.low == 1000
    assert found[()].count.low == 1015
    assert found[()].place.startswith("a.csv: line ")


def test_long_tables(tmp_path):
    cells = read(tmp_path, LONG, below=5)
    assert [dict(one.labels) for one in cells] == [
        {"district": "North", "sex": "Male"}, {"district": "North", "sex": "Female"},
        {"district": "North"}, {},
    ]  # fmt: skip
    assert [(one.count.low, one.count.high) for one in cells] == [
        (12, 12), (0, 4), (15, 15), (1015, 1015),
    ]  # fmt: skip
    assert cells[1].place == "a.csv: line 3, column count"


def test_statistics_have_the_decimals_of_the_table(tmp_path):
    text = "sex,count,mean age,median_age\nF,4,33.5,30\n*,7,38,x\n"
    cells = read(tmp_path, text, variable="age=0:125")
    assert {name: one.places for name, one in cells[0].statistics.items()} == {
        "mean": 1, "median": 1,
    }  # fmt: skip
    assert set(cells[1].statistics) == {"mean"}
    assert read(tmp_path, text, variable="age=0:125", decimals=0)[0].statistics["mean"].places == 0


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("sex,count\nF,3\nF,4\n", {}, "two cells for sex = F: line 2, column count, and line 3"),
        ("sex,count\nF,3\nTotal,4\n*,5\n", {}, "two cells for all: line 3"),
        ("sex,count\nF,zz\n", {}, "line 2, column count: 'zz' is neither a number"),
        (
            "sex,count\nF,-1\n",
            {},
            "that --show-values shows is negative",
        ),
        ("sex,count\n,1\n", {}, "line 2, column sex is empty"),
        ("sex,sex,count,n\nF,F,1,2\n", {}, "two columns of the table hold the count"),
        ("sex,count,mean\nF,3,2\n", {}, "declare it, --variable"),
        (
            "sex,count,mean\nF,3,q\n",
            {"variable": "age=0:9"},
            "column mean: 'q' is neither a number",
        ),
        ("sex,A,B\nF,3,2\n", {}, "--across a.csv=NAME"),
        ("sex,race\nF,B\n", {}, "has neither a column `count`"),
        ("file,count\nF,3\n", {}, "rename the dimension `file`"),
        ("sex,count\n", {}, "no rows"),
        ("", {}, "is empty"),
        ("sex,count\nF,3\nGirls\nM,4\n", {}, "line 3 has"),
        ("sex,race,count\nF,B,3\nGirls,,\nM,B,4\n", {}, "line 3 has a text alone"),
        ('sex,count\n"F,3\n', {}, "a.csv"),
        ("sex,count,count\nF,3,3\n", {}, "two columns of the table hold the count"),
        ("sex,count\nF,3\n", {"mark": ["x"]}, "`--mark` is"),
        ("sex,count\nF,3\n", {"rounded": "0"}, "`--round` is"),
        ("sex,count\nF,3\n", {"within": ["sex"]}, "`--within` is"),
        ("sex,count\nF,3\n", {"across": ["sex"]}, "`--across` is"),
        ("sex,count\nF,3\n", {"variable": "age=9:0"}, "a variable is NAME=LOW:HIGH"),
        ("sex,count\nF,3\n", {"rounded": "3", "cell_key": "key"}, "not both"),
    ],
)
def test_what_is_refused(tmp_path, text, given, said):
    if given.get("cell_key"):
        (tmp_path / "key.csv").write_text("i,j,p\n0,0,1\n1,1,1\n")
        given = given | {"cell_key": tmp_path / "key.csv"}
    with pytest.raises(InputError) as error:
        read(tmp_path, text, **given)
    assert said in str(error.value)


def test_one_table_named_twice(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(LONG)
    with pytest.raises(InputError, match=r"two tables are named t\.csv"):
        Publication(texts_tell_nothing=True).read([path, path])


@pytest.mark.parametrize(
    "text",
    [
        "root,x,count\na,b,5\nc,d,hunter2secret\n",
        "root,x,count\na,b,5\nc,d,hunterisasecret\n",
        "root,x,count\na,b,5\nc,d,-71283\n",
        "root,x,count\na,b,5\nc,d,7128.3\n",
        "root,x,count\na,b,5\nc,d,71283712837\n",
        "root,x,count\na,b,5\nc,d,71283-9\n",
        "root,x,count,mean\na,b,5,1\nc,d,7,hunter secret\n",
        "root:$6$saltsalt$HASHsecret:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n",
        "root:x:0:0:secret,,,:/root:/bin/sh\nbin:x:1:1:bin,,,:/:/bin/false\n",
        "PASSWORD=secret\nUSER=71283\n",
        "a,count\nx,1\n\nsecret 71283\nb,2\nc,3\nd,4\ne,5\nf,6\n",
    ],
)
def test_no_message_quotes_a_cell(text, tmp_path):
    """A stranger's study may name any file as a table."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, "t.csv", below=5)
    assert not re.search("secret|71283|7128", str(caught.value))
