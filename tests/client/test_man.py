"""Manual pages and completion say what the commands declare."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
import typer

from infra.client.cli import main, man_command
from infra.client.failures import USAGE


def commands(command, path=("limn",)):
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


def test_each_command_has_a_page_with_all_its_options(limn, config, tmp_path):
    ran = limn("--json", "man", tmp_path / "man1")
    assert ran.status == 0, ran.err
    known = dict(commands(typer.main.get_command(main.app)))
    assert sorted(ran.json["pages"]) == sorted(f"{'-'.join(path)}.1" for path in known)
    for path, command in known.items():
        page = (tmp_path / "man1" / f"{'-'.join(path)}.1").read_text()
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert all(name.replace("-", "\\-") in page for name in parameter.opts), (path, parameter.name)
        assert not [line for line in page.splitlines() if line.startswith(("'", ".")) and line[1:3].islower()]
    taken = tmp_path / "file"
    taken.write_text("")
    assert limn("man", taken).status == USAGE


def test_texts_are_no_requests_of_the_formatter():
    assert man_command._text(".so /etc/passwd") == "\\&.so /etc/passwd"
    assert man_command._text("a\\b --all") == "a\\eb \\-\\-all"


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff here")
def test_pages_are_formatted_without_a_warning():
    for name, text in man_command.pages(typer.main.get_command(main.app)):
        ran = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=text.encode(), capture_output=True, check=True)
        assert ran.stderr == b"", name


@pytest.mark.slow
def test_a_shell_completes_commands():
    """As bash asks a program called limn: the names of the variables are made of that name."""
    program = "import sys; sys.argv[0] = 'limn'; from infra.client.cli.main import app; app(prog_name='limn')"
    asked = {"_LIMN_COMPLETE": "complete_bash", "COMP_WORDS": "limn mi", "COMP_CWORD": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert {"migrate", "mirror"} == set(ran.stdout.split())
