"""Programs, their tangents and kernels on arrays and on complex numbers: entry by entry the same as on single numbers."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.compiler.derivatives import jacobian, replay
from linkwright.compiler.program import interpret
from linkwright.errors import SingularityError, UsageError
from tests.compiler.samples import every_operation, random_program
from tests.kernels.mechanisms import apart
from tests.refusals import refused

STEP = 1e-30
FEW = 5  # states of a batch


def columns(x: np.ndarray) -> list[np.ndarray]:
    """A batch of packed inputs as one array for each input."""
    return [x[..., i] for i in range(x.shape[-1])]


@pytest.mark.parametrize("kind", [float, complex])
def test_programs_and_tangents_on_arrays(kind: type, rng: np.random.Generator) -> None:
    """Against one state at a time. 1e-13: numpy's vector functions and those of single numbers differ in their last bit."""
    for _ in range(10):
        program = random_program(rng)
        x = rng.normal(size=(FEW, 6)) + (1j * rng.normal(size=(FEW, 6)) * 1e-3 if kind is complex else 0.0)
        many, found = replay(program, columns(x)), jacobian(program, columns(x), range(6)).dense()
        for i in range(FEW):
            one = jacobian(program, x[i], range(6))
            size = 1.0 + np.abs(np.array(one.results)).max()
            for k, y in enumerate(one.results):
                assert abs(np.broadcast_to(many[k], FEW)[i] - y) < 1e-13 * size
            D = one.dense()
            here = np.broadcast_to(found, (FEW, *D.shape))[i]
            assert np.abs(here - D).max() < 1e-11 * (1.0 + np.abs(D).max())


def test_every_operation_on_complex_arrays(rng: np.random.Generator) -> None:
    """The interpreter over a batch against the replay of single complex numbers; a constant output overflows in both."""
    program = every_operation()
    x = np.concatenate([rng.uniform(0.8, 1.6, (FEW, 3)), rng.normal(size=(FEW, 4))], axis=1) + 1e-3j * rng.normal(size=(FEW, 7))
    many = interpret(program, x)
    assert many.dtype == complex
    for i in range(FEW):
        one = np.array(replay(program, x[i]), dtype=complex)
        good = np.isfinite(one) & (np.abs(one) < 1e300)
        assert np.abs(many[i] - one)[good].max() < 1e-13 * np.abs(one[good]).max()


def test_a_kernel_takes_complex_arrays_and_gives_complex_results() -> None:
    s = lw.compile("wiper", parameters=["crank.B.x", "coupler.mass"])
    states = [s.assemble(q={"A": x}, v={"A": 2.0}) for x in (0.2, 1.0, 2.1)]
    Q, V, A = np.array([st.q for st in states]), np.array([st.v for st in states]), np.ones(3)
    plain, by = s.kernel("loads"), s.kernel("loads", by=("q", "parameters"))
    real, d = plain(Q, V, A), by(Q, V, A)
    for k, e in enumerate(np.eye(3)):
        found = plain(Q + 1j * STEP * e, V, A)
        assert found.u.dtype == complex and found.ok.all()
        assert apart(found.u.real, real.u) < 1e-12 and apart(found.wrench.imag / STEP, d.wrench_q[..., k]) < 1e-10
    far = by(Q + 0.1j, V, A, parameters={"coupler.mass": 0.5 + 0.2j})  # far from real: agrees with the equations on single numbers
    eq = s.kernels.equations(np.array([s.kernels.defaults["parameters"][0], 0.5 + 0.2j]), "inverse")
    near = s.kernels.defaults["near"]
    for i in range(3):
        one = eq.loads(Q[i] + 0.1j, V[i] + 0j, A, np.zeros(1), near)
        assert apart(far.u[i], one["u"]) < 1e-10 and apart(far.wrench[i], one["wrench"]) < 1e-10
    assert plain(Q[0] + 0j, V[0], A).u.shape == (1,)


def test_complex_states_without_an_answer_are_marked() -> None:
    s = lw.compile(lw.load("slider-crank-equal", gravity=0))
    st = s.assemble(q={"A": 1.5 * np.pi}, v={"A": 1.0})  # folded: singular, real numbers have a limit there
    kernel = s.kernel("forward")
    found = kernel(np.array([s.start.q, st.q, s.start.q * np.nan]) + 0j, st.v, np.zeros(2))
    assert found.ok.tolist() == [True, False, False] and np.isnan(found.a[1]).all() and "singular" in found.why[1]
    with pytest.raises(SingularityError):
        kernel(st.q + 0j, st.v, np.zeros(2))
    with refused(UsageError, name="tau", value="text"):
        kernel(st.q, st.v, "text")
