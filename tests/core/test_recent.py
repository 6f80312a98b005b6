"""Values that are kept in memory, up to a size in all."""

from __future__ import annotations

from chalicelib.core.values.recent import Recent


def test_values_made_lately_are_kept_up_to_a_size():
    kept, made = Recent[bytes](10, 6, len), []

    def get(key, size):
        return kept.get(key, lambda: made.append(key) or bytes(size))

    for key, size in (("a", 5), ("b", 5), ("a", 5), ("c", 5), ("a", 5), ("b", 5), ("large", 7), ("large", 7)):
        assert len(get(key, size)) == size
    assert made == ["a", "b", "c", "b", "large", "large"]
    kept.clear()
    get("a", 5)
    assert made[-1] == "a"
