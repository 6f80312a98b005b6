"""From HTTP to operations and back: the catalogue, the one dispatcher, decoding, encoding, the OpenAPI document."""
