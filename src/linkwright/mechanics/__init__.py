"""Kinematics, constraints, dynamics, formulations and inverse dynamics of one state."""
