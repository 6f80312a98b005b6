"""Dataset formats: pure writers and readers of streams. No AWS, no database, no pictures decoded.

    model           the neutral rows, and what a writer writes to and a reader reads from
    interpolation   boxes between the keyed boxes of a track
    coco, yolo, …   one module for each format: `write`, `frame` and `read`

A writer handles a part of the media at a time, so that parts are written by several functions.
`docs/guides/datasets.md` states the conventions of every format and what it cannot hold.
"""
