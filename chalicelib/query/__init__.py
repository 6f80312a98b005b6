"""Queries: four languages, one tree, two evaluations.

    parameters, bodies     the declared parameters of entity lists; the bodies that ask by id
    filters                parameters and bodies → Query
    object_search          encoded_search, object_search, saved sections → tree
    search_string          search, annotation_search, media_search → tree
    tree                   the tree and the Query around it
    operators, columns     the operators and the built-in fields: tables of rows
    check, binding         names bound to a project's definitions → checked Query, or a clear 400
    evaluate               a checked Query on plain Python values: the reference implementation
    layout, compiler       a checked Query as SQL for `storage/view/view.py`
    values, geodesy        conversion of values; distances on the Earth

From a request to its answer:

    query = parse(Kind.LOCALIZATION, call.query, call.body)     # BadInput: a parameter breaks its language
    view = views.current(project)                               # all that was committed before now
    query = check(query, view.definitions)                      # BadInput: unknown name, wrong operator; NotFound
    view.documents(query)                                       # JSON texts, as answers emit them; also count, ids

`check` takes as a third argument the caller's permission scope, by kind, as a tree of `Test`s; it can only narrow. Bulk
operations take `ids`. Unknown attributes and operators that a dtype lacks are 400 in every language; only
`attribute_null` of an unknown attribute is accepted, and sorting by one sorts nothing.
"""

from chalicelib.query.check import check
from chalicelib.query.parsers.filters import parse

__all__ = ["check", "parse"]
