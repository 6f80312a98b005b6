"""The service on one machine: its start, API Gateway, the pollers of its queues and its timers, on `infra.emulator`."""
