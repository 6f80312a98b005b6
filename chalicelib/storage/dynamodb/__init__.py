"""Rows of the DynamoDB tables: records, entities, ids, transactions."""
