"""Tags of URDF, of its dialects with loops, and of what programs add to it."""

from __future__ import annotations

from linkwright.rings.exchange.reading.tags import TagPlace

ORIGIN = TagPlace(attributes=("xyz", "rpy", "quat_xyzw", "wxyz"))
AXIS = TagPlace(attributes=("xyz",))
VALUE = TagPlace(attributes=("value",))
SIDE = TagPlace(read=("origin",), attributes=("link",))
DRAKE = ("drake:rotor_inertia", "drake:gear_ratio")
JOINT = TagPlace(
    read=("parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "drake:screw_thread_pitch"),
    known=("safety_controller", "calibration"),
    attributes=("name", "type", "independent"),
)
PLACES: dict[str, TagPlace] = {
    "robot": TagPlace(
        read=("link", "joint", "drake:joint", "material", "transmission", "ros2_control", "coupling", "loop", "constraint", "loop_joint",
              "drake:ball_constraint", "drake:linear_spring_damper", "gazebo"),
        left={"sensor": "sensor"},
    ),
    "robot/link": TagPlace(read=("inertial", "visual", "collision"), attributes=("name", "type")),
    "inertial": TagPlace(read=("origin", "mass", "inertia")),
    "mass": VALUE,
    "inertia": TagPlace(attributes=("ixx", "ixy", "ixz", "iyy", "iyz", "izz", "iyx", "izx", "izy")),
    "visual": TagPlace(read=("origin", "geometry", "material"), attributes=("name",), picture=True),
    "collision": TagPlace(read=("origin", "geometry"), attributes=("name",), picture=True),
    "geometry": TagPlace(read=("box", "cylinder", "capsule", "drake:capsule", "sphere", "mesh"), unknown="<{}> shape"),
    "box": TagPlace(attributes=("size",)),
    "cylinder": TagPlace(attributes=("radius", "length")),
    "capsule": TagPlace(attributes=("radius", "length")),
    "sphere": TagPlace(attributes=("radius",)),
    "mesh": TagPlace(attributes=("filename", "scale")),
    "robot/material": TagPlace(read=("color",), known=("texture",), picture=True),
    "material": TagPlace(read=("color",), known=("texture",)),
    "robot/joint": JOINT,
    "drake:joint": JOINT,
    "parent": TagPlace(attributes=("link",)),
    "child": TagPlace(attributes=("link",)),
    "origin": ORIGIN,
    "parent_origin": ORIGIN,
    "child_origin": ORIGIN,
    "axis": AXIS,
    "parent_axis": AXIS,
    "child_axis": AXIS,
    "limit": TagPlace(attributes=("lower", "upper", "effort", "velocity")),
    "dynamics": TagPlace(attributes=("damping", "friction")),
    "mimic": TagPlace(attributes=("joint", "multiplier", "offset")),
    "loop": TagPlace(read=("predecessor", "successor", "axis"), attributes=("name", "type")),
    "coupling": TagPlace(read=("predecessor", "successor", "ratio"), attributes=("name", "type")),
    "predecessor": SIDE,
    "successor": SIDE,
    "ratio": VALUE,
    "constraint": TagPlace(
        read=("parent", "child", "parent_origin", "child_origin", "parent_axis", "child_axis"), attributes=("name", "type")
    ),
    "loop_joint": TagPlace(read=("link1", "link2", "axis"), attributes=("name", "type")),
    "link1": TagPlace(attributes=("link", "xyz", "rpy")),
    "link2": TagPlace(attributes=("link", "xyz", "rpy")),
    "transmission": TagPlace(
        read=("joint", "actuator"),
        known=("type", "leftActuator", "rightActuator", "flexJoint", "rollJoint", "gap_joint", "passive_joint", "mechanicalReduction",
               "motorTorqueConstant", "compensator", "simulated_reduction", "simulated_actuated_joint", "use_simulated_gripper_joint"),
    ),
    "transmission/joint": TagPlace(read=("mechanicalReduction",), known=("hardwareInterface", "role", "offset")),
    "actuator": TagPlace(
        read=(*DRAKE, "mechanicalReduction"),
        known=("hardwareInterface", "motorTorqueConstant"),
    ),
    "ros2_control": TagPlace(read=("joint",), known=("hardware", "sensor", "gpio", "transmission")),
    "ros2_control/joint": TagPlace(read=("command_interface", "param"), known=("state_interface",)),
}  # fmt: skip
