"""Curves of loads, labeled in the units of the model's file.

torque(c, "torque.png")                     effort and power of every drive over the turn, with extremes and RMS
pin_loads(c, "loads.png")                   size of every pin's load over the turn
hodograph(c, "C", "hodograph.png")          a pin's load as a curve in the axes of the links it joins
torque_speed(sizing, "motor.png")           the motor's cycle in its torque-speed diagram, with its limits

They are drawn in `studio.plots`, one file a family; `c.plot("torque")`, `c.plot("hodograph", pin="C")` are the same.
"""

from linkwright.rings.studio.plots.efforts import effort_channels, eyes, pin_loads, torque
from linkwright.rings.studio.plots.frame import four
from linkwright.rings.studio.plots.hodographs import hodograph, hodographs
from linkwright.rings.studio.plots.motors import torque_speed

__all__ = ["effort_channels", "eyes", "four", "hodograph", "hodographs", "pin_loads", "torque", "torque_speed"]
