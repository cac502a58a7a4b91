"""Trajectory optimization: iLQR on exact derivatives swings a five-bar up with less torque than lifting it takes.

Dynamics with loops need no special treatment: kernel `derivatives` gives the derivatives of constrained accelerations at all samples in one
call, and kernel `projection` puts a state back onto the loops. The result is checked by a run in continuous time.

python examples/16_swing_up.py
"""

import numpy as np

import linkwright as lw

m = lw.load("five-bar")
s = m.system
accelerations, derivatives, projection = s.kernel("forward"), s.kernel("derivatives"), s.kernel("projection")
low, goal = m.settle(s.assemble({"A": -1.5, "E": -1.6})), s.start  # hanging, upright
n, drives = len(low.v), [list(s.names.v).index(name) for name in ("A", "E")]
h, SAMPLES = 0.01, 150  # s, steps
END, FINAL, EFFORT = (
    np.r_[goal.q, np.zeros(n)],
    np.r_[np.full(n, 1000.0), np.full(n, 10.0)],
    50.0,
)  # wanted end; weights of it and of torques


def on_drives(u):
    tau = np.zeros((*u.shape[:-1], n))
    tau[..., drives] = u
    return tau


def rolled(U, gains=None, around=None, share=1.0):
    """States and torques of a run in steps of h, with gains about an older run: velocities, then positions, then both onto the loops."""
    X, used = [np.r_[low.q, low.v]], []
    for i, u in enumerate(U):
        q, v = X[-1][:n], X[-1][n:]
        used.append(u if gains is None else u + share * gains[i][0] + gains[i][1] @ (X[-1] - around[i]))
        v = v + h * accelerations(q, v, on_drives(used[-1])).a
        X.append(np.concatenate(projection(q + h * v, v)[:2]))
        if np.abs(X[-1]).max() > 100.0:  # a step too far
            return None
    return np.array(X), np.array(used)


def cost(run):
    return np.inf if run is None else 0.5 * FINAL @ (run[0][-1] - END) ** 2 + 0.5 * EFFORT * (run[1] ** 2).sum()


def improved(X, U, damping):
    """Gains of the linear-quadratic problem about a run, from its end to its start."""
    d, one = derivatives(X[:-1, :n], X[:-1, n:], on_drives(U)), np.eye(n)
    p, P, gains = FINAL * (X[-1] - END), np.diag(FINAL), []
    for i in range(len(U) - 1, -1, -1):
        A = np.block([[one + h * h * d.a_q[i], h * one + h * h * d.a_v[i]], [h * d.a_q[i], one + h * d.a_v[i]]])
        B = np.r_[h * h * d.a_tau[i][:, drives], h * d.a_tau[i][:, drives]]
        H = (EFFORT + damping) * np.eye(2) + B.T @ P @ B
        k, K = -np.linalg.solve(H, EFFORT * U[i] + B.T @ p), -np.linalg.solve(H, B.T @ P @ A)
        p, P = A.T @ (p + P @ B @ k), A.T @ P @ (A + B @ K)
        gains.append((k, K))
    return gains[::-1]


smooth = m.follow(
    {name: lw.control.minimum_jerk(goal[name], h * SAMPLES, start=low[name]) for name in ("A", "E")}, duration=h * SAMPLES, steps=SAMPLES
)
first = np.stack([smooth["A.torque"], smooth["E.torque"]], axis=1)[:-1]
hold = -np.r_["1", 2.0 * np.eye(n)[drives], 0.1 * np.eye(n)[drives]]  # N m/rad, N m s/rad: the first run stays near it
run, damping, number = rolled(first, [(0.0, hold)] * SAMPLES, np.c_[smooth.q, smooth.v]), 1.0, 0
while number < 200 and damping < 1e6:
    number, gains, now = number + 1, improved(*run, damping), cost(run)
    better = next((x for share in (1.0, 0.3, 0.1) if cost(x := rolled(run[1], gains, run[0], share)) < now), None)
    damping = damping * 5.0 if better is None else max(1e-6, damping / 2.0)
    run = better or run
    if better is not None and now - cost(run) < 1e-6 * now:
        break
X, U = run
lift = m.follow({name: lambda t, name=name: low[name] + (goal[name] - low[name]) * t / 100.0 for name in ("A", "E")}, duration="100 s")
print(f"{number} iterations: {np.abs(U).max():.3f} N m at most, where lifting slowly takes {np.abs(lift['A.torque']).max():.3f} N m")
print(f"RMS torque {np.sqrt((U**2).mean()):.3f} N m, of the smooth motion {np.sqrt((first**2).mean()):.3f} N m")

# the same motion in continuous time, under a controller
times = h * np.arange(SAMPLES + 1)
wanted = {name: lw.control.spline(times, X[:, k], ends="clamped") for name, k in zip(("A", "E"), drives, strict=True)}
check = m.simulate(times[-1], start=low, control=lw.control.computed_torque(wanted, P=2500, D=100))
off = np.degrees([check[name][-1] - goal[name] for name in ("A", "E")])
print(f"simulated: {np.abs(off).max():.2f} deg from upright at the end, {np.abs(check['A.torque']).max():.3f} N m at most")
assert np.abs(off).max() < 1.0 and np.abs(U).max() < 0.25
