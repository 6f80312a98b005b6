"""CloudFormation, packaging and the local stack."""
