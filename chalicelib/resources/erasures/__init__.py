"""Erasures: a person's name, addresses and network addresses are removed, ids stay."""
