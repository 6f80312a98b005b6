"""SCIM 2.0: users and groups of an organization, as its identity provider provisions them."""
