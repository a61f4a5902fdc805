"""Every wrong study as a user meets it: exit 2, one message that helps, nothing written."""

import functools
from pathlib import Path

import pytest

from narcissus import load_study
from narcissus.errors import InputError
from narcissus.study import part_section, registry
from narcissus.study.registry import loaded

INF, NAN = "=inf", "=nan"


def refused(narcissus, *arguments, says):
    before = sorted(Path.cwd().rglob("*"))
    code, out, err = narcissus("audit", *arguments)
    assert (code, out) == (2, ""), (code, out, err)
    assert "Traceback" not in err
    for words in says:
        assert words in err, err
    assert len(err.strip().splitlines()) == 1, err
    assert [p for p in sorted(Path.cwd().rglob("*")) if "__pycache__" not in str(p)] == before
    return err


WRONG = {
    # the list of the issue
    "missing table": ({"data": {"path": "peple.csv"}}, ["peple.csv", "people.csv"]),
    "no such column": ({"threat": {"unknown": ["il"]}}, ["`il`", "`ill`"]),
    "no such column to bin": ({"data": {"bins": {"agee": {"width": 2}}}}, ["agee", "`age`"]),
    "no such column to drop": ({"data": {"drop": ["townn"]}}, ["townn", "`town`"]),
    "no such group": ({"groups": {"columns": ["sexx"]}}, ["sexx", "`sex`"]),
    "k above the columns": ({"mechanism": {"k": 7}}, ["`mechanism.k`", "7", "6 columns"]),
    "k zero": ({"mechanism": {"k": 0}}, ["`mechanism.k`", "line", "got 0"]),
    "no unknown column": ({"threat": {"unknown": []}}, ["`threat.unknown`", "line"]),
    "no unknown key": ({"threat": {"unknown": None}}, ["unknown", "known", "exactly one"]),
    "unknown and known": ({"threat": {"known": ["sex"]}}, ["exactly one"]),
    "all known": (
        {"threat": {"unknown": None, "known": ["sex", "age", "job", "town", "ill", "income"]}},
        ["known", "nothing to reconstruct"],
    ),
    "unknown twice": ({"threat": {"unknown": ["ill", "ill"]}}, ["ill", "twice"]),
    "epsilon zero": ({"mechanism": {"epsilon": 0}}, ["`epsilon`", "above 0"]),
    "epsilon negative": ({"mechanism": {"epsilon": [1, -2]}}, ["`epsilon`", "above 0", "-2"]),
    "epsilon NaN": ({"mechanism": {"epsilon": NAN}}, ["`epsilon`", "above 0", "nan"]),
    "epsilon NaN in a list": ({"mechanism": {"epsilon": [1, NAN]}}, ["`epsilon`", "nan"]),
    "epsilon minus infinity": ({"mechanism": {"epsilon": "=-inf"}}, ["`epsilon`", "above 0"]),
    "epsilon twice": ({"mechanism": {"epsilon": [1, 1.0]}}, ["`mechanism.epsilon`", "different"]),
    "no epsilon in the list": (
        {"mechanism": {"epsilon": []}},
        ["`mechanism.epsilon`", "different"],
    ),
    "epsilon and mu": ({"mechanism": {"mu": 1}}, ["exactly one of epsilon, mu and scale"]),
    "no level": ({"mechanism": {"epsilon": None}}, ["exactly one of epsilon, mu and scale"]),
    "mu of Laplace": (
        {"mechanism": {"epsilon": None, "mu": 1, "noise": "laplace"}},
        ["`mu`", "Gaussian"],
    ),
    "mu zero": ({"mechanism": {"epsilon": None, "mu": 0}}, ["`mu`", "above 0"]),
    "scale negative": ({"mechanism": {"epsilon": None, "scale": -1}}, ["`scale`", "at least 0"]),
    "scale infinite": ({"mechanism": {"epsilon": None, "scale": INF}}, ["`scale`", "finite"]),
    "delta one": ({"mechanism": {"delta": 1.0}}, ["`delta`", "[0, 1)", "1.0"]),
    "delta negative": ({"mechanism": {"delta": -1e-5}}, ["`delta`", "[0, 1)"]),
    "delta NaN": ({"mechanism": {"delta": NAN}}, ["delta", "line"]),
    "delta zero for Gaussian": ({"mechanism": {"delta": 0.0}}, ["`delta`", "laplace"]),
    "delta for Laplace": ({"mechanism": {"delta": 1e-5, "noise": "laplace"}}, ["`delta`", "pure"]),
    "no targets": ({"threat": {"targets": 0}}, ["`threat.targets`", "line", "got 0"]),
    "negative targets": ({"threat": {"targets": -5}}, ["`threat.targets`", "got -5"]),
    "more targets than rows": (
        {"threat": {"targets": 501, "people": "rows"}},
        ["`threat.targets`", "501", "500 rows"],
    ),
    "no trials": ({"run": {"trials": 0}}, ["`run.trials`", "got 0"]),
    "negative seed": ({"run": {"seed": -1}}, ["`run.seed`", "got -1"]),
    "no workers": ({"run": {"workers": 0}}, ["`run.workers`"]),
    "confidence one": ({"bounds": {"confidence": 1.0}}, ["`confidence`", "(0, 1)"]),
    "confidence percent": ({"bounds": {"confidence": [95]}}, ["`confidence`", "(0, 1)", "95"]),
    "no confidence": ({"bounds": {"confidence": []}}, ["`confidence`"]),
    "no threshold": (
        {"threshold": {"worst_group": 0.5}},
        ["at least one of share, advantage, gain, targets"],
    ),
    "threshold above one": ({"threshold": {"share": 60}}, ["`threshold.share`", "got 60"]),
    "within of text": ({"threat": {"within": {"ill": 1}}}, ["within", "`ill`", "no order"]),
    "within of a known column": ({"threat": {"within": {"age": 1}}}, ["within", "`age`"]),
    "within negative": (
        {"threat": {"unknown": ["age"], "within": {"age": -1}}},
        ["within", "line", "got -1"],
    ),
    "at least too many": ({"threat": {"at_least": 2}}, ["at_least", "2", "1 column"]),
    "at least none": ({"threat": {"at_least": 0}}, ["`threat.at_least`", "got 0"]),
    "no attack of that name": ({"attacks": {"posteriour": {}}}, ["posteriour", "`posterior`"]),
    "no attacks": ({"attacks": {}}, ["at least one attack"]),
    "ceiling twice": ({"attacks": {"ceiling": {}, "c": {"name": "ceiling"}}}, ["ceiling", "twice"]),
    "option of another attack": (
        {"attacks": {"prior": {"sweeps": 3}}},
        ["`attacks.prior.sweeps`", "`prior` has no options"],
    ),
    "method unknown": ({"attacks": {"posterior": {"method": "gibs"}}}, ["posterior.method"]),
    "options of ours": ({"attacks": {"prior": {"options": {"a": 1}}}}, ["attacks.prior.options"]),
    "bins of two kinds": (
        {"data": {"bins": {"income": {"width": 5, "quantiles": 3}}}},
        ["exactly one of width"],
    ),
    "codes beside common": (
        {"data": {"bins": {"income": {"common": 5, "codes": ["N"]}}}},
        ["`codes` go with bins of numbers"],
    ),
    "codes alone": ({"data": {"bins": {"income": {"codes": ["N"]}}}}, ["exactly one of width"]),
    "bin of no width": ({"data": {"bins": {"income": {"width": 0}}}}, ["width", "got 0"]),
    "bins of text": ({"data": {"bins": {"job": {"width": 5}}}}, ["job"]),
    "two sources": ({"data": {"table": "statsmodels:fair"}}, ["`path`", "`table`"]),
    "no source": ({"data": {"path": None}}, ["`path`", "`table`"]),
    "prior unknown": ({"prior": {"name": "bayes"}}, ["`prior.name`", "'bayes'", "bayesian"]),
    "prior without parents": ({"prior": {"parents": -1}}, ["`prior`", "`parents`", "got -1"]),
    "score unknown": ({"prior": {"score": "mdl"}}, ["`prior.score`", "bic"]),
    "smoothing of nothing": ({"prior": {"smoothing": 0}}, ["`prior`", "above 0"]),
    "smoothing above one": ({"prior": {"name": "empirical", "smoothing": 3}}, ["[0, 1]", "got 3"]),
    "delta of pure noise": (
        {"mechanism": {"noise": "laplace", "delta": 0.0}},
        ["leave `delta` out"],
    ),
    "delta of none": ({"mechanism": {"delta": 0.0}}, ["`delta` above 0"]),
    "delta of exact counts": (
        {"mechanism": {"epsilon": "=inf", "delta": 1e-6}},
        ["`mechanism.delta`", "exact counts", "leave it out"],
    ),
    "more trials than are played": (
        {"attacks": {"prior": {"trials": 7}}},
        ["`prior`", "at most run.trials (6)", "got 7"],
    ),
    "policy missing": ({"policy": "absent.toml"}, ["absent.toml"]),
    "no data": ({"data": None}, ["`data` is missing"]),
    "no threat": ({"threat": None}, ["`threat` is missing"]),
    "no mechanism": ({"mechanism": None}, ["`mechanism` is missing"]),
    "another kind": ({"kind": "tables"}, ["`kind`", "table", "'tables'"]),
    "a section that is a number": ({"run": 7}, ["`run`"]),
    "a module that is not there": ({"attacks": {"a": {"name": "absent:A"}}}, ["absent"]),
    # wrong types: TOML tells numbers from text and from true
    "text for a number": ({"run": {"trials": "6"}}, ["`run.trials`", "whole number", "'6'"]),
    "true for a number": ({"threat": {"targets": True}}, ["`threat.targets`", "whole number"]),
    "true for epsilon": ({"mechanism": {"epsilon": True}}, ["mechanism.epsilon", "number"]),
    "text for epsilon": ({"mechanism": {"epsilon": "1"}}, ["mechanism.epsilon", "number"]),
    "text in a list": ({"mechanism": {"epsilon": [1, "3"]}}, ["mechanism.epsilon", "number"]),
    "a fraction for a whole number": ({"run": {"trials": 6.5}}, ["`run.trials`", "6.5"]),
    "text for a list": ({"threat": {"unknown": "ill"}}, ["`threat.unknown`", "list"]),
    "number for text": ({"title": 5}, ["`title`", "a text"]),
}


