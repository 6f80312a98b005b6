"""Pages for links in mails: plain HTML forms without scripts, rendered here.

Every text is escaped where it is inserted. The policy allows only the style sheet, by its hash; forms can be sent only
to this service. The console replaces the style, not the forms.
"""

from __future__ import annotations

import base64
import hashlib
import html
from dataclasses import dataclass

from chalicelib.http.operation import Answer

CONTENT_TYPE = "text/html; charset=utf-8"
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 3rem auto; padding: 0 1rem; }
label { display: block; margin: 1rem 0; }
input { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .4rem; }
button { font: inherit; padding: .4rem 1rem; }
[role=alert] { border-left: .25rem solid #b00020; padding-left: .75rem; }
code { overflow-wrap: anywhere; }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title} · Limn</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{content}
</body>
</html>
"""


@dataclass(frozen=True, kw_only=True)
class Field:
    """An input of a form.

    Attributes:
        name: under which it is sent.
        label: what the reader sees.
        kind: the type of the HTML input; `hidden` ones have no label.
        value: what it contains at first.
        autocomplete: the hint for password managers.
    """

    name: str
    label: str = ""
    kind: str = "text"
    value: str = ""
    autocomplete: str = "off"


def form(*fields: Field, button: str) -> str:
    """A form that is sent to the page's own address."""
    inputs = "\n".join(_input(field) for field in fields)
    return f'<form method="post">\n{inputs}\n<button type="submit">{html.escape(button)}</button>\n</form>'


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def secret(text: str) -> str:
    """A token that is shown once."""
    return f"<p><code>{html.escape(text)}</code></p>"


def alert(text: str) -> str:
    """An error message."""
    return f'<p role="alert">{html.escape(text)}</p>'


def page(title: str, *content: str, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """A whole page; `content` is HTML that this module made."""
    body = _FRAME.format(title=html.escape(title), style=_STYLE, content="\n".join(content))
    sent = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return Answer(status=status, content_type=CONTENT_TYPE, body=body.encode(), headers={**sent, **(headers or {})})


def _input(field: Field) -> str:
    value = f' value="{html.escape(field.value)}"' if field.value else ""
    name = html.escape(field.name)
    if field.kind == "hidden":
        return f'<input type="hidden" name="{name}"{value}>'
    given = f'type="{field.kind}" name="{name}" autocomplete="{field.autocomplete}" required{value}'
    return f"<label>{html.escape(field.label)}\n<input {given}></label>"
