r"""Search string → tree: `search`, `annotation_search`, `media_search` and older saved searches.

The grammar is that of Lucene's query strings, parsed by luqum: terms, phrases, `field:value`, groups, AND OR NOT + -,
`!` for NOT, `*` and `?`, `~` for fuzzy, `[a TO b]` and `{a TO b}`, `>` `>=` `<` `<=`, `_exists_:field`, with `\` before
a character that is meant literally. A `/` is literal. Boosts are accepted and have no effect: there are no scores.

A term matches a text field as a whole, whatever the case; a phrase in quotes matches its words in that order anywhere
in the field, and so do terms of `filename`. A term without a field is looked for inside every text field and the name.
A date means all its instants, so `2022-01-31` is that day and `>2022-01-31` begins after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from chalicelib.errors import BadInput
from chalicelib.query.tree import AnyText, Compare, Everything, OfDtype, Tree, both, either, negated
from chalicelib.query.values import LONGEST_TEXT, fold, shown

DEEPEST = 24
MOST_TERMS = 1_000
MOST_EDITS = 2
LONGEST_WILD = 1_000
_SHORT, _LONG = 3, 6
"""Without a number, `~` allows no edit of words shorter than the first, one below the second, two from there on."""

# Before parsing: a minus before a number after a comparison and a slash are text, and an exclamation mark is NOT.
_NEGATIVE = re.compile(r"(?<=[:<>=\[{])-(?=[0-9.])|(?<=\bTO )-(?=[0-9.])")
_REPLACED = re.compile(r'"(?:\\.|[^"\\])*"|\\.|/|(?:^|(?<=[\s(!]))!', re.DOTALL)
_REPLACEMENTS = {"/": r"\/", "!": "NOT "}
FILE_NAME = "filename"
"""Its terms match words of the name; those of `_exact_name` match all of it."""
_SIGNS = {"&&": "AND", "||": "OR"}
_PART = re.compile(r"(?:character|unexpected) +'(.*)' at position")
_WRONG: dict[tuple[str, ...], str] = {
    ("end",): "it ends too early. Close each ( and [, and write something after a colon, <, >, AND, OR and NOT.",
    ('"',): 'a phrase needs a " at both ends.',
    (")",): "each ) needs a ( before it, with something whole between them.",
    ("]", "}"): "a range is name:[1 TO 5], or name:{1 TO 5} without its ends.",
    ("AND", "OR", "NOT"): "AND and OR stand between two terms. Write \\AND to find the word.",
    (): "write \\ before a character that is meant literally, and ranges as name:[1 TO 5].",
}
"""By how the part begins that is not expected."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_WILD = re.compile(r"\\(.)|([*?])", re.DOTALL)


def parse(text: str, place: str) -> Tree:
    """The tree of a search string; names in it are not looked up yet.

    Raises:
        BadInput: not a search string; the message names `place`.
    """
    from luqum.exceptions import ParseError  # noqa: PLC0415 90 ms that only searches in this language pay
    from luqum.thread import parse as parse_lucene  # noqa: PLC0415

    if len(text) > LONGEST_TEXT:
        raise BadInput(f"{place} may have at most {LONGEST_TEXT} characters.")
    try:
        parsed = parse_lucene(_prepared(text))
    except ParseError as error:
        raise BadInput(f"{place} is not a search string: {_reason(str(error))}") from None
    except RecursionError:
        raise BadInput(f"{place} may have at most {MOST_TERMS} terms, nested at most {DEEPEST} deep.") from None
    except (ArithmeticError, ValueError):  # luqum's lexer takes `~.` and `^.` for numbers
        raise BadInput(f"{place} is not a search string: what follows ~ or ^ must be a number.") from None
    return _Parser(place).tree(parsed, None, 0) if parsed is not None else Everything()


def _reason(error: str) -> str:
    """What is wrong with a string, by the part that luqum names in an error; without one, the string ends too early."""
    found = _PART.search(error)
    rule = next(rule for marks, rule in _WRONG.items() if found is None or not marks or found[1].startswith(marks))
    return rule if found is None else f"{shown(found[1])} is not expected there: {rule}"


def _prepared(text: str) -> str:
    text = _REPLACED.sub(lambda found: _REPLACEMENTS.get(found[0], found[0]), text)
    return " ".join(_SIGNS.get(part, part) for part in _NEGATIVE.sub(r"\\-", text).split(" "))


