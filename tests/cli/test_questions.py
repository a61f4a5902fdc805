"""What `bound`, `protect` and `channel` read and say alike: guarantees, knowledge, questions."""

import json
import math

import pytest

from narcissus.bounds import ThreatToPeople, threat, threat_of_ranked
from narcissus.cli import options
from narcissus.cli import questions as asked
from narcissus.cli.questions import Answer, GivenGuarantee, PriorKnowledge, PriorOrBits
from narcissus.errors import InputError
from narcissus.guarantees import ApproximateDP, BayesSecurity, GaussianDP, PureDP, RenyiDP, as_asked
from narcissus.priors import Zipf


@pytest.mark.parametrize(
    ("given", "guarantee", "twice"),
    [
        ({"epsilon": 2.0}, PureDP(2.0), PureDP(4.0)),
        ({"epsilon": 2.0, "delta": 0.0}, PureDP(2.0), PureDP(4.0)),
        (
            {"epsilon": 1.0, "delta": 1e-5},
            ApproximateDP(1.0, 1e-5),
            ApproximateDP(2.0, 1e-5 * (1 + math.e)),
        ),
        ({"mu": 0.5}, GaussianDP(0.5), GaussianDP(1.0)),
        ({"renyi": "4:0.5"}, RenyiDP(4, 0.5), RenyiDP(2, 1.25)),
        ({"bayes_security": 0.9}, BayesSecurity(0.9), BayesSecurity(0.8)),
    ],
)
def test_each_option_makes_its_guarantee(given, guarantee, twice):
    made = GivenGuarantee(**given).make()
    assert made == guarantee
    assert asked.of_guarantee(made) == {}
    added = GivenGuarantee(adjacency="add-remove", **given).make()
    assert added.profile(0.3) == pytest.approx(float(twice.profile(0.3)), rel=1e-12)
    said = asked.of_guarantee(added)["converted_from"]
    assert said in added.describe()
    assert said.endswith("(add-remove neighbours)")
    assert "one removed and one added" in added.describe()


def test_zero_concentration_is_gaussian_noise_at_its_worst():
    """rho = mu^2 / 2 of the Gaussian mechanism, whose own profile is below."""
    loose, exact = GivenGuarantee(rho=0.5).make(), GaussianDP(1.0)
    for epsilon in (0.0, 0.5, 2.0):
        assert float(loose.profile(epsilon)) >= float(exact.profile(epsilon))


def test_a_coarse_interval_of_dp_sgd_is_above_a_fine_one():
    setting = "noise=4,rate=0.1,steps=2,interval="
    coarse, fine = (GivenGuarantee(dp_sgd=setting + i).make() for i in ("0.1", "1e-3"))
    given = GivenGuarantee(dp_sgd=" steps=2, noise=4,rate=0.1").make()
    assert float(given.profile(0.0)) == float(fine.profile(0.0))
    assert 0.01 < float(fine.profile(0.0)) < float(coarse.profile(0.0))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "exactly one guarantee must be given .*--dp-sgd.*got none"),
        ({"mu": 1.0, "bayes_security": 0.5}, "got --mu and --bayes-security"),
        ({"mu": 1.0, "delta": 0.0}, "`--delta` goes with `--epsilon` only, not with `--mu`"),
        ({"renyi": "4"}, "ALPHA:GAMMA"),
        ({"renyi": "4:a"}, "numbers separated by commas"),
        ({"dp_sgd": "noise=1,rate=0.1"}, "lacks steps"),
        ({"dp_sgd": "noise=1,noise=1,rate=0.1,steps=1"}, "each once"),
        ({"dp_sgd": "noise=1,rate=0.1,stpes=1"}, "each once, such as"),
        ({"dp_sgd": "noise=x,rate=0.1,steps=1"}, "--dp-sgd noise"),
        ({"epsilon": 1.0, "adjacency": "add-remov"}, "did you mean `add-remove`"),
        (
            {"dp_sgd": "noise=1,rate=0.1,steps=1", "adjacency": "add-remove"},
            "what is asked.*; drop it",
        ),
    ],
)
def test_what_makes_no_guarantee_is_refused(given, says):
    with pytest.raises(InputError, match=says):
        GivenGuarantee(**given).make()


