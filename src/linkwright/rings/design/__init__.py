"""Results for designers: bearings, drives, balancing (`balancing`), studies of many designs and tolerances (`studies`)."""
