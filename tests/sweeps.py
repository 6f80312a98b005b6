"""Sweeps: one rule over many cases in one test, where a test of its own for each would cost more than the case.

    @sweep("operation", OPERATIONS, ids=lambda operation: operation.id)
    def test_every_operation_has_a_tag(operation):
        assert operation.tag

A failing case does not hide the others: the test fails with all of them, each named by its id. `CASE=GetMedia` in the
environment leaves the cases whose id contains that text. All cases of a part share the test's fixtures. The function
for one case is the attribute `case` of the test.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any

import hypothesis
import pytest

Test = Callable[..., None]


def sweep(
    names: str, cases: Iterable[Any], *, ids: Callable[[Any], str] = str, parts: int = 1
) -> Callable[[Test], Test]:
    """Run a test function over cases.

    Args:
        names: the arguments that take a case, divided by commas: a case of several arguments is a sequence.
        cases: the cases, at least one.
        ids: the id of a case.
        parts: into how many tests the cases are dealt, so that workers share them.
    """
    arguments = [name.strip() for name in names.split(",")]
    wanted = os.environ.get("CASE", "")
    chosen = [(ids(case), case) for case in cases]
    assert chosen, "a sweep without cases holds nothing"
    chosen = [(name, case) for name, case in chosen if wanted in name]

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        fixtures = [each for each in signature.parameters.values() if each.name not in arguments]

        def run(*owner: Any, part: int = 0, **given: Any) -> None:
            mine = chosen[part::parts]
            if not mine:
                pytest.skip(f"no case of this sweep contains {wanted!r}")
            failures = []
            for name, case in mine:
                values = [case] if len(arguments) == 1 else case
                try:
                    test(*owner, **dict(zip(arguments, values, strict=True)), **given)
                except pytest.skip.Exception:
                    continue
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 all cases are tried
                    failures.append(_named(failure, name))
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(mine)} cases fail", failures)

        run.__name__, run.__qualname__, run.__doc__ = test.__name__, test.__qualname__, test.__doc__
        run.__module__ = test.__module__
        run.case = test  # type: ignore[attr-defined]
        dealt = [inspect.Parameter("part", inspect.Parameter.KEYWORD_ONLY)] if parts > 1 else []
        run.__signature__ = signature.replace(parameters=[*fixtures, *dealt])  # type: ignore[attr-defined]
        run.pytestmark = list(getattr(test, "pytestmark", ()))  # type: ignore[attr-defined]
        return pytest.mark.parametrize("part", range(parts), ids=range(1, parts + 1))(run) if parts > 1 else run

    return decorate


def examples(few: int, many: int, *strategies: Any) -> Callable[[Test], Test]:
    """Run a test over examples of Hypothesis: few with each commit, many by night; the same unless a profile says."""

    def decorate(test: Test) -> Test:
        numbers = [pytest.param(few, id="few"), pytest.param(many, id="many", marks=pytest.mark.nightly)]

        signature = inspect.signature(test)
        fixtures = list(signature.parameters.values())[: -len(strategies)]

        def run(examples: int, **given: Any) -> None:
            is_same = examples == few or hypothesis.settings.get_current_profile_name() == "commit"
            bounds = hypothesis.settings(max_examples=examples, derandomize=is_same, deadline=None)
            bounds(hypothesis.given(*strategies)(test))(**given)

        number = inspect.Parameter("examples", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = signature.replace(parameters=[*fixtures, number])  # type: ignore[attr-defined]
        run.__name__, run.__qualname__, run.__doc__ = test.__name__, test.__qualname__, test.__doc__
        run.__module__ = test.__module__
        return pytest.mark.parametrize("examples", numbers)(run)

    return decorate


def _named(failure: BaseException, name: str) -> Exception:
    """A failure that shows the id of its case."""
    failure.add_note(f"case: {name}")
    if isinstance(failure, Exception):
        return failure
    made = AssertionError(str(failure))  # a group of exceptions holds no outcome of pytest
    made.add_note(f"case: {name}")
    return made.with_traceback(failure.__traceback__)
