"""Pages for links in mails: plain HTML forms without scripts, rendered here.

Every text is escaped where it is inserted. The policy allows only the style sheet, by its hash; forms can be sent only
to this service. They look like the console.
"""

from __future__ import annotations

import base64
import hashlib
import html
from dataclasses import dataclass

from chalicelib.http.operation import Answer
from chalicelib.settings import settings

CONTENT_TYPE = "text/html; charset=utf-8"
_STYLE = """
:root { color-scheme: light dark; --bg: #f5f4f0; --card: #fff; --line: #d9d5cb; --edge: #8b867a;
  --text: #1b1a18; --soft: #57534b;
  --accent: #2a4bc0; --on: #fff; --bad: #b3261e; --bad-bg: #fbe9e6; }
@media (prefers-color-scheme: dark) { :root { --bg: #121316; --card: #1a1c20; --line: #31353c;
  --edge: #7d838d; --text: #edecea;
  --soft: #b1aea7; --accent: #93a9ff; --on: #0f1530; --bad: #ff8e83; --bad-bg: #3d1f1c; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100dvh; display: grid; place-items: center; padding: 2rem 1rem;
  background: var(--bg); color: var(--text);
  font: 15px/1.5 Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { width: min(25rem, 100%); padding: 2rem; border: 1px solid var(--line); border-radius: 12px;
  background: var(--card);
  box-shadow: 0 4px 14px rgb(30 25 10 / .1); }
.mark { display: flex; align-items: center; gap: .6rem; margin-bottom: 1.5rem; font-weight: 680;
  letter-spacing: -.02em; }
.mark svg { width: 26px; height: 26px; }
h1 { margin: 0 0 .5rem; font-size: 1.6rem; line-height: 1.2; letter-spacing: -.02em; }
p { margin: .75rem 0; color: var(--soft); }
label { display: block; margin: 1rem 0; font-size: .85rem; font-weight: 560; color: var(--soft); }
input { display: block; width: 100%; min-height: 36px; margin-top: .3rem; padding: .3rem .65rem;
  border: 1px solid var(--edge);
  border-radius: 5px; background: var(--card); color: var(--text); font: inherit; font-size: 1rem;
  font-weight: 400; }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--accent);
  outline-offset: 1px; }
button { width: 100%; min-height: 40px; margin-top: .5rem; border: 0; border-radius: 5px;
  background: var(--accent); color: var(--on);
  font: inherit; font-weight: 560; cursor: pointer; }
[role=alert] { padding: .65rem .8rem; border-radius: 5px; background: var(--bad-bg); color: var(--bad); }
code { overflow-wrap: anywhere; }
a { color: var(--accent); }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_MARK = (
    '<svg viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6" fill="#2a4bc0"/>'
    '<path d="M7.5 5.5v10.2c0 1.7 1 2.8 2.8 2.8h6.2" fill="none" stroke="#fff" stroke-width="2.4" '
    'stroke-linecap="round"/>'
    '<circle cx="15.6" cy="8.6" r="2.6" fill="#ff8a5c"/></svg>'
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
<main>
<div class="mark">{mark}Limn</div>
<h1>{title}</h1>
{content}
</main>
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
        is_required: whether the form is sent only with it.
    """

    name: str
    label: str = ""
    kind: str = "text"
    value: str = ""
    autocomplete: str = "off"
    is_required: bool = True


def form(*fields: Field, button: str) -> str:
    """A form that is sent to the page's own address."""
    inputs = "\n".join(_input(field) for field in fields)
    return f'<form method="post">\n{inputs}\n<button type="submit">{html.escape(button)}</button>\n</form>'


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def console_link() -> str:
    """The way to the console."""
    return f'<p><a href="{html.escape(settings().public_url)}/">Open Limn</a></p>'


def secret(text: str) -> str:
    """The paragraph with a token that is shown once."""
    return f"<p><code>{html.escape(text)}</code></p>"


def alert(text: str) -> str:
    """An error message."""
    return f'<p role="alert">{html.escape(text)}</p>'


def page(title: str, *content: str, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """A whole page; `content` is HTML that this module made."""
    body = _FRAME.format(title=html.escape(title), style=_STYLE, mark=_MARK, content="\n".join(content))
    sent = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return Answer(status=status, content_type=CONTENT_TYPE, body=body.encode(), headers={**sent, **(headers or {})})


def _input(field: Field) -> str:
    value = f' value="{html.escape(field.value)}"' if field.value else ""
    name = html.escape(field.name)
    if field.kind == "hidden":
        return f'<input type="hidden" name="{name}"{value}>'
    required = " required" if field.is_required else ""
    given = f'type="{field.kind}" name="{name}" autocomplete="{field.autocomplete}"{required}{value}'
    return f"<label>{html.escape(field.label)}\n<input {given}></label>"
