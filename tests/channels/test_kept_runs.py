"""Runs are kept as they come, and taken up where they stopped."""

import numpy as np
import pytest

from narcissus.channels.files import read_samples
from narcissus.channels.kept_runs import KeptRuns
from narcissus.channels.programs import Program
from narcissus.errors import InputError

PROGRAM = Program(["echo"], ("a", "b", "c"), prior=[0.2, 0.3, 0.5])


class Told:
    """Stands for a program: says how often it was run."""

    def __init__(self, fails_at=None, columns=1):
        self.times, self.fails_at, self.columns = 0, fails_at, columns

    def __call__(self, secret):
        self.times += 1
        if self.times == self.fails_at:
            raise KeyboardInterrupt
        return (f"{secret}{self.times % 2}",) * self.columns


@pytest.fixture
def kept(tmp_path):
    return lambda run, program=PROGRAM, seed=0: KeptRuns(program, run, tmp_path / "runs.csv", seed)


def test_it_goes_on_where_it_was_interrupted(kept, tmp_path):
    whole = kept(Told(columns=2))(50, None)
    (tmp_path / "runs.csv").unlink()
    cut = Told(fails_at=21, columns=2)
    with pytest.raises(KeyboardInterrupt):
        kept(cut)(50, None)
    with (tmp_path / "runs.csv").open("a") as file:
        file.write("a,half a li")  # as if ended while it wrote
    run = Told(columns=2)
    again = kept(run)
    assert len(again.rows) == 20
    secrets, outputs = again(50, None)
    assert secrets == whole[0]
    assert run.times == 30
    assert outputs.shape == (50, 2)
    found, columns, _ = read_samples(tmp_path / "runs.csv")
    assert found.tolist() == secrets
    assert list(columns) == ["output_1", "output_2"]
    more = again(10, None)
    everything = again.all()
    assert everything[0] == secrets + more[0]


def test_secrets_are_drawn_from_the_prior(kept):
    secrets, _ = kept(lambda s: (s,))(2000, None)
    assert [secrets.count(s) / 2000 for s in "abc"] == pytest.approx([0.2, 0.3, 0.5], abs=0.06)
    assert len({tuple(secrets[i : i + 4]) for i in range(0, 400, 4)}) > 30


def test_numbers_are_numbers(kept, tmp_path):
    _, outputs = kept(lambda s: (str(ord(s)),))(20, None)
    assert outputs.dtype == np.float64
    (tmp_path / "runs.csv").unlink()
    many = iter(["1"] * 15 + ["late"])
    with pytest.raises(InputError, match="'late' in run 16"):
        kept(lambda _: (next(many),))(16, None)


@pytest.mark.parametrize(
    ("program", "seed", "words"),
    [
        (Program(["echo", "-n"], ("a", "b", "c"), [0.2, 0.3, 0.5]), 0, "another command .command"),
        (Program(["echo"], ("a", "b"), None), 0, "secrets, prior"),
        (PROGRAM, 1, "seed"),
    ],
)
def test_runs_of_something_else_are_refused(kept, program, seed, words):
    kept(Told())(20, None)
    with pytest.raises(InputError, match=words):
        kept(Told(), program, seed)


def test_files_of_something_else_are_refused(kept, tmp_path):
    path, beside = tmp_path / "runs.csv", tmp_path / "runs.csv.json"
    path.write_text("secret,output\na,1\n")
    with pytest.raises(InputError, match="no file of runs"):
        kept(Told())
    path.unlink()
    kept(Told())(20, None)
    text = path.read_text()
    path.write_text(text.replace("\nc,", "\na,"))
    with pytest.raises(InputError, match="was changed: run"):
        kept(Told())
    beside.write_text("[]")
    with pytest.raises(InputError, match="damaged"):
        kept(Told())


@pytest.mark.parametrize(("second", "words"), [(("1", "2"), "print as many"), (("",), "empty")])
def test_a_run_that_differs_in_form_is_refused(kept, second, words):
    given = iter([("1",), second])
    with pytest.raises(InputError, match=words):
        kept(lambda _: next(given))(2, None)
