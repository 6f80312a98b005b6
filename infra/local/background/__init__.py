"""Work of the local stack beside its requests: functions of queues and schedules, and views that are kept fresh."""
