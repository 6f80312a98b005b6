"""Telemetry of media: what vehicles and instruments recorded at the time of a frame."""
