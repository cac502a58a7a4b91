"""Results for designers: bearings, drives, balancing (`balancing`) and the influence of dimensions (`sensitivity`)."""