def test_arguments_in_errors_are_turned_into_options():
    with pytest.raises(InputError, match=r"^`--mu` is wrong, not `other`$"), asked.option_names():
        raise InputError("`mu` is wrong, not `other`")
    with pytest.raises(InputError, match=r"^`--top` is wrong"), asked.option_names(mu="--top"):
        raise InputError("`mu` is wrong")


def test_success_goes_with_the_prior_alone():
    assert asked.exact_match("exact", known="--prior")
    assert not asked.exact_match("any", known="--prior")
    assert not asked.exact_match(None, known="--values")
    with pytest.raises(InputError, match="`--values` a guess must name"):
        asked.exact_match("any", known="--values")
    with pytest.raises(InputError, match="--success"):
        asked.exact_match("near", known="--prior")


@pytest.mark.parametrize(
    ("danger", "criterion", "notes"),
    [
        (threat(prior=0.5), "any", ["--success exact helps", "--values"]),
        (threat(prior=0.5, exact_match=True), "exact match", ["--values"]),
        (threat(values=[0.5, 0.5]), "exact match", []),
        (threat(values=[0.25] * 4, within=1), "near match", []),
    ],
)
def test_what_counts_and_what_would_prove_more(danger, criterion, notes):
    assert asked.criterion(danger) == criterion
    told = asked.more_provable(danger, "helps")
    assert len(told) == len(notes)
    assert all(word in note for word, note in zip(notes, told, strict=True))
    assert len(asked.more_provable(danger, None)) == len([n for n in notes if "helps" not in n])
    assert asked.criterion_text(danger).endswith(".")


def test_numbers_percentages_and_json(capsys):
    assert asked.numbers("--values", "0.5, 0.25,1e-3") == [0.5, 0.25, 0.001]
    with pytest.raises(InputError, match=r"`--values` must be numbers.*'0.5,,1'"):
        asked.numbers("--values", "0.5,,1")
    assert [asked.percent(p) for p in (0.5, 0.0095, 0.0094, 1e-7, 0.0)] == [
        "50 of 100", "0.95 of 100", "9,400 of 1,000,000", "1e-07", "0 of 100",
    ]  # fmt: skip
    options.print_json({"a": 0.1 + 0.2, "b": math.inf, "c": [math.nan, 1]})
    assert json.loads(capsys.readouterr().out) == {"a": 0.1 + 0.2, "b": None, "c": [None, 1]}


def test_only_one_option_says_what_is_known():
    assert PriorKnowledge(zipf="1,2").only() == "--zipf"
    with pytest.raises(InputError, match=r"`--priors` or `--bits` must be given, .* got none"):
        PriorOrBits().only()
    with pytest.raises(InputError, match="got --prior and --bits"):
        PriorOrBits(prior=0.0, bits=1.0).only()


@pytest.mark.parametrize(
    ("known", "danger"),
    [
        ({"prior": 0.2}, threat(prior=0.2, targets=3)),
        ({"values": "0.7,0.3"}, threat(values=[0.7, 0.3], targets=3)),
        ({"bits": 3.0}, threat(prior=0.125, targets=3)),
        ({"zipf": "1.1,1e9"}, threat_of_ranked(Zipf(1.1, 10**9), targets=3)),
        ({"zipf": "0,7"}, threat_of_ranked(Zipf(0, 7), targets=3)),
    ],
)
def test_each_option_makes_its_threat(known, danger):
    assert PriorOrBits(**known).threat(exact=False, targets=3) == danger


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1.1", "S,N, such as 1.1,1e9"),
        ("1.1,2,3", "S,N"),
        ("a,5", "numbers separated by commas"),
        ("-1,5", "`--zipf S` must be at least 0"),
        ("1,0", "`--zipf N` must be at least 1"),
        ("1,2.5", "`--zipf N` must be a whole number"),
        ("1,1e16", "`--zipf N` .*at most"),
        ("1,inf", "`--zipf N`"),
    ],
)
def test_what_is_no_law_of_zipf_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        asked.zipf_law(text)


