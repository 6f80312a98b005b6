from msgspec import inspect

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http.parameters import declared_type, names_of


def test_types_of_parameters_are_those_that_msgspec_sees():
    for query in {operation.query for operation in OPERATIONS}:
        for place, field in enumerate(inspect.type_info(query).fields):
            assert inspect.type_info(declared_type(query, field.name)) == field.type
            assert names_of(query, place)[0] == field.encode_name
