"""Rendering templates of other authors: Jinja, of which only what cannot run away is left.

A template is data from the web. It may put in parameters, choose and repeat; it may not call anything, assign anything,
or take other templates in. The text, the values, the rounds of all loops and the result have sizes here. That bounds
neither time nor memory: one filter makes gigabytes of 30 bytes (`1|round(-10000000)`). So every template is rendered in
a child process (`video.process.isolation`), which the kernel ends at its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from chalicelib.errors import BadInput, TooLarge
from chalicelib.video.process import isolation

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

LARGEST_TEMPLATE = 128 * 1024
"""Bytes; a page of an applet may have more as a file."""
LARGEST_RESULT = 1024 * 1024
MOST_ROUNDS = 10_000
"""Rounds of all loops together."""
FILTERS = frozenset(
    {"abs", "bool", "capitalize", "d", "default", "e", "escape", "first", "float", "int", "join", "last", "length"}
    | {"list", "lower", "replace", "round", "sort", "string", "title", "tojson", "trim", "unique", "upper"}
)
"""The filters that are left; what they make has at most `LARGEST_RESULT` characters or items."""
NODES = frozenset(
    {"Template", "Output", "TemplateData", "Name", "Const", "List", "Tuple", "Dict", "Pair", "Getattr", "Getitem"}
    | {"Filter", "If", "For", "CondExpr", "Compare", "Operand", "And", "Or", "Not", "Test", "Concat", "Keyword"}
)
LIMITS = isolation.Limits(seconds=5.0, memory=512 * 1024 * 1024, file_size=0, subject="template")
_COUNTED = "limn_counted"


def render(source: str, values: Mapping[str, str]) -> str:
    """A template with values put in, rendered in a child process.

    Raises:
        BadInput: it is no template, or uses what is not left, which the message names; or it takes more time or memory
            than `LIMITS`.
        TooLarge: it or its result is too large, or its loops go round too often.
    """
    return isolation.render(render_here, source, dict(values), limits=LIMITS)


def warm_up() -> None:
    """Load the library that renders, so that children find it loaded."""
    _environment()


def render_here(source: str, values: dict[str, str]) -> str:
    """As `render`, in this process: only for the child."""
    import jinja2  # noqa: PLC0415 only the child needs it
    from jinja2 import nodes  # noqa: PLC0415

    if len(source.encode()) > LARGEST_TEMPLATE:
        raise TooLarge(f"template: {LARGEST_TEMPLATE} bytes at most.")
    try:
        tree = _environment().parse(source)
        for node in list(tree.find_all(nodes.Node)):
            kind = type(node).__name__
            if kind not in NODES:
                raise BadInput(f"template: line {node.lineno}: {kind.lower()} is not supported in templates.")
            if isinstance(node, nodes.Filter) and node.name not in FILTERS:
                raise BadInput(f"template: line {node.lineno}: the filter {node.name} is not supported.")
            if isinstance(node, nodes.For):
                if node.recursive:
                    raise BadInput(f"template: line {node.lineno}: recursive loops are not supported.")
                node.iter = nodes.Filter(node.iter, _COUNTED, [], [], None, None, lineno=node.lineno)
        code = _environment().compile(tree)
        template = jinja2.Template.from_code(_environment(), code, {**_environment().globals, **values})
        return _collect(template.generate(**values, **{_BUDGET: [MOST_ROUNDS]}))
    except jinja2.TemplateSyntaxError as error:
        raise BadInput(f"template: syntax error at line {error.lineno}: {error.message}.") from None
    except (jinja2.TemplateError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise BadInput("template: it cannot be rendered.", str(error)[:500]) from None


_BUDGET = "limn_rounds"


def _collect(pieces: Iterable[str]) -> str:
    found, size = [], 0
    for piece in pieces:
        size += len(piece)
        _check(size)
        found.append(piece)
    return "".join(found)


@lru_cache(maxsize=1)
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined, pass_context  # noqa: PLC0415
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, cache_size=0)
    environment.globals.clear()
    environment.filters = {name: _bound(function) for name, function in environment.filters.items() if name in FILTERS}

    @pass_context
    def count(context: Any, values: Any) -> Iterator[Any]:
        left = context[_BUDGET]
        for value in values:
            left[0] -= 1
            if left[0] < 0:
                raise TooLarge(f"template: its loops may go round {MOST_ROUNDS} times.")
            yield value

    environment.filters[_COUNTED] = count
    return environment


def _bound(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter whose result is refused where it is too large."""
    from functools import wraps  # noqa: PLC0415

    @wraps(function)
    def filter_bounded(*args: Any, **more: Any) -> Any:
        result = function(*args, **more)
        if hasattr(result, "__len__"):
            _check(len(result))
        return result

    return filter_bounded


def _check(size: int) -> None:
    if size > LARGEST_RESULT:
        raise TooLarge(f"template: the rendered text may have {LARGEST_RESULT} characters.")