@pytest.mark.parametrize("case", WRONG, ids=list(WRONG))
def test_a_wrong_study_is_refused(study, narcissus, case):
    changes, says = WRONG[case]
    refused(narcissus, study(**changes), says=says)


SMOOTHED = {"parents": 1, "smoothing": 0.5, "score": "bdeu"}
TAKES = {
    "bayesian-network": {"parents", "smoothing", "score"},
    "independent": {"smoothing"},
    "empirical": {"smoothing"},
    "own:Prior": set(),
}


@pytest.mark.parametrize("option", SMOOTHED)
@pytest.mark.parametrize("name", TAKES)
def test_an_option_of_the_prior_is_used_or_refused(study, narcissus, monkeypatch, name, option):
    """Every option with every prior: no third thing happens to it."""
    asked = {}
    monkeypatch.setattr(registry, "loaded", lambda target: fake(loaded(target), asked))
    monkeypatch.setattr(part_section, "loaded", registry.loaded)
    Path("own.py").write_text("def Prior(table):\n    return table\n")
    path = study(prior={"name": name, option: SMOOTHED[option]})
    if option not in TAKES[name]:
        known = f"the options {', '.join(TAKES[name])}" if name == "independent" else "has"
        says = [f"unknown key `prior.{option}`: the record-prior `{name}`", known]
        refused(narcissus, path, "--allow-code", says=says)
        return
    with pytest.raises(InputError, match="must give a prior"):
        load_study(path)
    assert asked[option] == SMOOTHED[option]
    assert set(asked) == TAKES[name]


