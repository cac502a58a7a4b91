"""Rings around the core: they use `linkwright.api` and each other's public names, and the core does not know them."""
