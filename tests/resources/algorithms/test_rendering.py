"""Templates of other authors: what they may do, and what they may take."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

import chalicelib
from chalicelib.errors import BadInput, TooLarge
from chalicelib.resources.hosted_templates import rendering


def test_what_is_left_of_jinja():
    text = "{% for c in names %}{{ c|upper }}{% if not loop.last %},{% endif %}{% endfor %} {{ other|default('d') }}"
    assert rendering.render(text, {"names": "ab"}) == "A,B d"
    assert rendering.render("{% raw %}{{inputs.x}}{% endraw %}\n", {}) == "{{inputs.x}}\n"


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ x.__init__ }}",
        "{{ x|attr('__class__') }}",
        "{{ range(10**9) }}",
        "{{ 'a' * 10**9 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ x.format(1) }}",
        "{% set a = x %}",
        "{% macro m() %}{% endmacro %}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% extends 'x' %}",
        "{{ x|center(1000000000) }}",
        "{{ self }}{{ self.x() }}",
        "{{ x|map(attribute='__class__') }}",
        "{% for a in x recursive %}{% endfor %}",
    ],
)
def test_what_is_not(text):
    with pytest.raises(BadInput):
        rendering.render(text, {"x": "y"})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{{ 1|round(-10000000) }}", marks=pytest.mark.slow),  # minutes where nothing ends it
        "{{ {'a': 1}|tojson(200000000) }}",
        "{{ x|replace('', x|replace('', x)) }}",
    ],
)
def test_what_takes_long_or_much_memory_ends_with_its_process(text):
    began = time.monotonic()
    with pytest.raises((BadInput, TooLarge), match=r"^(Working on the template takes|template:)"):
        rendering.render(text, {"x": "a" * 20_000})
    assert time.monotonic() - began < rendering.LIMITS.seconds + 5
    # what the child took is not in this process
    assert rendering.render("{{ x }}", {"x": "still here"}) == "still here"


def test_no_template_is_rendered_in_the_process_of_the_service(monkeypatch):
    def fail(*_):
        raise AssertionError

    monkeypatch.setattr(rendering, "_environment", fail)
    assert rendering.render("{{ x }}", {"x": "elsewhere"}) == "elsewhere"
    users = [
        file
        for file in Path(chalicelib.__file__).parent.rglob("*.py")
        if file != Path(rendering.__file__)
        and re.search(r"render_here|^\s*(import|from) jinja2", file.read_text(), re.MULTILINE)
    ]
    assert users == []


def test_what_goes_round_too_often_or_grows_too_large_is_stopped():
    nested = "{% for a in x %}" * 4 + "{{ a }}" + "{% endfor %}" * 4
    grown = "{{ x|replace('a', x)|replace('a', x)|replace('a', x) }}"
    for text in (nested, grown, "{% for a in x %}{{ x }}{% endfor %}" * 20, "x" * 200_000):
        with pytest.raises(TooLarge):
            rendering.render(text, {"x": "a" * 4000})
