"""A Stewart platform, tilted: six leg forces for a pose, the same in Pinocchio and in MuJoCo.

One learns: ask for a pose and read the forces; six loops are solved at once. Another program's terms (weights in its own tree, its
own constraint Jacobian) give the same forces, so a model can be handed over.
The check is virtual work: let leg 1 grow by a hair with the others held. Its force times the hair is the rise of all weights:
platform, six barrels, six rods. Beside it, where they are installed, Pinocchio and MuJoCo: J' lambda + B u = weight solved with
what these programs say about the same pose (packages pin and mujoco, part of linkwright[test]).

python gallery/stewart_leg_forces.py [folder]      writes stewart_leg_forces.html and .png into folder (default build/gallery)
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import linkwright as lw

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gallery")
folder.mkdir(parents=True, exist_ok=True)

m = lw.load("stewart")
s = m.system
LEGS = [f"leg{i}" for i in range(1, 7)]
home, tilt = s.pose(s.start, "platform"), np.radians(8.0)
R = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
st = s.assemble(pose={"platform": lw.Pose(R @ home.R, home.p + np.array([0.05, 0.0, 0.04]))})
loads = s.inverse(st)
forces = {"Linkwright": np.array([loads.tau[leg] for leg in LEGS])}


def shared(J, weight, columns):
    """Efforts u of the legs and loop forces lambda with J' lambda + B u = weight."""
    B = np.zeros((len(weight), 6))
    B[columns, range(6)] = 1.0
    return np.linalg.lstsq(np.hstack([J.T, B]), weight, rcond=None)[0][-6:]


if find_spec("pinocchio"):
    import pinocchio as pin

    p = m.system.pinocchio()
    model, data = p.model, p.model.createData()
    loops, q, zero = [x.createData() for x in p.constraints], p.q(st), np.zeros(p.model.nv)
    pin.initConstraintDynamics(model, data, p.constraints, loops)
    pin.constraintDynamics(model, data, q, zero, zero, p.constraints, loops, p.settings())  # places the loops' frames
    J = pin.getConstraintsJacobian(model, data, p.constraints, loops)
    forces["Pinocchio"] = shared(J, pin.rnea(model, data, q, zero, zero), [model.joints[model.getJointId(leg)].idx_v for leg in LEGS])
if find_spec("mujoco"):
    import mujoco

    model = mujoco.MjModel.from_xml_string(m.export(format="mjcf")["model.xml"])
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = lw.exchange.mujoco_state(model, m, st)
    mujoco.mj_forward(model, data)
    forces["MuJoCo"] = shared(data.efc_J.reshape(-1, model.nv), data.qfrc_bias, [model.joint(leg).dofadr[0] for leg in LEGS])
for name, f in forces.items():
    print(f"{name:10}", " ".join(f"{x:9.4f}" for x in f), "N")
    assert np.abs(f - forces["Linkwright"]).max() < 1e-5  # the converters' least inertias weigh something


def weights(leg1):
    """Sum of weight times height, J: each rod and barrel has its weight half-way between its ends."""
    x = s.assemble(q={leg: leg1 if leg == "leg1" else float(st[leg]) for leg in LEGS}, guess=st)
    z = {name: s.point(x, name)[2] for i in range(1, 7) for name in (f"barrel{i}.M{i}", f"rod{i}.M{i}", f"rod{i}.P{i}")}
    legs = sum(3 * z[f"barrel{i}.M{i}"] / 2 + 1.5 * (z[f"rod{i}.M{i}"] + z[f"rod{i}.P{i}"]) / 2 for i in range(1, 7))
    return 9.81 * (20 * s.point(x, "platform.C")[2] + legs)


hair = 1e-5
found, check = forces["Linkwright"][0], (weights(st["leg1"] + hair) - weights(st["leg1"] - hair)) / (2 * hair)
print(f"force of leg 1: {found:.4f} N (check: {check:.4f})")
assert abs(found - check) < 1e-5 * abs(check)

m.show(folder / "stewart_leg_forces.html")
m.plot("mechanism", folder / "stewart_leg_forces.png", at=st, trace=[], size=(4.2, 3.2), labels=False)
