"""The command line: parse, call, render. Each command is a module, imported on use."""

from narcissus.cli.main import main

__all__ = ["main"]
