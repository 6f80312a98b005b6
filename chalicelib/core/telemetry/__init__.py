"""Telemetry of vehicles and instruments: CSV, NMEA 0183 and GPX as tables of times and values (decision 222)."""
