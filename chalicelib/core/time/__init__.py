"""Time limits of requests, and pauses between retries."""
