"""Edits of the shapes of a document as edits of its text, also where a shape is drawn by <use>."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate

from gra2seq.errors import UserError
from gra2seq.formats.svg.elements import Element
from gra2seq.formats.svg.geometry import CUBIC, LINE
from gra2seq.formats.svg.layout import Layout, Shape, UseInstance
from gra2seq.formats.svg.shapes import GEOMETRY, given
from gra2seq.formats.svg.source import TAG, Edit, Source, apply_edits, self_closed, with_attributes, with_style

MAX_COPIED = 1_000_000  # characters more than the file has that copies of targets may take
PLACED = ("x", "y", "width", "height", "href", "xlink:href")  # attributes that only a <use> understands
LAST_TAG = re.compile(rb"</((?:[^\s/>:]+:)?)[^\s/>:]+(\s*)>$")

Edits = defaultdict[UseInstance | None, list[Edit]]


class Editor:
    """Collects what becomes of shapes; `edits` are those of the whole text."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self._source = source
        self._layout = layout
        self._changes: Edits = defaultdict(list)
        self._copied = 0  # characters
        self._only_children = _children_of_switches(layout.page.root)

    def remove(self, shape: Shape) -> None:
        """Leave the shape out."""
        edit = self._source.removal(shape.element)
        if id(shape.element) in self._only_children:  # or a <switch> would show its next child
            edit = Edit(shape.element.start, self._source.end(shape.element), self._prefixed(b"<g/>"))
        self._changes[shape.instance].append(edit)

    def redraw(self, shape: Shape, data: str) -> None:
        """Give the line of a shape another path; its filling stays as it was."""
        tag = self._as_path(shape.element, data)
        if self.is_filled(shape):
            tag = self_closed(with_attributes(tag, {"id": None}))
            self._replace(shape, self._unstroked(shape.element) + self._painted(tag, "fill"))
        elif tag.endswith(b"/>"):
            self._replace(shape, tag)
        else:
            first = shape.element.start + len(self._source.tag(shape.element))
            content = self._source.data[first : self._source.end(shape.element)]
            self._replace(shape, tag + LAST_TAG.sub(rb"</\1path\2>", content))

    def remove_stroke(self, shape: Shape) -> None:
        """Leave out the line of a shape, and all of it if it has no filling."""
        if self.is_filled(shape):
            self._replace(shape, self._unstroked(shape.element))
        else:
            self.remove(shape)

    def is_filled(self, shape: Shape) -> bool:
        """Whether its filling is visible: it is painted and has an area."""
        kinds = self._layout.outline.kinds[shape.span.first : shape.span.last]
        bent = bool((kinds == CUBIC).any() or ((kinds[:-1] == LINE) & (kinds[1:] == LINE)).any())
        return shape.filled and bent and shape.element.tag != "line"

    def edits(self) -> list[Edit]:
        """The edits of the text. A <use> whose target changes, here or elsewhere, becomes a copy of the target."""
        instances = self._instances()
        copied: set[UseInstance] = set()
        while True:
            changes: Edits = defaultdict(list)
            for where, some in self._changes.items():
                changes[where] += some
            for instance in instances:  # the innermost first
                if instance in copied or changes[instance]:
                    copied.add(instance)
                    start, end = instance.use.start, self._source.end(instance.use)
                    changes[instance.within].append(Edit(start, end, self._copy(instance, changes[instance])))
            edits = sorted(changes[None])
            starts, ends = [edit.start for edit in edits], list(accumulate((edit.end for edit in edits), max))
            more = {one for one in instances if one not in copied and self._is_changed(one.target, starts, ends)}
            if not more:
                return edits
            copied |= more

    def _replace(self, shape: Shape, text: bytes) -> None:
        self._changes[shape.instance].append(Edit(shape.element.start, self._source.end(shape.element), text))

    def _as_path(self, element: Element, data: str) -> bytes:
        """The first tag of a shape as that of a <path>, with all its other attributes."""
        tag = self._source.tag(element)
        if element.tag == "path":
            return with_attributes(tag, {"d": data})
        gone: dict[str, str | None] = dict.fromkeys(GEOMETRY[element.tag])
        tag = with_attributes(tag, gone | {"d": data}, "path")
        sheet, own = self._layout.page.sheet, self._layout.page.style(element)
        ruled = [*sheet.for_tag(element.tag, element.attributes), *sheet.for_tag("path", element.attributes)]
        if ruled:  # rules for the old tag no longer apply, those for <path> now do
            said = ";".join(f"{name}:{own.get(name, 'inherit')}" for name in dict.fromkeys(ruled))
            tag = with_style(tag, said)
        return tag

    def _unstroked(self, element: Element) -> bytes:
        tag = self._source.tag(element)
        rest = self._source.data[element.start + len(tag) : self._source.end(element)]
        return self._painted(tag, "stroke") + rest

    def _painted(self, tag: bytes, name: str) -> bytes:
        """A tag with a paint, fill or stroke, set to none where nothing overrules it."""
        styled = self._layout.page.sheet.rules or b"style" in tag
        if not styled:
            return with_attributes(tag, {name: "none"})
        return with_style(tag, f"{name}:none")

    def _instances(self) -> list[UseInstance]:
        """All uses that draw something, the innermost first."""
        depth: dict[UseInstance, int] = {}
        for shape in self._layout.shapes:
            chain, instance = [], shape.instance
            while instance is not None and instance not in depth:
                chain.append(instance)
                instance = instance.within
            base = 0 if instance is None else depth[instance]
            for level, one in enumerate(reversed(chain)):
                depth[one] = base + level + 1
        return sorted(depth, key=lambda one: -depth[one])

    def _is_changed(self, target: Element, starts: list[int], ends: list[int]) -> bool:
        """Whether an edit of the text lies in an element; `ends`: the last one of all edits so far."""
        before = bisect_left(starts, self._source.end(target))  # edits that begin before it ends
        return before > 0 and ends[before - 1] > target.start

    def _copy(self, instance: UseInstance, edits: list[Edit]) -> bytes:
        """A group in place of a <use>: the changed target, without ids."""
        use, target = instance.use, instance.target
        start, end = target.start, self._source.end(target)
        edits = [Edit(max(edit.start, start), min(edit.end, end), edit.text) for edit in edits]
        self._copied += end - start
        if self._copied > MAX_COPIED + len(self._source.data):
            raise UserError(f"more than {MAX_COPIED:,} characters would be copied for its <use>: expand them first")
        data = apply_edits(self._source.data, edits, start, end)
        data = TAG.sub(lambda found: with_attributes(found.group(), {"id": None}), data)
        if target.tag in ("symbol", "svg") and (first := TAG.match(data)):
            sizes = {name: given(use.attributes, name) for name in ("width", "height")}
            tag = with_attributes(first.group(), {name: text for name, text in sizes.items() if text}, "svg")
            data = tag + LAST_TAG.sub(rb"</\1svg\2>", data[first.end() :])
        outer = with_attributes(self._source.tag(use), dict.fromkeys(PLACED), "g")
        close = self._prefixed(b"</g>")
        if any(instance.shift):
            x, y = instance.shift
            data = self._prefixed(f'<g transform="translate({x:.12g} {y:.12g})">'.encode()) + data + close
        return outer.removesuffix(b"/>").removesuffix(b">") + b">" + data + close

    def _prefixed(self, tag: bytes) -> bytes:
        """A tag of ours with the namespace prefix that the root has."""
        return prefixed(tag, self._source.tag(self._layout.page.root))


def prefixed(tag: bytes, root: bytes) -> bytes:
    """A tag, or text that begins with one, with the namespace prefix of the root's tag."""
    found = TAG.match(root)
    prefix = found.group(1).rpartition(b":")[0] if found else b""
    return re.sub(rb"<(/?)(?=[a-z])", rb"<\1" + prefix + b":", tag) if prefix else tag


def _children_of_switches(root: Element) -> set[int]:
    found: set[int] = set()
    todo = [root]
    while todo:
        element = todo.pop()
        todo += element.children
        if element.tag == "switch":
            found |= {id(child) for child in element.children}
    return found