def fake(fit, asked):
    """Give a function with the signature of ``fit`` that keeps what it is given."""
    if not fit.__name__.startswith("fit_"):
        return fit

    @functools.wraps(fit)
    def told(table, **given):
        asked.update(given)

    return told


TYPOS = {
    "title": ("titel", {"titel": "x"}),
    "path": ("data.pth", {"data": {"pth": "people.csv"}}),
    "targets": ("threat.target", {"threat": {"target": 3}}),
    "parents": ("prior.parent", {"prior": {"parent": 3}}),
    "epsilon": ("mechanism.epsilonn", {"mechanism": {"epsilonn": 3}}),
    "sweeps": ("attacks.posterior.sweps", {"attacks": {"posterior": {"sweps": 3}}}),
    "confidence": ("bounds.confidences", {"bounds": {"confidences": 0.9}}),
    "share": ("threshold.shar", {"threshold": {"shar": 0.9}}),
    "columns": ("groups.column", {"groups": {"column": ["sex"]}}),
    "trials": ("run.trails", {"run": {"trails": 9}}),
    "width": ("data.bins.income.widht", {"data": {"bins": {"income": {"widht": 9}}}}),
    "mechanism": ("mechanisms", {"mechanisms": {"k": 9}}),
}


@pytest.mark.parametrize("meant", TYPOS)
def test_a_typo_names_its_place_and_the_nearest_key(study, narcissus, meant):
    key, changes = TYPOS[meant]
    path = study(**changes)
    code, out, err = narcissus("audit", path)
    assert (code, out) == (2, "")
    assert f"unknown key `{key}`" in err
    assert f"did you mean `{meant}`?" in err
    word = key.split(".")[-1]
    line = next(
        n
        for n, text in enumerate(path.read_text().splitlines(), 1)
        if text.startswith((f'"{word}"', word, f"[{word}]")) or f'{{ "{word}"' in text
    )
    assert f"line {line}" in err
    assert not Path("results").exists()


