"""Ordinary tables ask little: trees of codes, plain areas, two heads, exact totals, releases."""

import random

import pytest

from narcissus.counts import Publication, audit_tables
from narcissus.counts.marks import Rules
from narcissus.counts.notes import is_neutral
from narcissus.errors import InputError

from .test_layouts import conclude, write


def draw_codes(rng):
    """Return a tree of codes of two levels below a root, with a count of each code for men."""
    root = rng.choice(["DE", "FR", "A"])
    counts = {}
    for first in range(1, rng.randint(2, 4) + 1):
        parts = {f"{root}{first}{k}": rng.randint(30, 900) for k in range(1, rng.randint(2, 4) + 1)}
        counts |= {f"{root}{first}": sum(parts.values()), **parts}
    total = sum(count for code, count in counts.items() if len(code) == len(root) + 1)
    return {root: total, **counts}


@pytest.mark.repeats(5, 40, "seeds")
def test_codes_of_one_tree_ask_nothing(tmp_path, seeds):
    for seed in range(seeds):
        rng = random.Random(seed)
        men, women = draw_codes(rng), {}
        root = next(iter(men))
        leaves = [code for code in men if len(code) == len(root) + 2]
        women = {code: rng.randint(30, 900) for code in leaves}
        for depth in (1, 0):
            for code in men:
                if len(code) == len(root) + depth:
                    ends = [k for k in women if k.startswith(code) and len(k) == len(code) + 1]
                    women[code] = sum(women[k] for k in ends)
        hidden = set(rng.sample(leaves, rng.randint(0, 2)))
        lines = [f"{code},{'c' if code in hidden else men[code]},{women[code]}" for code in men]
        path = write(tmp_path, "\n".join(["geo,M,F", *lines]) + "\n")
        tables = Publication(mark=["c=any"]).understand([path])
        assert not tables.unaccounted, (seed, tables.unaccounted)
        parts = {code: code[:-1] for code in men if len(code) == len(root) + 2}
        assert tables.structure.parents["geo"] == parts


NUTS = "geo,M,F\nDE,120,131\nDE1,60,67\nDE11,40,c\nDE12,20,c\nDE2,60,64\nDE21,c,30\nDE22,c,34\n"


def test_a_tree_of_codes_is_a_named_premise_where_numbers_are_hidden(tmp_path):
    hidden = NUTS.replace("DE1,60", "DE1,c")
    tables = Publication(mark=["c=any"]).understand([write(tmp_path, hidden)])
    assert not tables.unaccounted
    assert any("their code begins with" in premise for premise in tables.takes_as_given)


def test_codes_that_numbers_contradict_are_no_tree(tmp_path):
    """Where the parts do not sum to the label, it holds others, and waits for a declaration."""
    text = NUTS.replace("DE12,20", "DE12,11")
    tables = Publication(mark=["c=any"]).understand([write(tmp_path, text)])
    assert tables.unaccounted
    assert "DE12" not in tables.structure.parents.get("geo", {})


def test_marks_that_sums_contradict_are_named_and_no_part_is_invented(tmp_path):
    path = write(tmp_path, NUTS)
    tables = Publication(below=5).understand([path])
    assert not tables.unaccounted
    with pytest.raises(InputError, match="--mark"):
        audit_tables(tables.cells, tables.structure)


def test_no_other_part_is_proposed_where_a_printed_row_sums(tmp_path):
    tables = Publication(below=5).understand([write(tmp_path, NUTS)])
    assert not any("other DE" in question.declaration for question in tables.unaccounted)


@pytest.mark.parametrize(
    "text",
    [
        "area,sex,count\nNorth,F,12\nNorth,M,15\nSouth,F,14\nSouth,M,22\n",
        "area,sex,count\nNorth,F,109\nNorth,M,115\nSouth,F,112\nSouth,M,190\n",
        "area,ill,count\nNorth,yes,x\nNorth,no,x\nNorth,Total,6\nSouth,no,30\nSouth,Total,30\n"
        "West,yes,9\nWest,no,12\nWest,Total,21\n",
    ],
)
def test_of_plain_areas_that_are_far_apart_the_likelier_declaration_comes_first(tmp_path, text):
    rules = {"below": 5, "no_zeros": True} if ",x" in text else {}
    [question] = conclude(write(tmp_path, text), 1, **rules)[1].unaccounted
    assert question.declaration.startswith("`--part South`")


def test_a_total_of_two_and_two_others_is_asked_for(tmp_path):
    path = write(tmp_path, "area,count\nEmployed,50\nUnemployed,6\nQ,58\n")
    assert conclude(path, 1)[0] == "undeclared"


@pytest.mark.parametrize(
    ("head", "names"),
    [
        (";Femmes;;;Hommes;;\nCanton;0-17;18-64;65+;0-17;18-64;65+", ("sex", "columns")),
        (";Females;;;Males;;\nArea;0-17;18-64;65+;0-17;18-64;65+", ("sex", "columns")),
        (";Frauen;;;M\u00e4nner;;\nKreis;0-17;18-64;65+;0-17;18-64;65+", ("sex", "columns")),
        (";Frauen;;;M\u00e4nner;;\nAlter und Kreis;0-17;18-64;65+;0-17;18-64;65+", ("sex",)),
        (";2019;;;2020;;\nKreis;0-17;18-64;65+;0-17;18-64;65+", ("year", "columns")),
        (";2019;;;2020;;\nArea;Female;Male;Divers;Female;Male;Divers", ("year", "sex")),
    ],
)
def test_two_heads_that_anybody_knows_need_no_name(tmp_path, head, names):
    path = write(tmp_path, f"{head}\nAa;120;310;88;130;305;70\nBb;20;51;19;25;48;x\n")
    tables = Publication(below=5).understand([path])
    dimensions = {use.column for use in tables.layouts[0].columns if use.detail == "across"}
    assert {*names} <= dimensions