class _Parser:
    """One parse, with its limits; `field` is the name that the terms of a group apply to."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.terms = 0

    def tree(self, node: Any, field: str | None, depth: int) -> Tree:
        """The tree of a parsed node."""
        self.terms += 1
        if depth > DEEPEST or self.terms > MOST_TERMS:
            raise BadInput(f"{self.place} may have at most {MOST_TERMS} terms, nested at most {DEEPEST} deep.")
        make = _NODES.get(type(node).__name__)
        if make is None:
            raise BadInput(f"{self.place}: {shown(str(node))} is not understood.")
        return make(self, node, field, depth)

    def field(self, node: Any, _: str | None, depth: int) -> Tree:
        """A field and its condition."""
        name = _literal(node.name)
        kind = type(node.expr).__name__
        if name == "*":
            return self.tree(node.expr, None, depth + 1)
        if name == "_exists_":
            return Compare(_literal(str(node.expr)), "exists", value=False)
        if name == "_dtype" and kind in ("Word", "Phrase"):
            return OfDtype(_literal(str(node.expr).strip('"')))
        return self.tree(node.expr, name, depth + 1)

    def inside(self, node: Any, field: str | None, depth: int) -> Tree:
        """A group, or a boost, which is ignored."""
        return self.tree(node.children[0], field, depth + 1)

    def all(self, node: Any, field: str | None, depth: int) -> Tree:
        """AND."""
        return both(*(self.tree(each, field, depth + 1) for each in node.children))

    def any(self, node: Any, field: str | None, depth: int) -> Tree:
        """OR, or adjacent terms: where some have + or -, those decide and the rest are optional."""
        by_sign: dict[str, list[Tree]] = {"Plus": [], "Prohibit": [], "": []}
        for each in node.children:
            sign = type(each).__name__
            by_sign[sign if sign in by_sign else ""].append(self.tree(each, field, depth + 1))
        # A Prohibit is negated already.
        decided = [*by_sign["Plus"], *by_sign["Prohibit"]]
        if by_sign["Plus"] or not by_sign[""]:
            return both(*decided)
        return both(either(*by_sign[""]), *decided)

    def none(self, node: Any, field: str | None, depth: int) -> Tree:
        """NOT and -."""
        return negated(self.tree(node.children[0], field, depth + 1))

    def word(self, node: Any, field: str | None, _: int) -> Tree:
        """A word, perhaps with wildcards."""
        text = node.value
        if text == "*":
            return Everything() if field is None else Compare(field, "exists", value=False)
        if _has_wildcard(text):
            if len(text) > LONGEST_WILD:
                raise BadInput(f"{self.place}: a word with wildcards may have at most {LONGEST_WILD} characters.")
            return self._asked(field, "wildcard", _pattern(text))
        return self._asked(field, "term", _literal(text))

    def phrase(self, node: Any, field: str | None, _: int) -> Tree:
        """A phrase in quotes."""
        return self._asked(field, "phrase", _literal(node.value[1:-1]))

    def near(self, node: Any, field: str | None, _: int) -> Tree:
        """Words near each other: all of them anywhere in the value."""
        words = _literal(node.term.value[1:-1]).split()
        return both(
            *(AnyText("contains", each) if field is None else Compare(field, "contains", each) for each in words)
        )

    def fuzzy(self, node: Any, field: str | None, _: int) -> Tree:
        """A word with an edit distance."""
        text = fold(_literal(node.term.value))
        edits = node.degree
        if edits is None or edits != int(edits):  # no number: the parser fills in 0.5
            edits = 0 if len(text) < _SHORT else 1 if len(text) < _LONG else 2
        return self._asked(field, "fuzzy", [text, min(int(edits), MOST_EDITS)])

    def range(self, node: Any, field: str | None, _: int) -> Tree:
        """A range in brackets, closed or open at each end."""
        low, high = _end(node.low), _end(node.high)
        found = []
        if low != "*":
            found.append(self._compared(field, "from" if node.include_low else "after", low))
        if high != "*":
            found.append(self._compared(field, "to" if node.include_high else "before", high))
        return both(*found) if found else self._compared(field, "exists", value=False)

    def from_(self, node: Any, field: str | None, _: int) -> Tree:
        """> and >=."""
        return self._compared(field, "from" if node.include else "after", _end(node.a))

    def to(self, node: Any, field: str | None, _: int) -> Tree:
        """< and <=."""
        return self._compared(field, "to" if node.include else "before", _end(node.a))

    def _compared(self, field: str | None, word: str, value: Any) -> Tree:
        if field is None:
            raise BadInput(f"{self.place}: a range needs a field.")
        return Compare(field, word, value)

    def _asked(self, field: str | None, word: str, value: Any) -> Tree:
        if field is not None:
            return Compare(field, "phrase" if word == "term" and field == FILE_NAME else word, value)
        return AnyText("contains" if word in ("term", "phrase") else word, value)


_Make = Callable[[_Parser, Any, str | None, int], Tree]
_NODES: dict[str, _Make] = {
    "SearchField": _Parser.field,
    "Group": _Parser.inside,
    "FieldGroup": _Parser.inside,
    "Boost": _Parser.inside,
    "Plus": _Parser.inside,
    "AndOperation": _Parser.all,
    "OrOperation": _Parser.any,
    "UnknownOperation": _Parser.any,
    "BoolOperation": _Parser.any,
    "Not": _Parser.none,
    "Prohibit": _Parser.none,
    "Word": _Parser.word,
    "Phrase": _Parser.phrase,
    "Proximity": _Parser.near,
    "Fuzzy": _Parser.fuzzy,
    "Range": _Parser.range,
    "From": _Parser.from_,
    "To": _Parser.to,
}
"""By the name of luqum's node: luqum is imported only for a search string."""


def _literal(text: str) -> str:
    return _ESCAPED.sub(r"\1", text.strip())


def _end(node: Any) -> str:
    text = str(node).strip()
    return _literal(text[1:-1] if text.startswith('"') else text)


def _has_wildcard(text: str) -> bool:
    return any(found[2] for found in _WILD.finditer(text))


def _pattern(text: str) -> str:
    """The regular expression of a word with wildcards, over folded text."""
    parts: list[str] = []
    at = 0
    for found in _WILD.finditer(text):
        parts.append(_quoted(text[at : found.start()]))
        parts.append({"*": ".*", "?": "."}.get(found[2], "") or _quoted(found[1] or ""))
        at = found.end()
    return "".join((*parts, _quoted(text[at:])))


def _quoted(text: str) -> str:
    return re.escape(fold(text))
