"""Arithmetic on any scalar, small linear algebra, poses and 6-vectors. Knows no mechanism."""
