"""What designers read off a machine: balancing, and which dimension matters (bearings and drives have their own modules)."""
