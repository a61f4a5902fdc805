"""The options --engine and --scheduler."""

import pytest

from narcissus.cli.engine import engine_of
from narcissus.errors import InputError
from narcissus.study.engines import Dask


def test_a_name_is_passed_on_and_a_scheduler_is_a_cluster():
    with engine_of(None, None, 3) as engine:
        assert engine is None
    with engine_of("serial", None, None) as engine:
        assert engine == "serial"
    for name in (None, "dask"):
        with engine_of(name, "tcp://here:8786", None) as engine:
            assert isinstance(engine, Dask)
            assert not engine.is_here


@pytest.mark.parametrize(
    ("name", "scheduler", "workers", "says"),
    [
        ("dusk", None, None, "did you mean `dask`"),
        ("processes", "tcp://here:8786", None, "`--scheduler` is for the engine dask"),
        ("dask", "tcp://here:8786", 2, "has workers of its own"),
    ],
)
def test_what_makes_no_sense_is_refused(name, scheduler, workers, says):
    with pytest.raises(InputError, match=says), engine_of(name, scheduler, workers):
        pass
