"""Identity providers of organizations, and the identities that users have there."""
