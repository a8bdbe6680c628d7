"""SVG: reading drawings, writing drawings, and editing a user's document in place."""

from gra2seq.formats.svg.document import SvgDocument
from gra2seq.formats.svg.reader import read_svg
from gra2seq.formats.svg.writer import write_svg

__all__ = ["SvgDocument", "read_svg", "write_svg"]
