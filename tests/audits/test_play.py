"""Playing a study: the seed comes from the call, the study, or is kept with the results."""

import pytest

import narcissus
from narcissus.errors import InputError
from narcissus.game.executor import Serial


def study(frame, **run):
    return narcissus.load_study(
        {
            "data": frame,
            "threat": {"unknown": ["ill"], "targets": 8},
            "mechanism": {"k": 2, "epsilon": 1.0},
            "attacks": {"prior": {}},
            "run": {"trials": 2, "workers": 1, **run},
        }
    )


def test_the_seed_of_the_call_goes_before_that_of_the_study(frame):
    entropy = [
        narcissus.run(study(frame, seed=7), rng=rng).record.provenance.entropy for rng in (None, 5)
    ]
    assert entropy == ["7", "5"]
    assert narcissus.run(study(frame)).record.provenance.entropy not in entropy


def test_a_seed_that_was_drawn_is_kept_with_the_results(frame, tmp_path):
    first, second = (narcissus.run(study(frame), folder=tmp_path / "out") for _ in range(2))
    assert first.to_dict() == second.to_dict()
    anew = narcissus.run(study(frame), folder=tmp_path / "out", restart=True)
    assert anew.record.provenance.entropy != first.record.provenance.entropy


def test_who_plays_is_nobodys_business_in_a_record(frame):
    """The study may name an engine; the record and its digest are as if it did not."""
    plain, named = study(frame, seed=7), study(frame, seed=7, engine="serial")
    assert named.settings.run.engine == "serial"
    assert named.digest == plain.digest
    assert narcissus.run(named).to_dict() == narcissus.run(plain, engine="processes").to_dict()


def test_what_is_not_played_by_trials_has_no_engine(frame):
    class Mine(Serial):
        """Must not be asked."""

        def play(self, job, keys, observer=None):
            raise AssertionError

    channel = narcissus.load_study(
        {
            "kind": "channel",
            "channel": {"mechanism": {"name": "randomized-response", "values": 3, "epsilon": 1}},
        }
    )
    with pytest.raises(InputError, match="of the kind 'channel' are played on this machine"):
        narcissus.run(channel, engine=Mine())
    with pytest.raises(AssertionError):
        narcissus.run(study(frame), engine=Mine())
