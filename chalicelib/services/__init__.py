"""Multi-step work that several callers share, and the bridge between storage, queues and video."""
