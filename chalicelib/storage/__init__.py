"""Where things are kept: the only place with pynamodb, S3 and DuckDB.

    tables        the five DynamoDB tables, their keys, one connection for all
    ids           integers in blocks from one counter row per kind
    transactions  writes that happen together or not at all, with the project's log as one of them
    records       users, organizations, projects, types … : small collections, read by key or by parent
    entities      media, localizations, states, leaves, files: one row each, and their visibility
    log           the commits of a project
    view          the project as of its last commit, in DuckDB
    objects       S3: keys, presigned URLs, ranges, multipart

Functions take and return domain Structs; rows never leave this package, and neither do botocore's errors.
"""
