"""The description of a mechanism: bodies, joints, formulas, parameters; its file format; the built-in models."""
