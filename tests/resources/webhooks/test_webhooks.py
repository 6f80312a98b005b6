"""Webhooks through HTTP: registration, signatures, order, failures, and what a receiver can do wrong."""

from __future__ import annotations

import pytest

from chalicelib.resources.events import service as events_service


def feed(project, after="0"):
    """The ids of all events of the project after a position."""
    return [event.id for event in events_service.read(project, after=after, limit=1000).events]


def test_each_change_is_sent_once_in_order_and_signed(api, project, receiver, hook, section):
    start = events_service.last(project)
    hook()
    for _ in range(5):
        section()
    api.drain()
    assert receiver.refused == []
    assert receiver.ids == feed(project, start)
    assert [each["type"] for each in receiver.got] == ["limn.section.created"] * 5
    first = receiver.got[0]
    assert first["source"] == f"/rest/Project/{project}"
    assert first["specversion"] == "1.0"
    assert first["user"] == api.user.id
