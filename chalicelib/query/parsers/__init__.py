"""The parsers of the four query languages; each makes a tree (`query/tree.py`)."""