def test_two_unknown_heads_are_asked_for(tmp_path):
    path = write(tmp_path, ";Blue;;Green;\nArea;Round;Long;Round;Long\nAa;12;31;8;13\nBb;9;8;7;6\n")
    with pytest.raises(InputError, match="Name both"):
        Publication().understand([path])


def test_releases_of_one_name_are_named_with_their_folder(tmp_path):
    for folder, north in (("old", "x"), ("new", "3")):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, f"area,count\nNorth,{north}\nSouth,20\nTotal,23\n")
    paths = [tmp_path / folder / "t.csv" for folder in ("old", "new")]
    tables = Publication(below=5).understand(paths)
    assert {cell.file for cell in tables.cells} == {"old/t.csv", "new/t.csv"}
    with pytest.raises(InputError, match=r"two tables are named t\.csv"):
        Publication(below=5).understand([paths[0], paths[0]])


EXACT = "area,F,M,Total\nNorth,10,15,23\nSouth,15,5,18\nWest,0,25,26\nTotal,25,45,67\n"


def test_totals_that_are_exact_beside_rounded_counts_are_a_named_premise(tmp_path):
    tables = Publication(rounded="5", below=5).understand([write(tmp_path, EXACT)])
    assert any("are printed exactly" in text for text in tables.takes_as_given)
    cells = {(cell.line, cell.column): cell.count for cell in tables.cells}
    assert (cells[2, "Total"].low, cells[2, "Total"].high) == (23, 23)
    assert (cells[2, "F"].low, cells[2, "F"].high) == (8, 12)


def test_counts_that_are_no_totals_are_all_rounded(tmp_path):
    path = write(tmp_path, EXACT.replace("North,10", "North,11"))
    with pytest.raises(InputError, match="no multiple of 5"):
        Publication(rounded="5").understand([path])


def test_totals_that_are_multiples_stay_rounded(tmp_path):
    text = "area,F,M,Total\nNorth,10,15,25\nSouth,15,5,20\nTotal,25,20,45\n"
    tables = Publication(rounded="5").understand([write(tmp_path, text)])
    assert {cell.count.kind for cell in tables.cells} == {"rounded"}


ZEROS = (
    "area,sex,count\nNorth,F,c\nNorth,M,5\nNorth,Total,5\nSouth,F,9\nSouth,M,8\nSouth,Total,17\n"
)


def test_a_contradiction_names_the_declaration_that_causes_it(tmp_path):
    path = write(tmp_path, ZEROS)
    tables = Publication(mark=["c=any"], no_zeros=True, texts_tell_nothing=True).understand([path])
    with pytest.raises(InputError, match="`--no-zeros` excludes"):
        audit_tables(tables.cells, tables.structure)


def test_a_contradiction_of_numbers_blames_no_declaration(tmp_path):
    path = write(tmp_path, ZEROS.replace("South,Total,17", "South,Total,19"))
    tables = Publication(mark=["c=any"], no_zeros=True, texts_tell_nothing=True).understand([path])
    with pytest.raises(InputError) as error:
        audit_tables([cell for cell in tables.cells if "South" in cell.labels.values()])
    assert "no-zeros" not in str(error.value)


@pytest.mark.parametrize(
    "note", ["a Provisional.", "b Revised.", "r Revised figures.", "* Estimated."]
)
def test_notes_behind_a_letter_are_neutral(note):
    assert is_neutral(note, Rules(), set(), set())


@pytest.mark.parametrize("note", ["b Three are women.", "b North 3", "c Half of them."])
def test_notes_that_tell_a_count_are_not_neutral_behind_a_letter(note):
    assert not is_neutral(note, Rules(), set(), {"North"})


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("mean age", "--variable age=0:125"),
        ("average_age", "--variable age=0:125"),
        ("Durchschnittsalter", "--variable age=0:125"),
        ("mean income", "--variable income="),
    ],
)
def test_a_mean_of_a_named_variable_asks_for_its_range(tmp_path, name, option):
    path = write(tmp_path, f"area,count,{name}\nNorth,x,33.33\nSouth,20,40.05\nEast,x,41.50\n")
    tables = Publication(below=5, flat=["area"]).understand([path])
    [question] = tables.unaccounted
    assert option in question.declaration


def test_a_contradiction_ends_in_time(tmp_path):
    path = write(tmp_path, NUTS)
    tree = ["geo:DE=DE1,DE2", "geo:DE1=DE11,DE12", "geo:DE2=DE21,DE22"]
    tables = Publication(below=5, hierarchy=tree, texts_tell_nothing=True).understand([path])
    with pytest.raises(InputError, match="contradict each other"):
        audit_tables(tables.cells, tables.structure, seconds=1)
