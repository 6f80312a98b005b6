"""Signatures of webhooks: what a receiver needs to refuse a replay. Pure."""

from __future__ import annotations

import itertools

from chalicelib.resources.webhooks import signing

KEY = signing.new_secret()


def signature(key=KEY, message="7/1", moment=1_800_000_000, body=b"{}"):
    return signing.headers([key], message, moment, body)["webhook-signature"]


def test_a_signature_is_of_its_id_its_time_and_its_body_alone():
    others = (
        signature(message="7/2"),
        signature(moment=1_800_000_001),
        signature(body=b"{ }"),
        signature(key=signing.new_secret()),
        signature(message="7/1.1800000000", moment=1),
    )
    assert signature() == signature()
    assert all(one != two for one, two in itertools.combinations([signature(), *others], 2))


def test_a_receiver_can_tell_how_old_a_message_is():
    told = signing.headers([KEY], "7/1", 1_800_000_000, b"{}")
    assert (told["webhook-id"], told["webhook-timestamp"]) == ("7/1", "1800000000")
