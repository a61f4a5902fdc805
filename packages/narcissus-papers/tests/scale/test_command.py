"""``narcissus-papers scale``: what it prints, leaves and refuses."""

import json

import pytest

from narcissus_papers.main import main


@pytest.fixture
def call(capsys):
    """Run a command of the papers in this process; give (exit code, output, errors)."""

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run


HALVES = (
    "scale",
    "xor-halves-together",
    "--over",
    "world.n=2:6:2",
    "--with",
    "success.length=1:3:1",
)
FEW = ("--trials", "60", "--seed", "1")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_shipped_study_is_drawn_by_its_name(call, here):
    code, out, err = call(*HALVES, *FEW)
    assert code == 0
    assert " ".join(out.split()).startswith(
        "PROVED: For world.n = 2 to 6, the largest gain of any attacker does not fall: it rises "
        "from 0.5 to 0.875."
    )
    assert "wrote results/xor-halves-together-scale/index.html" in out
    assert "of trials: 3 values of world.n" in err
    folder = here / "results" / "xor-halves-together-scale"
    assert {p.name for p in folder.iterdir()} == {
        "data.csv", "data.json", "index.html", "narcissus.marks", "picture.svg", "values",
    }  # fmt: skip
    # the same command finds what is finished
    code, again, err = call(*HALVES, *FEW)
    assert (code, again) == (0, out)
    assert "all 3 values of world.n were played earlier" in err


def test_json_is_what_is_written(call, here):
    code, out, err = call(*HALVES, *FEW, "--json", "--quiet", "--out", "there")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told == json.loads((here / "there" / "data.json").read_text())
    gain = next(
        c for c in told["curves"] if c["whose"] == "any attacker" and c["quantity"] == "gain"
    )
    assert [p["value"] for p in gain["points"]] == pytest.approx([0.5, 0.75, 0.875])


def test_what_cannot_be_told_has_an_exit_code_of_its_own(call, here):
    """Fifty trials of a game that is too large to be written out."""
    code, out, _ = call(
        "scale", "average-is-safe", "--over", "world.d=50,100", "--trials", "50", "--seed", "1"
    )
    assert code == 3
    assert " ".join(out.split()).startswith(
        "SAMPLED: For world.d = 50 to 100, the gain of majority cannot be told"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("xor-halves-togethr", "--over", "world.n=2:4:2"), "did you mean `xor-halves-together`"),
        (("none.toml", "--over", "world.n=2:4:2"), "none.toml"),
        (("pinned-bits", "--over", "success.l=1:4:1"), "did you mean `success.k`"),
        (("pinned-bits", "--over", "success.k"), "must be SECTION.key=VALUES"),
        (("pinned-bits", "--over", "success.k=1:4:1", "--with", "world.n=1,2"), "give as many"),
        (("pinned-bits", "--over", "world.n=2,0"), "world.n = 0 is refused"),
        (("pinned-bits", "--over", "success.k=2"), "at least two values"),
        (("pinned-bits",), "--over"),
        (("pinned-bits", "--over", "success.k=1:2:1", "--confidence", "1"), "--confidence"),
    ],
)
def test_mistakes_are_said_before_anything_is_played(call, here, words, said):
    code, out, err = call("scale", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert not list(here.iterdir())


def test_an_empty_file_is_refused(call, here):
    (here / "empty.toml").write_text("")
    code, _, err = call("scale", "empty.toml", "--over", "world.n=1,2")
    assert code == 2
    assert "empty.toml" in err


def test_own_code_needs_permission(call, here):
    (here / "mine.py").write_text("def mechanism(data, rng):\n    return data[0]\n")
    (here / "mine.toml").write_text(
        'kind = "game"\n[world]\nname = "bits"\nn = 3\n[mechanism]\nname = "mine:mechanism"\n'
        '[success]\nname = "prefix"\nlength = 1\n[[attack]]\nname = "fixed-guess"\nguess = 0\n'
        '[statement]\nname = "narcissus"\nepsilon = 0.0\ndelta = 0.0\n'
    )
    words = ("scale", "mine.toml", "--over", "world.n=2,3", *FEW)
    code, _, err = call(*words)
    assert code == 2
    assert "--allow-code" in err
    code, out, err = call(*words, "--allow-code")
    assert code in (0, 3), err
    assert "the gain of fixed-guess" in out
