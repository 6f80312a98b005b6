"""The audit logs of organizations."""
