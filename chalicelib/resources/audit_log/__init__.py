"""The audit log of an organization."""
