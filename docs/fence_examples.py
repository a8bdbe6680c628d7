"""Examples in docstrings (`>>>`) become code blocks of the API reference. A griffe extension, named in mkdocs.yml."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^|(?<=\n\n))>>> .*?(?=\n\n|\Z)", re.DOTALL)  # up to the next blank line


class FenceExamples(griffe.Extension):  # type: ignore[misc]  # griffe is of the documents only
    """Puts a fence around every example of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
