"""Native code of a mechanism: one state, a batch, a sweep over a length, exact derivatives.

python examples/08_native_kernels.py
"""

import numpy as np

import linkwright as lw

s = lw.compile("carpet-scraper")
forward = s.kernel("forward")  # made on first use, then cached on disk
print(forward)

st = s.assemble(q={"J1": 0.3}, v={"J1": 4.7})
tau = np.zeros(7)
a, lam = forward(st.q, st.v, tau)
print(f"acceleration of the crank {a[list(s.names.v).index('J1')]:.4f} rad/s^2, in a native loop {forward.time(st.q, st.v, tau):.0f} ns")

# the crank over one turn: positions by Newton's method on all states at once, then all torques in one call
angles = np.linspace(0.0, 2 * np.pi, 73)
kinematics, inverse = s.kernel("kinematics"), s.kernel("inverse")
zero = np.zeros(1)
Q = [st.q]
for angle in angles + st["J1"]:
    q = Q[-1]
    for _ in range(6):
        q = kinematics(q, st.v, np.array([angle]), zero, zero).q
    Q.append(q)
Q = np.array(Q[1:])
V = kinematics(Q, st.v, (angles + st["J1"])[:, None], np.full((73, 1), 4.7), zero).v
A = kinematics(Q, V, (angles + st["J1"])[:, None], np.full((73, 1), 4.7), zero).a
torque = inverse(Q, V, A).u[:, 0]
print(f"torque at 4.7 rad/s: {torque.min():.2f} .. {torque.max():.2f} N m")

d = s.derivatives(st, tau)
print(f"the crank accelerates by {d.a_tau[0, 0]:.3f} rad/s^2 per N m on the first joint; a_q has shape {d.a_q.shape}")

w = lw.compile("wiper", parameters=["coupler.mass"])
heavier = w.kernel("inverse")(w.start.q, w.start.v, np.zeros(3), parameters=np.linspace(0.5, 2.0, 4)[:, None])
print("drive torque over the coupler's mass [0.5 1 1.5 2] kg:", np.round(heavier.u[:, 0], 3), "N m")
