"""Python modules of the user that register models, link rules or file formats: imported only on the user's own word."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable

from gra2seq.errors import UserError

_imported: dict[str, None] = {}  # by `import_modules`, in that order


def import_modules(names: Iterable[str]) -> None:
    """Import modules that the user has named: in a configuration of their own, or on the command line."""
    for name in names:
        if not all(part.isidentifier() for part in name.split(".")):
            raise UserError(f"{name[:80]!r} is not the name of a Python module: write it as after `import`")
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise UserError(f"the module {name!r} cannot be imported: {error}; install it or set PYTHONPATH") from error
        _imported[name] = None


def imported_modules() -> tuple[str, ...]:
    """What `import_modules` has imported, for processes that must do the same."""
    return tuple(_imported)


def check_imported(names: Iterable[str], source: str) -> None:
    """Refuse modules that are not imported yet: whoever wrote `source` could name any, and importing runs it."""
    missing = [name for name in names if name not in sys.modules]
    if missing:
        raise UserError(
            f"{source} asks for the Python module {missing[0]!r}, which would run with your rights. If you trust it, "
            f"import it first, load with modules=True, or write `gra2seq --modules {missing[0][:40]} COMMAND`"
        )
