"""One folder for each resource: schemas, operations, service and messages."""
