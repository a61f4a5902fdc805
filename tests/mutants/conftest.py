"""The mutation tool is a command (`make mutants`); its parts are tested, it is not run."""

collect_ignore = ["run.py"]
