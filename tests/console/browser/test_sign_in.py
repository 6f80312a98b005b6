"""Signing in at the console with an identity provider, as a browser does it: there, back, and on to where one was."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.resources.identity_providers.provider import Provider


def test_a_browser_signs_in_with_a_provider_and_goes_on(new_page, stack):
    provider = Provider(port=stack.hooks)
    try:
        organization = stack.api.create("Organizations", {"name": "Single sign-on"})
        body = {"name": "Reef login", "issuer": provider.issuer, "client_id": "limn", "client_secret": "s3cret"}
        stack.api.create(f"IdentityProviders/{organization}", {**body, "is_listed": True})
        page = new_page("", allow=("401",))
        page.goto(f"{stack.url}/#/profile")
        page.get_by_role("button", name="Sign in with Reef login").click()
        expect(page.get_by_text(f"ada@{provider.domain}")).to_be_visible()
        assert page.url.endswith("/#/profile")
        cookies = {each["name"]: each for each in page.context.cookies() if "sign-in" not in each["name"]}
        assert all(each["httpOnly"] and each["sameSite"] == "Strict" for each in cookies.values())
        page.reload()
        expect(page.get_by_text(f"ada@{provider.domain}")).to_be_visible()
    finally:
        provider.close()
