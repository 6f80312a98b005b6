"""Structs are described before threads decode them."""

from __future__ import annotations

from infra.local import struct_types


def test_all_structs_that_the_api_decodes_are_described_and_none_twice():
    import app  # noqa: F401 defines them

    found = struct_types.prepare()
    assert found > 300
    assert struct_types.prepare() == found
