"""The programs and commands of the documents run as they stand, in any order and again, on a service that was used."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from tests.journeys.stack import ROOT, Stack
from tests.journeys.test_first_hour import SMALL
from tests.journeys.test_recipes import prepared
from tests.resources.media.samples import video
from tests.video.clips import make

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")]

DOCS = ROOT / "docs"
SHELL, PYTHON = ["bash", "-euc"], [sys.executable, "-c"]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """A stack whose home has a small video in place of the guide's."""
    running = Stack(tmp_path_factory.mktemp("home"))
    data = running.home / "tests" / "data"
    data.mkdir(parents=True)
    make(SMALL, data).rename(data / "bigbuckbunny.mp4")
    running.start(LIMN_JOBS="process")
    yield running
    running.kill()


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.DOTALL)


def run(stack: Stack, program: list[str], script: str, folder: Path | None = None, **variables: str) -> None:
    ran = subprocess.run(
        [*program, script],
        cwd=folder or stack.home,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-1500:] + ran.stderr[-3000:] + stack.log()[-1500:]


def follow_readme(stack: Stack, _: Path) -> None:
    text = (ROOT / "README.md").read_text().partition("## Five lines of curl")[2].partition("## ")[0]
    lines = "\n".join(line.strip() for line in text.splitlines() if line.startswith("    "))
    run(stack, SHELL, lines.replace("http://127.0.0.1:8000", stack.place["url"]))


def follow_recipes(stack: Stack, folder: Path) -> None:
    (folder / "photos").mkdir()
    for name in ("one", "two"):
        Image.new("RGB", (64, 48), "teal").save(folder / "photos" / f"{name}.jpg")
    (folder / "dive.mp4").write_bytes(video(50))
    place = stack.place
    variables = {**prepared(place, folder.name), "URL": place["url"], "TOKEN": place["token"]}
    for language, program in (("bash", SHELL), ("python", PYTHON)):
        run(stack, program, "\n".join(blocks(DOCS / "guides" / "recipes.md", language)), folder, **variables)


def follow_script(page: str) -> Callable[[Stack, Path], None]:
    """Run the first program of a page, in the folder of the service."""
    return lambda stack, _: run(stack, PYTHON, blocks(DOCS / page, "python")[0])


PAGES: dict[str, Callable[[Stack, Path], None]] = {
    "README.md": follow_readme,
    "guides/recipes.md": follow_recipes,
    **{
        page: follow_script(page)
        for page in (
            "first-hour.md",
            "guides/queries.md",
            "guides/statistics.md",
            "guides/survey.md",
            "guides/algorithms.md",
        )
    },
}


def follow(stack: Stack, folder: Path, order: list[str]) -> None:
    for number, page in enumerate(order):
        own = folder / f"{number}-{os.urandom(4).hex()}"
        own.mkdir()
        try:
            PAGES[page](stack, own)
        except AssertionError as failure:
            raise AssertionError(f"{page}, after {order[:number]}: {failure}") from None


@pytest.mark.nightly
def test_each_page_runs_twice_after_the_others(stack, tmp_path):
    follow(stack, tmp_path, [page for page in PAGES for _ in range(2)])
    assert "Traceback" not in stack.log()


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3, 4))])
def test_the_pages_run_in_any_order_on_a_used_service(stack, tmp_path, seed):
    order = [*PAGES]
    random.Random(seed).shuffle(order)
    follow(stack, tmp_path, order)
    assert "Traceback" not in stack.log()
