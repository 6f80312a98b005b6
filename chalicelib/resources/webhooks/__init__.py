"""Webhooks: signed messages about events to servers that users register; rules that launch algorithms on events."""
