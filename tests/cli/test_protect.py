"""The command protect: keys, numbers, words, and one clear error each."""

from __future__ import annotations

import pytest
from scipy import special

from narcissus.bounds import Limit
from narcissus.cli import protect
from narcissus.errors import InputError
from narcissus.guarantees import GaussianDP


def test_protect_says_which_success_is_meant(answer, call):
    line = "protect --prior 0.5 --advantage 0.05 --delta 1e-5"
    anyhow, exact = answer(line), answer(line + " --success exact")
    assert (anyhow["criterion"], exact["criterion"]) == ("any", "exact match")
    assert exact["mu"] > 1.5 * anyhow["mu"]
    assert exact["mu"] == pytest.approx(
        answer("protect --values 0.5,0.5 --advantage 0.05 --delta 1e-5")["mu"], rel=1e-6
    )
    assert any("--success exact" in note for note in anyhow["notes"])
    assert "by_value" not in exact
    assert exact["grade"] == "proved"
    assert "Note: " in call(line)[1]


def test_protect(answer):
    found = answer("protect --prior 0.1072326 --advantage 0.05 --delta 1e-5")
    assert found["epsilon"] == pytest.approx(0.399247, abs=1e-5)
    assert found["advantage"] <= 0.05 + 1e-12
    back = answer(f"bound --mu {found['mu']!r} --prior 0.1072326")
    assert back["advantage"] == pytest.approx(0.05, abs=1e-6)
    line = "protect --prior 0.5 --delta 1e-6 --targets 100 --at-most 70 --confidence 0.95"
    found = answer(line)
    assert found["exceeded"] <= 0.05
    back = answer(f"bound --epsilon {found['epsilon']!r} --delta 1e-6 --prior 0.5 --targets 100")
    assert back["at_most"] == 70
    found = answer("protect --values 0.7,0.2,0.1 --advantage 0.1")
    assert found["epsilon"] > found["by_value"]["most"]
    assert set(found["by_value"]) == {"least", "median", "most"}


def test_protect_zipf(answer):
    found = answer("protect --zipf 1.1,1e9 --advantage 0.05 --delta 1e-5")
    back = answer(f"bound --epsilon {found['epsilon']!r} --delta 1e-5 --zipf 1.1,1e9")
    assert back["advantage"] == pytest.approx(0.05, abs=1e-6)
    assert found["notes"] == []


def test_protect_finds_the_noise_of_dp_sgd(answer, call):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    line = "protect --dp-sgd rate=0.1,steps=20,interval=1e-2 --prior 0.1 --advantage 0.1"
    found = answer(line)
    assert "epsilon" not in found
    assert "mu" not in found
    assert found["advantage"] <= 0.1
    # what is printed, given to the other command, keeps the limit
    said = call(line + " --delta 1e-5")[1]
    noise = said.split("A noise multiplier of ")[1].split()[0]
    assert float(noise) == found["noise"]
    setting = f"noise={noise},rate=0.1,steps=20,interval=1e-2"
    back = answer(f"bound --dp-sgd {setting} --prior 0.1")
    assert back["advantage"] == found["advantage"] <= 0.1
    epsilon = answer(line + " --delta 1e-5")["epsilon"]
    assert f"(epsilon {epsilon:.3}"[:12] in said


def test_protect_for_added_records_says_so(answer, call):
    line = "protect --prior 0.1 --advantage 0.05 --delta 1e-5"
    whole, half = answer(line), answer(line + " --adjacency add-remove")
    assert "adjacency" not in whole
    assert half["adjacency"] == "add-remove"
    assert f"epsilon {half['epsilon']:g}" in half["converted_from"]
    assert half["epsilon"] < whole["epsilon"] / 2
    assert half["mu"] == pytest.approx(whole["mu"] / 2, rel=1e-6)
    assert "(add-remove neighbours)." in call(line + " --adjacency add-remove")[1]


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("protect --values 0.5,0.5 --advantage 0.1 --success any", "--success"),
        ("protect --prior 0.1", "--advantage"),
        ("protect --advantage 0.1", "--priors"),
        ("protect --dp-sgd rate=0.1 --prior 0.1 --advantage 0.1", "lacks steps"),
        ("protect --dp-sgd noise=1,rate=0.1,steps=3 --prior 0.1 --advantage 0.1", "--dp-sgd"),
        (
            "protect --dp-sgd rate=0.1,steps=3 --prior 0.1 --advantage 0.1 --adjacency add-remove",
            "--adjacency",
        ),
        ("protect --prior 0.1 --advantage 0.1 --adjacency add", "--adjacency"),
        ("protect --prior 0.1 --advantage 2", "--advantage"),
        ("protect --prior 0.1 --advantage 0 --delta 1e-5", "--delta"),
        ("protect --prior 1 --advantage 0.1", "--prior"),
        ("protect --prior 0.1 --targets 5", "--at-most"),
        ("protect --prior 0.5 --targets 5 --at-most 0", "sees no release"),
        ("protect --prior 0.5 --targets 5 --at-most 0 --delta 1e-6", "sees no release"),
        ("protect --prior 0.5 --targets 5 --at-most 5", "--at-most"),
        ("protect --prior 0.1 --advantage 0.1 --confidence 0.9", "--confidence"),
    ],
)
def test_bad_input_gives_one_error_that_names_the_option(one_error, line, option):
    one_error(line, option)


