"""Channels of a motion by name: what they are, and how they are read.

    kinematic, cylinders, loads          the channels, one place each: a name, a dimension, and a function of an `Instant`
    driven, singular                     those that follow from what holds a motion, and from ranks
    channel_list                         their names as a table
    graph                                a mechanism on symbols, which reads all samples of a motion at once
    sample_loads, cycle_loads            stage: loads of a motion, as they were or solved for
    driven_motion                        stage: what follows from the drives that hold a motion
    readings                             one motion: `c["A.torque"]`
    kernel, lanes                        many designs: the same stages in machine code
    derivatives                          derivatives of one motion by parameters

A new channel is one entry in one of the first files. It is then read of one motion and of many, differentiated, measured and listed.
"""

from linkwright.results.channels.kinematic import Channel, Channels, rotation_quaternions

__all__ = ["Channel", "Channels", "rotation_quaternions"]
