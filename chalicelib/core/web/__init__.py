"""Parts of HTTP without I/O: URLs and headers of callers, tus, selected members of responses."""
