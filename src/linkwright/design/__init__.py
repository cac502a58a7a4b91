"""What designers read off a machine: bearings, drives, balancing (`balancing`) and which dimension matters (`sensitivity`)."""
