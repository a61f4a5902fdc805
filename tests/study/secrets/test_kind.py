"""Studies of secrets from the file to the record: one loop, the same numbers, policies."""

from pathlib import Path

import pytest

import narcissus
from narcissus.errors import InputError, LongWorkError
from narcissus.study.reading import read_record

EXAMPLE = Path(__file__).parents[3] / "examples" / "secrets.toml"


def test_the_example_says_what_its_source_found(play):
    """With fewer models: uneven secrets are named more often, and gain less."""
    study = narcissus.load_study(EXAMPLE)
    settings = study.settings
    assert [prior.guess for prior in settings.priors()] == pytest.approx([0.1, 0.3731, 0.525], 1e-3)
    found = play(
        prior=[{"name": "uniform"}, {"name": "pii"}], run={"models": 1500}, attacks=None,
        mechanism={"epsilon": 10.0, "steps": 20},
    ).record.results.settings  # fmt: skip
    uniform, pii = found
    for one in found:
        argmax, posterior, ranking = one.attacks
        assert one.guess < posterior.success.high
        assert argmax.success.low < one.bound.value
        assert ranking.success.value <= posterior.success.value + 0.03
        assert 0 < one.most_refuting.refuted_epsilon < one.training.kept_epsilon < 10
        # the same guesses against fresh secrets are no better than the best guess without
        assert posterior.baseline <= one.guess + 1e-9
    assert uniform.best.success.value < pii.best.success.value
    assert uniform.best.success.value - uniform.guess > pii.best.success.value - pii.guess


def test_numbers_do_not_depend_on_who_plays_or_on_a_stop(play, tmp_path):
    plain = play()
    kept = play({"folder": tmp_path / "kept"})
    again = play({"folder": tmp_path / "kept"})  # out of the store
    more = play({"folder": tmp_path / "kept"}, run={"models": 700})
    assert plain.record.results == kept.record.results == again.record.results
    assert more.record.results.models == 700
    assert play({"engine": "serial"}).record.results == plain.record.results
    assert play(run={"seed": 2}).record.results != plain.record.results


def test_the_record_is_read_as_it_was_written(play, tmp_path):
    audit = play(mechanism={"epsilon": [1.0, float("inf")]}, threshold={"advantage": 0.9})
    audit.save(tmp_path)
    record = read_record(tmp_path / "record.json")
    assert record.results == audit.record.results
    assert record.results.settings[1].training.epsilon is None
    assert "secrets" in narcissus.load_study(EXAMPLE).kind


def test_a_policy_takes_the_place_of_a_threshold(play, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text("[threshold]\nsuccess = 0.2\nreason = 'x'\n", encoding="utf-8")
    found = play({"policy": policy})
    assert found.status == "exceeded"  # the guess itself is above it
    assert "policy" in found.record.provenance.digests
    assert {one.at_most for one in found.record.results.settings} == {0.2}
    with pytest.raises(InputError, match="keep one"):
        play({"policy": policy}, threshold={"success": 0.5})


def test_long_work_is_asked_about(play):
    with pytest.raises(LongWorkError, match="10,000,000 models for each of 2 settings"):
        play({"hours": 1e-3}, run={"models": 10**7})


def test_there_are_no_records_to_name(play, tmp_path):
    with pytest.raises(InputError, match="no records"):
        play({"internal": tmp_path / "records.csv"})


class Stubborn:
    """Names the second value, whatever it is given."""

    def attempt(self, release, known, rng):
        return release.argmax(axis=1) * 0 + 1


def test_a_fine_tuned_network(play):
    """Noise is made for two norms, and no less is kept: the bound is that of epsilon itself."""
    mechanism = {"name": "fine-tune", "epsilon": 9.0, "steps": 6, "learning_rate": 0.2}
    found = play(mechanism=mechanism, prior={"name": "uniform", "n": 3}).record.results
    [one] = found.settings
    assert one.training.mu == pytest.approx(one.training.accounted_mu)
    assert one.training.kept_epsilon == pytest.approx(9.0, rel=1e-6)
    assert one.training.start == "network"
    posterior = one.attacks[1]
    assert one.guess < posterior.success.low < one.bound.value
    assert 0 < posterior.refuted_epsilon < 9.0


def test_an_attack_of_your_own(play):
    found = play(attacks={"mine": Stubborn()}).record.results.settings[0]
    mine = next(one for one in found.attacks if one.name == "mine")
    second = 2**-1.1 / sum(k**-1.1 for k in range(1, 5))
    assert mine.baseline == pytest.approx(second)
    assert mine.success.low < second < mine.success.high