def test_several_mistakes_are_all_told(study, narcissus):
    path = study(run={"trails": 3, "seed": -2}, threat={"targets": 0})
    code, _, err = narcissus("audit", path)
    assert code == 2
    assert len(err.strip().splitlines()) == 3
    for word in ("trails", "run.seed", "threat.targets"):
        assert word in err


def test_broken_toml_says_where(study, narcissus):
    path = study()
    path.write_text(path.read_text() + "\n[run\n")
    refused(narcissus, path, says=["not valid TOML", "line"])
    path.write_bytes(b"\xff\xfe\x00")
    refused(narcissus, path, says=["cannot read"])
    refused(narcissus, Path(), says=["cannot read"])


def write(text):
    Path("people.csv").write_text(text)


HEAD = "sex,age,ill\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ["people.csv", "empty"]),
        (HEAD, ["people.csv", "row"]),
        (HEAD + "m,1,yes\nf,1,no\n", ["`age`", "one value"]),
        (
            HEAD + "m,1,yes\nf,,no\nm,2,\n",
            ["missing", "1 in `age` (row 2)", "1 in `ill` (row 3)", "'drop'"],
        ),
        (HEAD + "m,1,yes\nf,2\n", ["line 3"]),
    ],
    ids=["empty", "header only", "one value", "missing values", "short row"],
)
def test_a_table_that_will_not_do(study, narcissus, text, says):
    path = study()
    write(text)
    err = refused_table(narcissus, path, says)
    assert "Traceback" not in err


