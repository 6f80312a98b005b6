"""DynamoDB on this machine: moto's, with rows in the database of the local stack."""
