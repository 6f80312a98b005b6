"""What media, localizations, states, leaves and files share."""
