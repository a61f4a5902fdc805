"""The command line: parse, call, render. Each command is a file, loaded when it is called."""

from narcissus.cli.main import main

__all__ = ["main"]
