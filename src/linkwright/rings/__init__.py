"""Rings around the core: each builds on the core and on other rings, and the core imports none of them."""
