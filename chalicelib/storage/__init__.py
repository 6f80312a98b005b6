"""Storage layer: the only package that imports pynamodb, S3 and DuckDB.

    tables        the DynamoDB tables, their keys, one connection for all
    ids           integers, reserved in blocks from one counter row per kind
    transactions  atomic writes of several rows, including the commit to the project's log
    records       users, organizations, projects, types … : small collections, read by key or by parent
    entities      media, localizations, states, leaves, files: one row each, and which of them readers see
    log           the commits of a project
    view          the project as of its last commit, in DuckDB
    objects       S3: keys, presigned URLs, ranges, multipart

Functions take and return domain Structs; rows and botocore's errors never leave this package.
"""
