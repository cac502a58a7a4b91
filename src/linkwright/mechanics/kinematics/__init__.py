"""The tree as numbers: constants, poses, velocities, bias accelerations."""
