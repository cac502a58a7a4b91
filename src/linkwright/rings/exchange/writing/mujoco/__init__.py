"""A mechanism as MuJoCo's XML (MJCF), and the map between its coordinates and ours."""
