"""Code shared by media, localizations, states, leaves and files."""
