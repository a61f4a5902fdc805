"""Records: whatever is missing, misspelt or out of range is refused, and its place is named."""

import copy
import json
import os
from pathlib import Path

import pytest

from narcissus._files import write_atomically
from narcissus.errors import InputError
from narcissus.study.reading import read_record
from narcissus.study.record import digest_of

# names, not keys: of attacks, columns, methods, packages, inputs
MAPS = {
    "attacks", "columns", "estimators", "stand_ins", "complexity", "endings", "packages", "digests",
}  # fmt: skip


def paths(value, pattern=(), path=()):
    """Yield (pattern, path) of everything in a record; a pattern leaves out numbers and names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            name = "*" if path and path[-1] in MAPS else key
            yield (*pattern, name), (*path, key)
            yield from paths(inner, (*pattern, name), (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield (*pattern, 0), (*path, place)
            yield from paths(inner, (*pattern, 0), (*path, place))


def places(data):
    """Give one path for each pattern; of numbers, one that is a number."""
    found = {}
    for pattern, path in paths(data):
        if pattern not in found or at(data, found[pattern]) is None:
            found[pattern] = path
    return list(found.values())


def at(data, path):
    for part in path:
        data = data[part]
    return data


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def delete(parent, key):
    del parent[key]


def misspell(parent, key):
    parent[f"{key}_"] = parent.pop(key)


def refused(data, tmp_path):
    """Seal a record anew and read it; give what is said, '' if it is taken."""
    data["digest"] = digest_of(data)
    path = tmp_path / "record.json"
    path.write_text(json.dumps(data))
    try:
        read_record(path)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("change", [delete, misspell])
@pytest.mark.one_in(3)
def test_no_key_may_be_left_out_or_misspelt(record_data, tmp_path, change):
    taken = []
    for path in places(record_data):
        key = path[-1]
        if isinstance(key, int) or (len(path) > 1 and path[-2] in MAPS and key != "study"):
            continue
        if path == ("digest",):
            continue
        data = copy.deepcopy(record_data)
        change(at(data, path[:-1]), key)
        if not refused(data, tmp_path):
            taken.append(path)
    assert taken == []


@pytest.mark.one_in(3)
def test_no_number_may_be_out_of_range(record_data, tmp_path):
    taken = []
    for path in places(record_data):
        if not is_number(at(record_data, path)):
            continue
        said = []
        for wrong in (-3, 7, "1", True):
            data = copy.deepcopy(record_data)
            at(data, path[:-1])[path[-1]] = wrong
            said.append(refused(data, tmp_path))
        if not (said[0] or said[1]) or not said[2] or not said[3]:
            taken.append((path, said))
    assert taken == []


@pytest.mark.parametrize(
    ("path", "wrong", "place"),
    [
        (("attackers", 0, "success", "trials"), -3, "results.attackers[0].success.trials: "),
        (("statement",), {}, "results.statement.name: "),
    ],
)
def test_the_place_of_a_mistake_is_named(old_record, tmp_path, path, wrong, place):
    data = read_record(old_record("last", "game")).to_dict()
    at(data["results"], path[:-1])[path[-1]] = wrong
    assert place in refused(data, tmp_path)


def test_reading_what_was_written_gives_the_same_record(record_data, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record_data))
    again = read_record(path)
    assert again.to_dict() == record_data
    assert json.loads(again.to_json()) == record_data


def test_results_are_frozen(old_record):
    record = read_record(old_record("last", "table"))
    with pytest.raises(ValueError, match="frozen"):
        record.detail.settings[0].trials = 1000
    with pytest.raises(ValueError, match="frozen"):
        record.status = "met"


@pytest.mark.skipif(os.name != "posix", reason="makes links")
def test_a_partial_file_that_is_a_link_is_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("victim").write_text("precious")
    Path("out").mkdir()
    Path(f"out/.record.json.{os.getpid()}.partial").symlink_to("../victim")
    write_atomically(Path("out/record.json"), "text")
    assert Path("out/record.json").read_text() == "text"
    assert os.listdir("out") == ["record.json"]
    assert Path("victim").read_text() == "precious"


def test_nothing_half_written_stays(tmp_path):
    (tmp_path / "record.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "record.json", "text")
    assert os.listdir(tmp_path) == ["record.json"]
