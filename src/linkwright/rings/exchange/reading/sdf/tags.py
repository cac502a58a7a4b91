"""Tags of SDF 1.5 to 1.11: those that are read, and the others of its standard."""

from __future__ import annotations

from linkwright.rings.exchange.reading.tags import TagPlace

POSE = TagPlace(attributes=("relative_to", "degrees", "rotation_format", "frame"))
LIKE_A_MODEL = ("frame", "include", "model", "joint", "gravity", "drake:ball_constraint", "drake:linear_spring_damper")
DRAKE_AXIS = ("drake:rotor_inertia", "drake:gear_ratio")
AXIS = TagPlace(read=("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame", *DRAKE_AXIS), known=("initial_position",))
PLACES: dict[str, TagPlace] = {
    "sdf": TagPlace(read=("world", "model"), left={"light": "light", "actor": "actor"}),
    "world": TagPlace(
        read=LIKE_A_MODEL,
        left={"light": "light", "plugin": "plugin", "actor": "actor"},
        known=("physics", "scene", "magnetic_field", "atmosphere", "wind", "audio", "gui", "spherical_coordinates", "population",
               "road", "state"),
    ),
    "model": TagPlace(
        read=(*LIKE_A_MODEL, "link", "pose", "static"),
        left={"light": "light", "plugin": "plugin", "actor": "actor"},
        known=("allow_auto_disable", "self_collide", "enable_wind", "gripper"),
        attributes=("name", "canonical_link", "placement_frame"),
    ),
    "include": TagPlace(
        read=("uri", "name", "pose", "static", "placement_frame"), left={"plugin": "plugin"}, known=("allow_auto_disable",),
        attributes=("merge",),
    ),
    "model/link": TagPlace(
        read=("inertial", "visual", "collision", "pose"),
        left={"sensor": "sensor", "light": "light"},
        known=("gravity", "enable_wind", "self_collide", "kinematic", "must_be_base_link", "velocity_decay", "audio_sink"),
        attributes=("name",),
    ),
    "inertial": TagPlace(read=("mass", "pose", "inertia"), known=("density", "auto_inertia_params"), attributes=("auto",)),
    "inertia": TagPlace(read=("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), known=("iyx", "izx", "izy")),
    "visual": TagPlace(
        read=("pose", "geometry", "material"),
        known=("cast_shadows", "laser_retro", "transparency", "visibility_flags", "meta", "plugin", "lighting"),
        picture=True,
    ),
    "collision": TagPlace(
        read=("pose", "geometry", "surface"), known=("laser_retro", "max_contacts", "density", "auto_inertia_params"), picture=True,
    ),
    "geometry": TagPlace(
        read=("box", "cylinder", "capsule", "sphere", "mesh"),
        left={x: f"<{x}> shape" for x in ("cone", "ellipsoid", "heightmap", "image", "plane", "polyline")},
        known=("empty",),
        unknown="<{}> shape",
    ),
    "box": TagPlace(read=("size",)),
    "cylinder": TagPlace(read=("radius", "length")),
    "capsule": TagPlace(read=("radius", "length")),
    "sphere": TagPlace(read=("radius",)),
    "mesh": TagPlace(read=("uri", "scale"), known=("submesh", "convex_decomposition"), attributes=("optimization",)),
    "frame": TagPlace(read=("pose",), attributes=("name", "attached_to")),
    "pose": POSE,
    "joint": TagPlace(
        read=("parent", "child", "axis", "axis2", "pose", "thread_pitch", "screw_thread_pitch", "gearbox_ratio",
              "gearbox_reference_body", "physics", "must_be_loop_joint"),
        left={"sensor": "sensor"},
        attributes=("name", "type"),
    ),
    "axis": AXIS,
    "axis2": AXIS,
    "xyz": TagPlace(attributes=("expressed_in",)),
    "limit": TagPlace(read=("lower", "upper", "effort", "velocity"), known=("stiffness", "dissipation")),
    "dynamics": TagPlace(read=("damping", "friction", "spring_reference", "spring_stiffness")),
    "mimic": TagPlace(read=("multiplier", "offset", "reference"), attributes=("joint", "axis")),
}  # fmt: skip
