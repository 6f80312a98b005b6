"""Sign-in with identity providers of organizations (OpenID Connect)."""
