"""Models whose parts are called what they are, from which docs/make/make_channels.py reads the patterns of channel names."""

from __future__ import annotations

PLANAR = """\
name: planar
plane: xy
gravity: [0, -9.81]
drawing:
  JOINT1: [0, 0]
  JOINT2: [0.15, 0.26]
  JOINT3: [0.905, 0.75]
  JOINT4: [1, 0]
  POINT: [0.6, 0.76]
  JOINT6: [2, 0]
  JOINT8: [0.9, 0.4]
  JOINT9: [1.9, -0.5]
  JOINT11: [-0.5, 0]
bodies:
  ground: {pins: [JOINT1, JOINT4, JOINT6, JOINT11], points: {POINT: [0.8, -0.5], POINT6: [1.7, 0.2], POINT7: [2.2, 1.35]}}
  BODY1: {pins: [JOINT1, JOINT2], mass: 0.3}
  BODY2: {pins: [JOINT2, JOINT3], points: [POINT], mass: 0.9}
  BODY3: {pins: [JOINT4, JOINT3, JOINT8], mass: 0.8, points: {POINT2: [0.95, 0.4]}}
  BODY4: {points: {POINT4: [0, 1]}, mass: 0.2, com: [0, 1], inertia: 0.01}
  BODY5: {pins: [JOINT6], mass: 0.4, inertia: 0.02, com: JOINT6}
  BODY6: {points: {POINT3: [1.5, 1.1], POINT8: [1.7, 1.0], POINT9: [1.6, 1.3]}, mass: 0.4, com: [1.5, 1.1], inertia: 0.02}
  BODY7: {pins: [JOINT8, JOINT9], mass: 0.2}
  BODY8: {pins: [JOINT9], mass: 0.2}
  BODY9: {pins: [JOINT11], mass: 0.2, inertia: 0.01, com: JOINT11}
joints:
  JOINT7: {type: planar, between: [ground, BODY6], at: [1.5, 1]}
  JOINT10: {type: prismatic, between: [ground, BODY8], at: JOINT9, axis: [1, 0]}
  JOINT5: {type: prismatic, between: [ground, BODY4], at: [0, 1], axis: [0, 1]}
rods:
  ROD: {between: [BODY2.POINT, BODY6.POINT3]}
  ROD2: {between: [ground.POINT6, BODY6.POINT8]}
  ROD3: {between: [ground.POINT7, BODY6.POINT9]}
cams:
  CAM: {from: JOINT1, to: JOINT5, roller: {at: BODY4.POINT4, radius: 0.02}, base: 0.3,
    moves: [{to: 0.02, in: 180 deg}, {to: 0, in: 180 deg}]}
belts:
  BELT: {around: [{joint: JOINT1, body: BODY1, radius: 0.05}, {joint: JOINT6, body: BODY5, radius: 0.1}]}
springs:
  SPRING: {between: [ground.POINT, BODY3.POINT2], stiffness: 100}
  SPRING2: {type: torsion, joint: JOINT4, stiffness: 2}
  GASSPRING: {type: gas, between: [ground.POINT, BODY2.POINT], force: 10, length: 2.5, stroke: 2.3, progression: 1.1}
dampers:
  DAMPER: {between: [ground.POINT, BODY3.POINT2], coefficient: 1}
bushings:
  BUSHING: {between: [ground.POINT, BODY2.POINT], stiffness: 1}
tethers:
  TETHER: {between: [ground.POINT, BODY2.POINT], stiffness: 10, length: 5}
cylinders:
  CYLINDER: {between: [ground.POINT, BODY3.POINT2], bore: 0.05, rod: 0.03, stroke: [0.2, 2], force: 0}
surfaces:
  SURFACE: {circle: BODY6.POINT3, radius: 0.01}
  SURFACE2: {line: ground.POINT, normal: [0, 1]}
contacts:
  CONTACT: {between: [SURFACE, SURFACE2]}
couplings:
  COUPLING: {from: JOINT1, to: JOINT11, ratio: 1, play: 1e-3}
drive: {JOINT1: 45 rpm}
"""

SPATIAL = """\
name: spatial
gravity: [0, 0, -9.81]
bodies:
  ground: {points: {JOINT1: [0, 0, 0], JOINT3: [0.5, 0.8, 0]}}
  BODY1: {points: {JOINT1: [0, 0, 0], JOINT2: [0.2, 0, 0.1]}, mass: 1, com: [0.1, 0, 0], inertia: [0.01, 0.01, 0.01]}
  BODY2: {points: {JOINT3: [0.5, 0.8, 0], JOINT4: [0.5, 0.5, 0.4]}, mass: 1, com: [0.5, 0.6, 0.2], inertia: [0.01, 0.01, 0.01]}
  BODY3: {points: {JOINT2: [0.2, 0, 0.1], JOINT4: [0.5, 0.5, 0.4], POINT: [0.3, 0.3, 0.3]}, mass: 1,
    com: JOINT2, inertia: [0.01, 0.01, 0.01]}
  BODY4: {points: {POINT: [0.5, 0.7, 0.4]}, mass: 1, com: POINT, inertia: [0.01, 0.01, 0.01]}
joints:
  JOINT1: {type: revolute, connect: [ground.JOINT1, BODY1.JOINT1], axis: [0, 0, 1]}
  JOINT3: {type: revolute, connect: [ground.JOINT3, BODY2.JOINT3], axis: [1, 0, 0]}
  JOINT2: {type: universal, connect: [BODY1.JOINT2, BODY3.JOINT2], axes: [[1, 0, 0], [0, 0, 1]]}
  JOINT4: {type: spherical, connect: [BODY3.JOINT4, BODY2.JOINT4]}
bushings:
  BUSHING: {between: [ground.JOINT3, BODY4.POINT], stiffness: 1000}
drive: {JOINT1: 45 rpm}
cuts: [JOINT3]
"""
