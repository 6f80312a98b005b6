"""The conditions of nearly all writes: pynamodb's own take as long to build as the row that they guard."""

from __future__ import annotations

from typing import Any

from pynamodb.constants import NUMBER
from pynamodb.expressions.condition import Condition


class Unmoved(Condition):
    """The condition that the optimistic lock of a row, its `n`, is unchanged: `EntityRow.n == n`, built faster."""

    def __init__(self, n: int) -> None:
        super().__init__("=", n)
        self._n = {NUMBER: str(n)}

    def request(self) -> dict[str, Any]:
        """The members of a botocore request that have the condition."""
        return {
            "ConditionExpression": "#n = :n",
            "ExpressionAttributeNames": _NAMES,
            "ExpressionAttributeValues": {":n": self._n},
        }

    def serialize(self, placeholder_names: dict[str, str], expression_attribute_values: dict[str, Any]) -> str:
        """The expression, with its one name and one value registered where pynamodb looks for them."""
        placeholder_names["n"] = "#n"
        expression_attribute_values[":n"] = self._n
        return "#n = :n"


class Absent(Condition):
    """The condition that no row has the key, as `EntityRow.pk.does_not_exist()`; one object serves all writes."""

    def __init__(self, key: str) -> None:
        super().__init__("attribute_not_exists")
        self._name = key

    def serialize(self, placeholder_names: dict[str, str], expression_attribute_values: dict[str, Any]) -> str:  # noqa: ARG002 it has no value
        """The expression, with its name registered where pynamodb looks for it."""
        placeholder_names[self._name] = f"#{self._name}"
        return f"attribute_not_exists(#{self._name})"


_NAMES = {"#n": "n"}
NEW = Absent("pk")
"""The condition that a row of a table with the partition key `pk` does not exist."""
