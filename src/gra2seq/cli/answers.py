"""The output files of commands: their names, and the check that none is overwritten by accident."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gra2seq.errors import UserError

if TYPE_CHECKING:
    from gra2seq.formats.svg.document import SvgDocument


SHOWN = 3  # files that an answer names


def is_document(source: Path, target: Path) -> bool:
    """An SVG that is answered by an SVG stays the user's document."""
    return source.suffix.lower() == target.suffix.lower() == ".svg"


def document_paths(target: Path, count: int) -> list[Path]:
    """Where `count` versions of a document go: one under its name, several with numbers."""
    if count == 1:
        return [target]
    return [target.with_name(f"{target.stem}-{number}{target.suffix}") for number in range(1, count + 1)]


def write_documents(target: Path, documents: Sequence[SvgDocument]) -> list[Path]:
    """Each is written completely or not at all, the last one first: if the first is there, all are."""
    from gra2seq.system.atomic_files import atomic_write

    paths = document_paths(target, len(documents))
    for path, document in reversed(list(zip(paths, documents, strict=True))):
        with atomic_write(path) as temporary:
            temporary.write_bytes(document.to_bytes())
    return paths


def is_answered(source: Path, target: Path, samples: int) -> bool:
    """Is the answer to a file there? As nothing is half-written, it is complete."""
    if is_document(source, target):
        return document_paths(target, samples)[0].exists()
    folder = target.with_name(target.stem)  # where several drawings as .svg go
    return target.exists() or (target.suffix.lower() == ".svg" and folder.is_dir())


def check_not_input(target: Path, inputs: Sequence[Path]) -> None:
    """Never overwrite an input, also where a link leads to it."""
    if any(target.exists() and path.exists() and target.samefile(path) for path in inputs):
        raise UserError(f"{target} is an input: choose another name")


def check_free(target: Path, inputs: Sequence[Path], force: bool) -> None:
    """Never overwrite an input, nor an existing file without --force."""
    check_not_input(target, inputs)
    if target.exists() and not force:
        raise UserError(
            f"{target} is there already: choose another name with -o, or give --force, or --resume to keep it"
        )


def listed(paths: Sequence[Path]) -> str:
    """The first names, and how many there are more."""
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(map(str, paths[:SHOWN])) + more
