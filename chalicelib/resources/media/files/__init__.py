"""Files of media: their records, uploads that are moved to them, the archive."""
