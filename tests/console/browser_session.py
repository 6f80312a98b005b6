"""The sign-in of a browser, for programs that open pages of the console."""

from __future__ import annotations

from playwright.sync_api import BrowserContext


def keep(window: BrowserContext, url: str, token: str) -> None:
    """Sign a browser in by a token: the service sets its cookie, and the page notes that there is one."""
    headers = {"Authorization": f"Token {token}", "Limn-Session": "1"}
    answer = window.request.post(f"{url}/rest/Session", headers=headers)
    assert answer.status == 201, answer.text()
    mark = "localStorage['limn.session'] = localStorage['limn.signed'] = '1'"
    window.add_init_script(f"if (!localStorage['limn.signed']) {mark}")
