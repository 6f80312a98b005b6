"""Argo workflows as data: manifests, checks, conditions and their expansion into nodes."""