def test_people_are_read_and_nothing_else_is_said_of_them(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a,b\n0.5,0.5\n0.9,0.1\n")
    known = PriorKnowledge(priors=path)
    assert known.people({"--targets": None}).n == 2
    with pytest.raises(InputError, match="`--targets` does not go with `--priors`"):
        known.people({"--targets": 2})
    path.write_text("a,b\n0.5,0.6\n")
    with pytest.raises(InputError, match=r"`--priors`: .*row 1 \(line 2\)"):
        known.people({})


@pytest.mark.parametrize(
    ("known", "people", "success", "needless", "said"),
    [
        ({"prior": 0.5}, None, None, {}, None),
        ({"prior": 0.99}, None, "exact", {}, None),
        ({"values": "0.2,0.8"}, None, None, {"--within": None}, None),
        ({}, [[0.5, 0.5], [0.9, 0.1]], None, {}, None),
        ({"prior": 0.01}, None, None, {}, "--prior 0.99"),
        ({"prior": 0.5}, None, "any", {}, "`--success` must be exact"),
        ({"values": "0.2,0.3,0.5"}, None, None, {}, "`--values` has 3"),
        ({}, [[0.5, 0.3, 0.2]], None, {}, "`--priors` has 3"),
        ({"zipf": "1,2"}, None, None, {}, "`--zipf`"),
        ({"values": "0.2,0.8"}, None, None, {"--within": 1}, "`--within`"),
    ],
)
def test_what_is_known_may_be_about_membership_or_not(known, people, success, needless, said):
    people = None if people is None else ThreatToPeople(people)
    reason = PriorKnowledge(**known).no_membership(people, success, needless)
    assert (reason is None) == (said is None)
    assert asked.questions_of("value", reason) == ("value",)
    if said is None:
        assert asked.questions_of(None, reason) == asked.SECRETS
        assert asked.questions_of("membership", reason) == ("membership",)
        return
    assert said in reason
    assert asked.questions_of(None, reason) == ("value",)
    with pytest.raises(InputError, match="`--secret membership` has two values, in and out"):
        asked.questions_of("membership", reason)


def test_a_word_that_is_no_question_is_refused():
    with pytest.raises(InputError, match="did you mean `membership`"):
        asked.questions_of("membershp", None)


def test_of_membership_the_best_guess_is_the_whole_prior():
    assert PriorKnowledge(prior=0.75).of("value").prior == 0.75
    assert PriorKnowledge(prior=0.75).of("membership") == PriorKnowledge(values="0.75,0.25")
    known = PriorKnowledge(values="0.1,0.9")
    assert known.of("membership") == known


def test_one_answer_is_said_once_and_two_are_both_said(capsys):
    known = GaussianDP(1, adjacency="add-remove")

    def one(secret):
        return Answer(as_asked(known, secret), {"success": secret}, [f"{secret}!"])

    def said(questions, answer, *, shared):
        asked.answer_all(questions, answer, shared=shared, as_json=True)
        asked.answer_all(questions, answer, shared=shared, as_json=False)
        text, end = capsys.readouterr().out, "\n}\n"
        payload, _, lines = text.partition(end)
        return json.loads(payload + end), lines.splitlines()

    payload, lines = said(asked.SECRETS, one, shared=False)
    assert (payload["secret"], payload["success"]) == ("value", "value")
    inside = payload["membership"]
    assert (inside["secret"], inside["success"]) == ("membership", "membership")
    assert lines == [
        "Asked: what value a person's record has (--secret value).",
        "value!",
        "",
        "Asked: whether a person's record is in the data (--secret membership).",
        "membership!",
    ]
    for shared in (False, True):  # one question has one answer anyway
        _, lines = said(["membership"], one, shared=shared)
        assert lines[0] == "Asked: whether a person's record is in the data."
    both = Answer(GaussianDP(1), {"success": 7}, ["both!"])
    payload, lines = said(asked.SECRETS, lambda _: both, shared=True)
    assert payload["success"] == payload["membership"]["success"] == 7
    assert payload["membership"]["question"].endswith("or another in its place")
    assert lines[0].startswith("Asked: what value a person's record has; or whether")
    assert lines[1:] == ["both!"]
    assert asked.are_replaced([as_asked(GaussianDP(1), secret) for secret in asked.SECRETS])
    assert not asked.are_replaced([as_asked(known, secret) for secret in asked.SECRETS])
    assert not asked.are_replaced([GaussianDP(1)])