def test_help_has_examples(call):
    code, out, _ = call("protect --help")
    assert code == 0
    assert out.count("narcissus protect ") >= 3


def test_the_noise_of_dp_sgd_is_for_what_is_asked(answer, call):
    pytest.importorskip("dp_accounting", reason="the extra `accounting` is not installed")
    line = "protect --dp-sgd rate=0.1,steps=20,interval=1e-2 --prior 0.5 --advantage 0.1"
    found = answer(line + " --success exact")
    inside = answer(line + " --secret membership")
    assert found.pop("membership") == inside
    assert found == answer(line + " --success exact --secret value")
    assert 0.4 < inside["noise"] / found["noise"] < 0.6
    for secret, one in (("value", found), ("membership", inside)):
        setting = f"noise={one['noise']:g},rate=0.1,steps=20,interval=1e-2"
        back = answer(f"bound --dp-sgd {setting} --values 0.5,0.5 --secret {secret}")
        assert back["advantage"] == pytest.approx(one["advantage"], abs=1e-12)
        assert back["advantage"] <= 0.1
    assert call(line + " --secret membership")[1].startswith("Asked: whether a person's record is")


def test_epsilon_for_added_records_is_not_halved_for_membership(answer):
    line = "protect --prior 0.5 --advantage 0.1 --adjacency add-remove --secret membership"
    found = answer(line)
    assert found["epsilon"] == pytest.approx(0.200670695, abs=1e-8)  # tanh(epsilon / 2) = 0.1
    assert "converted_from" not in found
    assert found["adjacency"] == "add-remove"
    assert answer(line.replace("membership", "value") + " --success exact")[
        "epsilon"
    ] == pytest.approx(found["epsilon"] / 2)


def test_what_is_reached_is_said_with_its_theorem():
    both = Limit(tpr=0.5, fpr=0.1, precision=0.9, recall=0.2, base_rate=0.5)
    found = protect.rates_reached(both, GaussianDP(1.0))
    assert found["tpr"] == pytest.approx(special.ndtr(special.ndtri(0.1) + 1))
    assert found["grade"] == "proved"
    assert "Dong" in found["theorem"]
    assert "4.8" in found["theorem"]
    lines = protect.rates_text(found, "Then")
    assert lines[0].startswith("Then no test with a false positive rate of at most 0.1 has a true")
    assert lines[1].endswith("where the base rate is 0.5.")
    # beside another limit, its theorem is the one that is said
    assert set(protect.rates_reached(Limit(0.1, tpr=0.5, fpr=0.1), GaussianDP(1.0))) == {
        "tpr",
        "fpr",
    }
    assert protect.rates_reached(Limit(0.1), GaussianDP(1.0)) == {}
    assert protect.rates_text({}, "Then") == []


def test_error_rates_alone_depend_on_no_prior():
    protect.refuse_with_rates({"--prior": None})
    with pytest.raises(InputError, match=r"`--prior` says nothing of `--tpr` and `--precision`"):
        protect.refuse_with_rates({"--prior": 0.5})


def test_protect_finds_what_keeps_error_rates(answer, call):
    line = "protect --tpr 0.05 --fpr 0.01"
    found = answer(line)
    assert found["tpr"] <= 0.05
    assert found["mu"] == pytest.approx(special.ndtri(0.05) - special.ndtri(0.01), rel=1e-6)
    assert found["epsilon"] == pytest.approx(1.609438, abs=1e-6)
    assert not {"prior", "success", "advantage"} & found.keys()
    assert {**found["membership"], "secret": 0, "question": 0} == {
        **{k: v for k, v in found.items() if k != "membership"}, "secret": 0, "question": 0,
    }  # fmt: skip
    said = call(line)[1]
    assert "has a true positive rate above 0.05." in said
    assert "right about one person" not in said
    added = answer(line + " --adjacency add-remove")
    assert added["membership"]["epsilon"] == pytest.approx(found["epsilon"])
    assert added["epsilon"] == pytest.approx(found["epsilon"] / 2)
    both = answer("protect --values 0.7,0.2,0.1 --success-at-most 0.71 --tpr 0.05 --fpr 0.01")
    assert both["success"] <= 0.71 + 1e-12
    assert both["epsilon"] < found["epsilon"]
    assert both["tpr"] < 0.05
    sure = answer("protect --secret membership --precision 0.2 --recall 0.1 --base-rate 0.01")
    assert sure["precision"] <= 0.2
    assert sure["secret"] == "membership"


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("protect --fpr 0.05", "--tpr"),
        ("protect --tpr 0.05", "--fpr"),
        ("protect --tpr 0.05 --fpr 0.1", "must be above `--fpr`"),
        ("protect --precision 0.5 --recall 0.1", "--base-rate"),
        ("protect --tpr 0.05 --fpr 0.01 --prior 0.5", "--prior"),
        ("protect --tpr 0.05 --fpr 0.01 --success exact", "--success"),
        ("protect --values 0.7,0.3 --success-at-most 0.6", "--success-at-most"),
    ],
)
def test_limits_that_say_nothing_are_refused(one_error, line, option):
    one_error(line, option)
