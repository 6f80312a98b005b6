"""The languages of the console: whole catalogues, dates and numbers by locale, no sentence elsewhere."""

from __future__ import annotations

import re
import uuid

import pytest
from playwright.sync_api import expect

from chalicelib.api.console import FOLDER, build
from tests.console.browser import views
from tests.console.browser.conftest import window
from tests.console.browser.markup import NASTY
from tests.console.browser.projects import new_project
from tests.console.browser.views import show

CATALOGUES = sorted(path.name for path in FOLDER.glob("strings*.js"))
MEMBERS = """async ([folder, files, language]) => {
  const english = {};
  for (const file of files)
    for (const [name, value] of Object.entries(await import(`${folder}/${file}`)))
      if (typeof value === 'object') english[name] = value;
  english.text = Object.fromEntries(Object.entries(english.text).filter(([name]) => !(name in english.settings)));
  const other = await import(`${folder}/${language}/index.js`);
  const members = (value, path) => typeof value === 'function' ? [`${path}(${value.length})`]
    : typeof value === 'object' ? Object.entries(value).flatMap(([name, each]) => members(each, `${path}.${name}`))
    : [path];
  return [members(english, ''), members({...other}, '')];
}"""
"""The members of the English catalogues, and of another language: paths, with the number of parameters."""

SENTENCES = r"""() => {
  const found = new Set(), skip = 'option.data, code, kbd, canvas, script, style, [data-language="data"]';
  const isShown = (each) => each.checkVisibility({ visibilityProperty: true });
  const take = (said, each) => {
    const rest = (said ?? '').replace(/\[[^\]]*~\]/g, ' ').trim();
    if (/\p{L}{3}/u.test(rest) && !each.closest(skip)) found.add(rest.replace(/\s+/g, ' '));
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const parent = walk.currentNode.parentElement;
    if (isShown(parent)) take(walk.currentNode.data, parent);
  }
  for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
    for (const each of document.querySelectorAll(`[${name}]`)) if (isShown(each)) take(each.getAttribute(name), each);
  return [...found];
}"""
"""What a page says outside of the brackets of the pseudo-language."""


CLIPPED = r"""() => {
  const parts = 'section, header, nav, aside, main, dialog, .card';
  const away = '.visually-hidden, .cut, .scroll-x, .scroll, .table-card';
  const isClipped = (each) => {
    const box = each.getBoundingClientRect(), part = each.parentElement.closest(parts)?.getBoundingClientRect();
    const isCut = getComputedStyle(each).overflowX !== 'visible' && each.scrollWidth > each.clientWidth + 1;
    return (isCut && !each.querySelector('.cut')) || box.right > innerWidth + 1 || (part && box.right > part.right + 2);
  };
  return [...document.querySelectorAll('button, .button, .tab, .chip, label, th, h1, h2, select')]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest(away) && isClipped(each))
    .map((each) => each.outerHTML.slice(0, 140));
}"""
"""The controls and headings whose text is cut, or that leave the part of the page in which they are."""

DATA = re.compile(
    "Limn|Local Admin|admin(@example.org| \\( \\))?|[a-z0-9]+@example.org|http://.*"
    "|\\w+ \\d+, 2\\d{3}, .*|now( .*)?|\\d+ (seconds?|minutes?) ago( .*)?|COCO"
    "|[A-Z][a-z]+[A-Z]\\w+|[a-z_]+|_script_.*"  # operations, and members of entities in their history
    "|[0-9a-f-]{36}|u[0-9a-f]{8}|(project|user) \\d+"
    "|:? ?Baseline|Initial version|Animalia|Assigned to|Work status|Review|Review comment"
    "|To do|In progress|Done|Open|Accepted|Rejected|To do, In progress, Done|Open, Accepted, Rejected"
    "|\\(Ctrl Enter\\)|<b>.*|<svg .*"
)
"""Names, words and dates of the project `nasty` and of the service."""

LACKING = "export const text = {profile: 'Mein Profil', tabs: 3}; export const settings = {}"


@pytest.mark.parametrize("language", ["de", "es"])
def test_a_language_has_every_sentence_with_its_parameters(page, language):
    show(page, "/#/")
    english, other = map(set, page.evaluate(MEMBERS, [f"/console/{build().name}", CATALOGUES, language]))
    assert sorted(english - other) == [], f"{language} lacks these"
    assert sorted(other - english) == [], f"English lacks these of {language}"


