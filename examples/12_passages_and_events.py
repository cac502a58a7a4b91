"""Through singular positions, and parts that take hold of each other while they move.

python examples/12_passages_and_events.py
"""

import numpy as np

import linkwright as lw

# ---- a slider-crank with equal links folds twice a turn: its loop loses rank, two branches meet, the run goes straight through
s = lw.compile("slider-crank-equal")
st = s.assemble(q={"A": "120 deg"}, v={"A": 3.0})
run = s.simulate(st, 5, tolerance=1e-10, drive={"A": lw.drives.torque("1 N m")})
print(run.checks())
print("off the branch B = 2 pi - 2 A by", f"{np.abs(run['B'] + 2 * run['A'] - 2 * np.pi).max():.0e} rad")
first = run.passages[0]
near = run.at(np.array([-0.02, -0.002, 0.002, 0.02]) + first.time)
print(f"at t = {first.time:.6f} s {', '.join(first.meaningless)} means nothing; around it {np.round(near['lam.C'], 1)} N\n")

# ---- a four-bar's rocker picks up a lever that hangs on the same axle, and lets it go where it turns back
m = lw.load(
    {
        "name": "catch",
        "plane": "xy",
        "units": ["mm", "kg", "deg"],
        "gravity": [0, "-9.81 m/s^2"],
        "drawing": {"A": [0, 0], "B": [150, 260], "C": [905, 750], "D": [1000, 0], "E": [1000, 0], "W": [1000, -300]},
        "bodies": {
            "ground": {"pins": ["A", "D", "E"]},
            "crank": {"pins": ["A", "B"], "mass": 0.3},
            "coupler": {"pins": ["B", "C"], "mass": 0.9},
            "rocker": {"pins": ["D", "C"], "mass": 0.8},
            "lever": {"pins": ["E"], "points": ["W"], "mass": 0.5, "com": "W", "inertia": "0.01 kg m^2"},
        },
        "couplings": {"catch": {"from": "D", "to": "E", "ratio": 1, "offset": -120}},  # the lever 120 deg behind the rocker
        "drive": {"A": "undriven"},
    }
)
s = lw.compile(m)
held = s.assemble(v={"A": 6.0})
lever = s.names.q.index("E")
q, v = held.q.copy(), held.v.copy()
q[lever] = v[lever] = 0.0  # it hangs at rest; the coupling is off and does not mind
meet = lw.events.when(lambda st: st["D"] - st["E"], np.radians(120), direction="rising", name="meet", do=lw.events.engage("catch"))
part = lw.events.when("D.v", direction="falling", name="part", do=lw.events.release("catch"))
run = s.simulate(s.state(q, v), 1.5, off=["catch"], events=[meet, part], sample_interval=0.002)
for e in run.events:
    print(f"t = {e.time:.4f} s: {e.name}, {e.values['did']}, {e.values['energy lost']:.4f} J lost")

# two degrees of freedom become one: with the inertia m of the four-bar at its rocker and J of the lever, 1/2 m J / (m + J) w^2 is lost
before = s.simulate(s.state(q, v), run.events[0].time, off=["catch"], sample_interval=[run.events[0].time])
w, kinetic = before["D.v"][-1], before["energy.kinetic"][-1]
m_rocker, J = 2 * kinetic / w**2, 0.01 + 0.5 * 0.3**2
print(f"by hand {0.5 * m_rocker * J / (m_rocker + J) * w**2:.4f} J")
print(f"the catch carries {np.abs(run['lam.catch']).max():.2f} N m at most, and nothing while it is off")
print(run.checks())
