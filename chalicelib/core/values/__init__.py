"""Values of attributes: their types, their validation, revisions, and tables of telemetry."""
