"""Lambda functions of queues and schedules, which share `chalicelib`."""
