"""Forward dynamics in time: `run.simulate` and everything a run consists of.

run.py                    the run, from its start over modes and events to its end
options.py                options of a run, listed and checked
time_stepping.py          the problem of the time steppers: kernels, drives, stabilizer, events
events.py                 what events do
rigid_stops.py, touches.py    what holds one way: ends of travels, ropes, cams, play; surfaces that touch
instant_rows.py, impacts.py, rests.py    these at one instant: rows, impacts, what stays closed
joint_friction.py, friction_states.py, friction_modes.py    joints that stick and slip: terms, states, modes of a run
certificate_evidence.py   what every accepted step leaves       singularity_crossings.py singular positions on the way
run_records.py            rows of the steps -> Trajectory
proof.py, certificate.py  the certificate of a run, passed or not (proof.py: of a run from a file); contact_evidence.py: of touches
accuracy.py               its error, estimated by cheaper runs
failure_diagnosis.py      why a run could not continue
run_derivatives.py, run_adjoint.py   derivatives by parameters of the model
run_batch.py              many runs at once
stepper.py                one step, of one mechanism or of many
"""
