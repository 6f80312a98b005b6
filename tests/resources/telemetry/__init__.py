"""Tests of telemetry of media."""