def refused_table(narcissus, path, says):
    code, out, err = narcissus("audit", path)
    assert (code, out) == (2, ""), err
    for words in says:
        assert words in err, err
    assert not Path("results").exists()
    return err


def test_thousands_of_values_ask_for_bins(study, narcissus):
    rows = "\n".join(f"{'mf'[i % 2]},{i * 1.5},{'yes' if i % 3 else 'no'}" for i in range(3000))
    path = study()
    write(HEAD + rows + "\n")
    refused(narcissus, path, says=["`age`", "3,000", "bin it"])


def test_worlds_too_large_say_how_large(study, narcissus, monkeypatch):
    names = "abcdefghijklmnopqrstuvwx"
    binary = "".join(",".join(str(i >> (j % 8) & 1) for j in range(24)) + "\n" for i in range(256))
    wide = ",".join(names) + "\n" + binary
    big = "a,b,c,d,e\n" + "".join(",".join([str(i % 100)] * 5) + "\n" for i in range(400))
    monkeypatch.setattr("narcissus.kinds.table.work.machine_memory", lambda: 8 * 10**9)
    people = ["10,000 people with 2 joint values", "33,649 tables", "there are 8.0 GB"]
    cases = [
        (
            big,
            {"unknown": ["a", "b"], "targets": 1_000_000},
            1,
            ["1,000,000 people with 10,000 joint values", "GB", "fewer targets"],
        ),
        (big, {"unknown": ["a"]}, 4, ["the 4 tables", "400,000,000 cells (3.2 GB)"]),
        (wide, {"unknown": ["a"], "targets": 10_000}, 6, [*people, "smaller k"]),
    ]
    for text, threat, k, says in cases:
        path = study(threat=threat, mechanism={"k": k}, attacks={"gibbs": {}})
        write(text)
        refused(narcissus, path, says=says)


def test_an_unwritable_results_folder(study, narcissus):
    path = study()
    refused(narcissus, path, "--out", "people.csv/out", says=["people.csv/out", "--out"])
    code, _, err = narcissus("audit", path, "--out", "people.csv")
    assert code == 2
    assert "--out" in err
    refused(narcissus, path, "--out", "/proc/none/out", says=["/proc/none/out", "--out"])


def test_an_unwritable_side_file_is_found_before_the_work(study, narcissus):
    refused(narcissus, study(), "--records", "people.csv/x.csv", says=["--records"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[threshold]\nshar = 0.5\n", ["threshold.shar", "`share`", "policy.toml", "line 2"]),
        ("", ["threshold"]),
        ("[threshold]\ntargets = 3\nworst_group = 0.1\n", ["goes with one of"]),
        ("[threshold\n", ["policy.toml", "TOML"]),
    ],
)
@pytest.mark.parametrize("how", ["option", "study"])
def test_a_wrong_policy_is_refused(study, narcissus, text, says, how):
    path = study(policy="policy.toml") if how == "study" else study()
    Path("policy.toml").write_text(text)
    option = ["--policy", "policy.toml"] if how == "option" else []
    refused(narcissus, path, *option, says=says)


def test_two_thresholds_are_refused(study, narcissus):
    Path("policy.toml").write_text("[threshold]\nshare = 0.5\n")
    path = study(threshold={"share": 0.9})
    refused(narcissus, path, "--policy", "policy.toml", says=["keep one"])
    both = study(threshold={"share": 0.9}, policy="policy.toml")
    refused(narcissus, both, says=["`threshold` or `policy`"])


def test_bins_say_what_is_new_only_where_it_is_asked_for(study):
    settings = load_study(study(data={"bins": {"income": {"width": 5}}})).to_dict()
    assert set(settings["data"]["bins"]["income"]) == {"width", "edges", "quantiles", "above"}
    loaded = load_study(study(data={"bins": {"income": {"width": 5, "codes": ["N", -9]}}}))
    assert loaded.to_dict()["data"]["bins"]["income"]["codes"] == ["N", -9]
