// Exported with kernel `kinematics`.

/**
 * Positions, speeds and accelerations from those of the drives.
 * @param {Mechanism} m
 */
const addKinematics = (m) => {
  const kin = kernelCall(m, "kinematics", "q", "v", "drive", "speed", "acceleration"), drv = kernelCall(m, "drives", "q", "v");
  // drive values at q, and speeds where v is given
  m.drives = (q, v) => drv.all(drv.run(q, v));
  // q with the drives at these values, on its branch; if they cannot get there q is where they got
  m.assemble = (q, drive) => {
    const values = typeof drive === "number" ? [drive] : drive, { loop: w, hold, newton } = m.solver;
    kin.fill(q, undefined, values); // refuses wrong lengths
    for (const kernel of [w.kinematics, w.drives, w.turns]) hold(kernel, m.near);
    w.q.set(q);
    w.drive.set(values);
    w.near.set(m.near);
    const ok = !assembled(w), here = w.q.slice();
    m.near = w.near.slice();
    return { ok, q: here, residual: ok ? w.residual : newton(here, m.near, values, 0, w.next), steps: w.steps };
  };
  m.velocities = (q, speed) => {
    drv.run(q);
    return { ok: !kin.run(q, undefined, drv.get("drive"), speed), v: kin.get("v") };
  };
  m.accelerations = (q, v, acceleration) => {
    drv.run(q, v);
    return { ok: !kin.run(q, v, drv.get("drive"), drv.get("speed"), acceleration), a: kin.get("a") };
  };
};