def test_every_view_is_made_of_sentences_of_the_catalogue_and_has_room_for_long_ones(new_page, stack, nasty):
    member = new_page(allow=("allow-same-origin",))
    stranger = new_page(stack.user(f"new{uuid.uuid4().hex[:8]}")[1])
    hard_coded, clipped = set(), set()
    for view in views.addresses(**nasty):
        page = stranger if view == "/#/" else member  # projects of other tests are in the list of the member
        page.add_init_script("localStorage['limn.language'] = 'pseudo'")
        show(page, view)
        hard_coded |= {f"{view}: {each}" for each in page.evaluate(SENTENCES) if not is_data(each)}
        clipped |= {f"{view}: {each}" for each in page.evaluate(CLIPPED)}
    assert not hard_coded, "\n".join(sorted(hard_coded))
    assert not clipped, "\n".join(sorted(clipped))


def is_data(said: str) -> bool:
    """Whether something comes from the project or the service, not from the console."""
    left = re.sub("|".join(map(re.escape, (*NASTY, "window.hit=1"))), "", said)
    return bool(left != said or DATA.fullmatch(said))


def test_a_browser_in_german_gets_german_sentences_dates_and_numbers(browser, stack):
    context = window(browser, stack, locale="de-DE")
    try:
        stack.sign_in(context, stack.token)
        page = context.new_page()
        show(page, "/#/profile")
        assert page.evaluate("document.documentElement.lang") == "de"
        expect(page.get_by_role("heading", name="Profil und Token")).to_be_visible()
        values = "[it.number(12345), it.bytes(1500), it.date('2026-03-01T12:00:00Z')]"
        read = f"import('/console/{build().name}/ui/format.js').then((it) => {values})"
        assert page.evaluate(read) == ["12.345", "1,5 kB", "01.03.2026, 12:00"]
    finally:
        context.close()


@pytest.mark.parametrize(
    ("language", "taken", "missing"),
    [("de", "Das gibt es schon.", "Das gibt es nicht"), ("es", "Ya existe.", "No existe")],
)
def test_a_refusal_is_told_in_the_language_before_the_words_of_the_service(new_page, stack, language, taken, missing):
    page = new_page(allow=("status of 40",))
    page.add_init_script(f"localStorage['limn.language'] = '{language}'")
    project = new_project(stack.api, "Reef")
    name = stack.api.ask("GET", f"Project/{project}")["name"]
    ask = """async ([root, body]) => {
      const { post } = await import(`${root}/client.js`), { explain } = await import(`${root}/ui/toast.js`);
      return post('Projects', body).catch(explain);
    }"""
    show(page, "/#/")
    body = {"name": name, "organization": stack.api.ask("GET", f"Project/{project}")["organization"]}
    said = page.evaluate(ask, [f"/console/{build().name}", body])
    assert said == f"{taken} (name: the organization already has a project of this name.)"
    page.goto("/#/projects/99999999")
    expect(page.get_by_role("alert")).to_contain_text(missing)
    expect(page.get_by_role("alert")).to_contain_text("99999999")


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_all_tabs_of_a_project_are_seen_on_a_small_screen(page, stack, language):
    project = new_project(stack.api, "Reef")
    page.add_init_script(f"localStorage['limn.language'] = '{language}'")
    page.set_viewport_size({"width": 1280, "height": 800})
    show(page, f"/#/projects/{project}")
    hidden = "(tabs) => tabs.scrollWidth - tabs.clientWidth"
    assert page.locator(".bar nav").evaluate(hidden) <= 1


def test_the_profile_chooses_the_language(page):
    show(page, "/#/profile")
    page.get_by_label("Language").select_option("Español")
    expect(page.get_by_role("heading", name="Perfil y tokens")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "es"
    page.reload()
    page.get_by_label("Idioma").select_option("Como el navegador")
    expect(page.get_by_role("heading", name="Profile and tokens")).to_be_visible()


def test_what_a_translation_lacks_is_english(page):
    page.add_init_script("localStorage['limn.language'] = 'de'")
    page.route("**/de/index.js", lambda route: route.fulfill(content_type="text/javascript", body=LACKING))
    show(page, "/#/profile")
    expect(page.get_by_role("heading", name="Mein Profil")).to_be_visible()
    expect(page.get_by_role("button", name="Change the password")).to_be_visible()
