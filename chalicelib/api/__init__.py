"""The API: the catalogue of operations, the routes, and the pages beside them."""
