"""What several commands take is read by all of them in the same way."""

import sys
from subprocess import run

import click
import pytest

from narcissus.cli.main import COMMANDS, cli

SHARED = {
    "--allow-code": {"audit", "profile", "verify"},
    "--yes": {"audit", "extract", "verify"},
    "--quiet": {"audit", "extract", "verify"},
    "--workers": {"audit", "extract", "verify"},
    "--restart": {"audit", "extract"},
    "--records": {"audit", "extract"},
    "--plot": {"bound", "protect"},
    "--prior": {"bound", "protect"},
    "--success": {"bound", "protect"},
    "--targets": {"bound", "protect"},
}


def taken(name):
    """Give the options called so, by the command that takes them."""
    commands = {command: cli.get_command(None, command).params for command in COMMANDS}
    return {c: p for c, params in commands.items() for p in params if name in p.opts}


@pytest.mark.parametrize("name", SHARED)
def test_an_option_means_the_same_wherever_it_is_taken(name):
    found = {c: p for c, p in taken(name).items() if c in SHARED[name]}
    assert found.keys() == SHARED[name]
    read = [
        (p.name, p.is_flag, p.metavar, p.default, p.type.to_info_dict()) for p in found.values()
    ]
    assert all(one == read[0] for one in read)


def test_json_is_a_flag_everywhere():
    found = taken("--json")
    assert len(found) >= 9
    assert all(p.name == "as_json" and p.is_flag and p.help for p in found.values())


def test_a_seed_is_never_negative_and_no_work_has_no_worker():
    for name, least in (("--seed", 0), ("--workers", 1)):
        assert len(taken(name)) >= 3
        for option in taken(name).values():
            with pytest.raises(click.BadParameter):
                option.type.convert(str(least - 1), option, None)
            assert option.type.convert(str(least), option, None) == least


def test_the_options_load_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'matplotlib', 'pandas'}"
    code = f"import sys, narcissus.cli.options; sys.exit(bool({heavy} & set(sys.modules)))"
    assert run([sys.executable, "-c", code], check=False).returncode == 0
