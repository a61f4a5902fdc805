"""Who plays: what was asked for, else what the study says, else processes."""

import sys
from types import SimpleNamespace

import pytest

from narcissus.errors import InputError, MissingExtraError
from narcissus.game.executor import Serial
from narcissus.observer import SILENT
from narcissus.study.engines import Dask, Processes, executor_of
from narcissus.study.kinds import RunOptions
from narcissus.study.plugins import OwnCode
from narcissus.study.sections import PlayedRun


@pytest.fixture
def made(monkeypatch):
    """Give the function that makes an executor, and see that it is closed."""
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)

    def make(engine=None, workers=None, *, default=None, allowed=False, **run):
        options = RunOptions(entropy=1, observer=SILENT, engine=engine, workers=workers)
        of = SimpleNamespace(**{"engine": None, "scheduler": None, "workers": None, **run})
        with (
            OwnCode(allowed=allowed).in_use(),
            executor_of(options, of, workers=default) as executor,
        ):
            return executor

    return make


def test_without_a_word_it_is_processes(made):
    assert made(workers=3).workers == 3
    assert made(workers=3, default=1).workers == 3
    assert made(default=1).workers == 1
    assert made().workers >= 1
    assert isinstance(made(), Processes)


def test_the_study_says_and_who_plays_it_says_otherwise(made):
    assert isinstance(made(engine="serial"), Serial)
    assert made("processes", workers=2).workers == 2
    run = PlayedRun(engine="serial")
    options = RunOptions(entropy=1, observer=SILENT)
    with executor_of(options, run) as executor:
        assert isinstance(executor, Serial)
    with executor_of(RunOptions(entropy=1, observer=SILENT, engine="processes"), run) as executor:
        assert isinstance(executor, Processes)


def test_an_executor_is_used_as_it_is_and_stays_open(made):
    class Mine(Serial):
        closed = False

        def close(self):
            self.closed = True

    mine = Mine()
    assert made(mine) is mine
    assert not mine.closed


def test_a_typing_mistake_is_answered_with_the_nearest(made):
    with pytest.raises(InputError, match="did you mean `processes`"):
        made("proceses")


def test_one_process_has_no_workers(made):
    with pytest.raises(InputError, match="serial is one process"):
        made("serial", workers=2)


def test_without_dask_the_extra_is_named(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*distributed"):
        made("dask", workers=1)


def test_a_study_names_no_scheduler_unless_it_may(monkeypatch):
    """It would send the user's table to whoever wrote the study."""
    options = RunOptions(entropy=1, observer=SILENT)
    run = PlayedRun(scheduler="tcp://elsewhere:8786")
    with (
        OwnCode().in_use(),
        pytest.raises(InputError, match=r"tcp://elsewhere:8786: it would get your data"),
        executor_of(options, run),
    ):
        pass
    with OwnCode(allowed=True).in_use(), executor_of(options, run) as executor:
        assert isinstance(executor, Dask)
        assert not executor.is_here
    # what was asked for is not asked of the study
    with (
        OwnCode().in_use(),
        executor_of(RunOptions(entropy=1, observer=SILENT, engine="processes"), run) as executor,
    ):
        assert executor.is_here


def test_a_scheduler_is_of_dask():
    run = PlayedRun(engine="processes", scheduler="tcp://elsewhere:8786")
    with (
        pytest.raises(InputError, match=r"`run.scheduler` is for the engine dask"),
        executor_of(RunOptions(entropy=1, observer=SILENT), run),
    ):
        pass


def test_dask_alone_is_what_its_own_configuration_names():
    from dask import config

    options = RunOptions(entropy=1, observer=SILENT, engine="dask")
    with executor_of(options, PlayedRun()) as executor:
        assert executor.is_here
    with (
        config.set({"scheduler-address": "tls://mine:8786"}),
        executor_of(options, PlayedRun()) as executor,
    ):
        assert not executor.is_here


def test_no_record_says_who_played():
    run = PlayedRun(seed=1, engine="dask", scheduler="tcp://here:1")
    assert run.model_dump() == {"seed": 1}
