"""The body that carries both partners of a gear pair or a cam, and the frames of their joints on it."""

from __future__ import annotations

from typing import Any

from linkwright.errors import ModelError, Source
from linkwright.mechanics.kinematics.motion import pose_of
from linkwright.model.description import Joint


def common_carrier(first: Joint, second: Joint, what: str, carried: str, where: Source | None) -> str:
    """Return the body that two joints share; raise ModelError that names `what` (gear 'g') and what is `carried` where they share none."""
    common = {first.first, first.second} & {second.first, second.second}
    if len(common) != 1:
        raise ModelError(
            f"{what}: joints '{first.name}' and '{second.name}' must share the body that carries {carried} "
            f"(they join {first.first}-{first.second} and {second.first}-{second.second}).",
            where,
            name=first.name,
        )
    return common.pop()


def frame_on(joint: Joint, carrier: str) -> Any:
    """Return the joint's frame on its carrier."""
    return pose_of(joint.frame_first if joint.first == carrier else joint.frame_second)
