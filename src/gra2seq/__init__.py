"""gra2seq: hand-drawn sketches as graphs of patches — encode, redraw, heal, complete, compare, search and morph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gra2seq.config.drawing import DrawingConfig as DrawingConfig
    from gra2seq.errors import UserError as UserError
    from gra2seq.folder import load as load
    from gra2seq.formats.files import read as read
    from gra2seq.formats.files import write as write
    from gra2seq.formats.registry import register_format as register_format
    from gra2seq.model import Model as Model
    from gra2seq.models.registry import register_model as register_model
    from gra2seq.nn.links import register_links as register_links
    from gra2seq.search.gallery import Gallery as Gallery
    from gra2seq.sketch.damage import Damage as Damage
    from gra2seq.sketch.region import Region as Region
    from gra2seq.sketch.strokes import Sketch as Sketch

__version__ = "0.2.0"

_HOMES = {
    "Damage": "gra2seq.sketch.damage",
    "DrawingConfig": "gra2seq.config.drawing",
    "Gallery": "gra2seq.search.gallery",
    "Model": "gra2seq.model",
    "Region": "gra2seq.sketch.region",
    "Sketch": "gra2seq.sketch.strokes",
    "UserError": "gra2seq.errors",
    "load": "gra2seq.folder",
    "read": "gra2seq.formats.files",
    "register_format": "gra2seq.formats.registry",
    "register_links": "gra2seq.nn.links",
    "register_model": "gra2seq.models.registry",
    "write": "gra2seq.formats.files",
}
__all__ = [
    "Damage",
    "DrawingConfig",
    "Gallery",
    "Model",
    "Region",
    "Sketch",
    "UserError",
    "load",
    "read",
    "register_format",
    "register_links",
    "register_model",
    "write",
]


def __getattr__(name: str) -> Any:
    """Nothing happens at import: torch comes in with the first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gra2seq' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
