"""The command line: arguments -> one call. An error that the user can correct is one line and exit code 2."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import typer

from gra2seq.cli.common import app, messages
from gra2seq.cli.terminal import discard_output, escape_what_cannot_be_encoded
from gra2seq.errors import UserError
from gra2seq.system.memory import keep_freed_memory, skip_collection_at_exit, tune_garbage_collector

# isort: off
# the order of the help
from gra2seq.cli import heal, figures, search, train, evaluate, compare, data, studio

__all__ = [
    "app",
    "compare",
    "data",
    "evaluate",
    "figures",
    "heal",
    "main",
    "search",
    "spread_values",
    "studio",
    "train",
]


_UsageError: Any = typer.BadParameter.__base__  # of typer's own copy of click, or of click itself


def spread_values(
    words: list[str], options: tuple[str, ...] = ("--mask", "--square", "--complete", "--data", "--links", "--systems")
) -> list[str]:
    """`--mask 0 0.1 0.3` as `--mask 0 --mask 0.1 --mask 0.3`: several values behind one option.

    What cannot be a value of it (a word behind masks, name=value or a path behind names, a model) is an argument again.
    """
    spread: list[str] = []
    current = ""
    for word in words:
        if word.startswith("-"):
            current = word if word in options else ""
        elif current and spread[-1] != current:
            if _fits(word, current):
                spread.append(current)
            else:
                current = ""
        spread.append(word)
    return spread


def _fits(word: str, option: str) -> bool:
    if option in ("--mask", "--square", "--complete"):
        return word.replace(".", "", 1).replace("e-", "", 1).isdigit()
    if option == "--data":
        return word != "package" and not Path(word, "model.safetensors").exists()
    return word != "package" and not {"=", "/", "."} & set(word)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line, without its place in the program."""
    messages.print(f"gra2seq: {message}", style="yellow")


def main() -> None:
    """Entry point: errors that a user can correct are one line and exit code 2; a Ctrl-C is 130."""
    keep_freed_memory()
    tune_garbage_collector()
    escape_what_cannot_be_encoded()
    as_json = "--json" in sys.argv
    show, warnings.showwarning = warnings.showwarning, _show_warning
    try:
        try:
            sys.exit(app(spread_values(sys.argv[1:]), standalone_mode=not as_json))
        finally:
            sys.stdout.flush()  # now, while an error can still be reported
    except _UsageError as error:  # a wrong option; without --json the application itself reports it
        print(json.dumps({"error": error.format_message()}))
        sys.exit(2)
    except UserError as error:
        if as_json:
            print(json.dumps({"error": str(error)}))
        else:
            messages.print(f"gra2seq: {error}", style="red")
        sys.exit(2)
    except OSError as error:  # readers and writers of files have errors of their own
        discard_output()
        messages.print(
            f"gra2seq: cannot write to {error.filename or 'standard output'}: {error.strerror or error}", style="red"
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        warnings.showwarning = show
        skip_collection_at_exit()
