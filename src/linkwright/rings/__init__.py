"""What is built on the core: rings that use `linkwright.api` and each other's public names, and that the core does not know."""
