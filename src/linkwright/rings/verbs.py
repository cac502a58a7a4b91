"""The verbs of all rings as editors and type checkers see them; a program finds them by `linkwright.verbs`."""

from __future__ import annotations

from linkwright.rings.control import verbs as control
from linkwright.rings.design import verbs as design
from linkwright.rings.exchange import verbs as exchange
from linkwright.rings.robots import verbs as robots
from linkwright.rings.studio import verbs as studio


class MechanismVerbs(design.MechanismVerbs, studio.MechanismVerbs, robots.MechanismVerbs, exchange.MechanismVerbs):
    """Verbs of all rings on a Mechanism."""


class SystemVerbs(robots.SystemVerbs, control.SystemVerbs, exchange.SystemVerbs):
    """Verbs of all rings on a System."""


class TrajectoryVerbs(design.TrajectoryVerbs, studio.TrajectoryVerbs):
    """Verbs of all rings on a Trajectory."""
