"""HTTP on this machine: API Gateway, and the pages of the local stack."""
