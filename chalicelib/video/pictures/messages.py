"""Messages as pictures, for pages that show a frame by `<img>` and cannot read JSON there."""

from __future__ import annotations

import io
import textwrap

_SIZE, _MARGIN, _COLUMNS, _LINES = (640, 360), 24, 56, 11
_BACKGROUND, _TEXT, _MUTED = (32, 34, 38), (240, 240, 240), (160, 164, 170)


def draw_message(head: str, message: str) -> bytes:
    """A PNG of 640 x 360 with a head and a message, which is cut after eleven lines."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - kept off the cold start of what draws nothing

    picture = Image.new("RGB", _SIZE, _BACKGROUND)
    pen = ImageDraw.Draw(picture)
    pen.text((_MARGIN, _MARGIN), head, _MUTED, font=ImageFont.load_default(32))
    lines = textwrap.wrap(message, _COLUMNS)
    shown = [*lines[: _LINES - 1], "…"] if len(lines) > _LINES else lines
    pen.multiline_text((_MARGIN, 3 * _MARGIN), "\n".join(shown), _TEXT, font=ImageFont.load_default(20), spacing=5)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
