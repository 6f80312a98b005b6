"""Stored documents: Structs of users, projects, definitions, entities, media files, jobs and others."""
