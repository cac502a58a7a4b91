"""Learning environments of Gymnasium over many mechanisms at once (extra `[gym]`).

    import gymnasium
    import linkwright.rings.control.gym                    # registers linkwright/FiveBarReach-v0 and others

    env = gymnasium.make("linkwright/FiveBarReach-v0")
    envs = gymnasium.make_vec("linkwright/FiveBarReach-v0", num_envs=1024)

A task of your own is a `Task`: a model, names of what is observed, limits of what acts, a reward.
"""

from __future__ import annotations

from importlib.util import find_spec

from linkwright.api import UsageError

if find_spec("gymnasium") is None:
    raise UsageError("learning environments need the package gymnasium: pip install 'linkwright[gym]'.", name="gymnasium")

from linkwright.rings.control.gym.env import MechanismEnv
from linkwright.rings.control.gym.named_arrays import NamedArrays
from linkwright.rings.control.gym.random_streams import RowRandom
from linkwright.rings.control.gym.registration import register, register_shipped
from linkwright.rings.control.gym.servo import Servo
from linkwright.rings.control.gym.task import Task
from linkwright.rings.control.gym.tasks import BIPED
from linkwright.rings.control.gym.vector import MechanismVectorEnv

__all__ = ["BIPED", "MechanismEnv", "MechanismVectorEnv", "NamedArrays", "RowRandom", "Servo", "Task", "register"]

register_shipped()
