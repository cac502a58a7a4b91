"""Equal bits: an answer depends on the mechanism and the question, not on what was asked before, in which thread or process."""

from __future__ import annotations

import multiprocessing
import pickle
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.api import compiled_of
from linkwright.kernels import kernels
from linkwright.model import file as modelfile
from linkwright.model.file import reader
from linkwright.model.file.written_values import parameter_dimension
from linkwright.system.mechanism import mechanism_of
from linkwright.text.expressions import evaluate_parameters
from linkwright.text.units import LENGTH
from tests.sweeps import sweep

MODELS = ("four-bar", "wiper", "carpet-scraper", "five-bar")
CALLS = 200

Question = Callable[[lw.Mechanism, lw.System, lw.State], Any]
QUESTIONS: dict[str, Question] = {
    "forward": lambda m, s, st: s.forward(st).a,
    "multipliers": lambda m, s, st: np.concatenate([np.ravel(x) for x in s.forward(st).lam.values()]),
    "forward by kkt": lambda m, s, st: s.forward(st, formulation="kkt").a,
    "inverse": lambda m, s, st: list(s.inverse(st).tau.values()),
    "reactions": lambda m, s, st: [w.force for w in s.inverse(st).wrench.values()],
    "terms": lambda m, s, st: s.terms(st).M,
    "named terms": lambda m, s, st: s.named_terms(["com"])(st).J,
    "jacobian": lambda m, s, st: np.asarray(s.jacobian(st, m.description.bodies[-1].name)),
    "assemble": lambda m, s, st: s.assemble({n: 0.05 for n in drives(m)}, {n: 0.3 for n in drives(m)}, guess=st).q,
    "start": lambda m, s, st: s.start.q,
    "start of another design": lambda m, s, st: m.with_(**{f"{m.description.bodies[-1].name}.mass": "2 kg"}).system.start.q,
    "settle": lambda m, s, st: mechanism_of(s).settle(hold=drives(m)).q,
    "loads of a cycle": lambda m, s, st: m.cycle(steps=40)[effort(m)],
    "path of a cycle": lambda m, s, st: m.cycle(steps=40).v,
    "jerk of a cycle": lambda m, s, st: m.cycle(steps=40)[f"{m.description.joints[-1].name}.a"],
    "run": lambda m, s, st: s.simulate(st, 0.01).q,
    "channels of a run": lambda m, s, st: s.simulate(st, 0.01)["energy.total"],
    "few designs": lambda m, s, st: m.cycles({f"{m.description.bodies[1].name}.mass": [0.2, 0.3]}, steps=24)[effort(m)],
    "many designs": lambda m, s, st: m.cycles(
        {f"{m.description.bodies[1].name}.mass": np.linspace(0.2, 0.3, 18)}, steps=24, read=[effort(m)]
    )[effort(m)],
    "derivatives": lambda m, s, st: m.cycle(steps=24).derivatives(["*.mass"])[effort(m)],
}


def drives(m: lw.Mechanism) -> list[str]:
    return [d.joint for d in m.description.drives]


def effort(m: lw.Mechanism) -> str:
    return f"{drives(m)[0]}.torque"


def calls(seed: int) -> list[tuple[str, str, int]]:
    """Calls in random order: the same ones for every seed."""
    rng = np.random.default_rng(12)
    every = [(name, question, k) for name in MODELS for question in QUESTIONS for k in range(3)]
    chosen = [every[i] for i in rng.permutation(len(every))[:CALLS]]
    return [chosen[i] for i in np.random.default_rng(seed).permutation(len(chosen))]


def answered(seed: int) -> dict[tuple[str, str, int], bytes]:
    """Bits of all calls, from mechanisms that were not asked before."""
    systems: dict[str, tuple[lw.Mechanism, lw.System]] = {}
    return {call: answer(systems, *call) for call in calls(seed)}


def answer(systems: dict[str, tuple[lw.Mechanism, lw.System]], name: str, question: str, k: int) -> bytes:
    if name not in systems:
        m = lw.load(name)
        systems[name] = m, m.system
    m, s = systems[name]
    at = {n: 0.02 * k + 0.01 * i for i, n in enumerate(drives(m))}
    st = s.assemble(at, {n: 0.5 + 0.1 * k for n in at})
    return np.asarray(QUESTIONS[question](m, s, st), dtype=float).tobytes()


@pytest.fixture(scope="module")
def first() -> dict[tuple[str, str, int], bytes]:
    return answered(1)


def same(mine: dict[tuple[str, str, int], bytes], theirs: dict[tuple[str, str, int], bytes]) -> None:
    assert len(mine) == CALLS and mine.keys() == theirs.keys()
    assert [call for call, bits in mine.items() if bits != theirs[call]] == []


def test_the_order_of_calls_does_not_change_a_bit(first) -> None:
    same(answered(2), first)


def test_asking_again_does_not_change_a_bit(first) -> None:
    """More calls than any guess about what pays could wait for."""
    systems: dict[str, tuple[lw.Mechanism, lw.System]] = {}
    for question in ("forward", "inverse", "jacobian", "named terms", "assemble"):
        found = {answer(systems, "four-bar", question, 1) for _ in range(120)}
        assert len(found) == 1


@sweep("seed", [3, 4], now=[3])
def test_another_process_gives_the_same_bits(first, seed: int) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        same(pool.submit(answered, seed).result(), first)


def test_threads_give_the_same_bits(first) -> None:
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(answered, (5, 6, 7)):
            same(found, first)


@pytest.mark.parametrize("name", MODELS)
def test_a_mechanism_that_was_pickled_or_compiled_again_gives_the_same_bits(name: str, first) -> None:
    m = lw.load(name)
    used = {name: (m, m.system)}
    asked = [call for call in calls(1) if call[0] == name][:12]
    for call in asked:
        answer(used, *call)
    again = pickle.loads(pickle.dumps(m))
    others = [{name: (again, again.system)}, {name: (m, lw.compile(m))}]
    assert [(call, k) for k, x in enumerate(others) for call in asked if answer(x, *call) != first[call]] == []


# Designs of one structure: the first of them that a process or a code cache meets must not decide anything about the others.

SPECIAL = ("bennett", "parallelogram-middle", "door")  # dependent rows, which other numbers would not have
FIRST_USE = ("forward", "inverse", "path of a cycle")
FAR = {"lengths": 1.5, "masses": 10.0}  # factors: 10 to 150 % in lengths, 50 to 1,000 % in masses


def designs(name: str) -> list[lw.Mechanism]:
    """The model, two designs of it far from each other, and these as files of their own, which know nothing of the model."""
    m, rng = lw.load(name), np.random.default_rng(39)
    out = [m]
    while len(out) < 3:
        numbers = evaluate_parameters(dict(m.description.parameters), {})
        scale = float(rng.uniform(1.1, FAR["lengths"]))  # of all lengths together: the special shape is kept, and it can be assembled
        lengths = {n: scale * float(x) for n, x in numbers.items() if parameter_dimension(m.description, n) == LENGTH}
        masses = {f"{b.name}.mass": float(b.mass * rng.uniform(0.5, FAR["masses"])) for b in m.description.numbers().bodies[1:] if b.mass}
        out.append(m.with_(**lengths, **masses))
    return [*out, *(lw.Mechanism(modelfile.read_text(modelfile.write(x.description.numbers()))) for x in out[1:])]


def bits_of_designs(name: str, order: Sequence[int]) -> dict[int, list[bytes]]:
    """Bits of some questions to designs, asked in an order, in a process that knows no structure."""
    every = designs(name)
    return {k: [bits(every[k], question) for question in FIRST_USE] for k in order}


def bits(m: lw.Mechanism, question: str) -> bytes:
    s = m.system
    return np.asarray(QUESTIONS[question](m, s, s.start), dtype=float).tobytes()


@sweep("name", [*MODELS, *SPECIAL], now=("four-bar", "bennett"))
def test_designs_that_were_asked_before_do_not_change_a_bit(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """In any order, each with an empty cache of its own; then with a full one, pickled."""
    found: list[dict[int, list[bytes]]] = []
    for i, order in enumerate(([0, 1, 2, 3, 4], [4, 2, 1, 3, 0], [3], [1], [2])):
        monkeypatch.setattr(kernels, "_known", OrderedDict())
        monkeypatch.setattr(reader, "_of_texts", OrderedDict())
        monkeypatch.setenv("LINKWRIGHT_CACHE", str(tmp_path / str(i)))
        found.append(bits_of_designs(name, order))
    assert [(i, k) for i, x in enumerate(found) for k in x if x[k] != found[0][k]] == []
    monkeypatch.setattr(kernels, "_known", OrderedDict())
    again = [pickle.loads(pickle.dumps(m)) for m in designs(name)]
    assert [k for k in (2, 3, 0, 1, 4) for i, question in enumerate(FIRST_USE) if bits(again[k], question) != found[0][k][i]] == []


def test_designs_share_the_plan_of_their_file_and_files_share_code() -> None:
    """What is shared is as it was: a design needs no plan of its own, and a file like another one no code."""
    m, first, second, file, other = designs("four-bar")
    structures = [compiled_of(x.system)._walk_structure for x in (m, first, second, file, other)]
    for x in (m, first, second, file, other):
        assert x.system.forward(x.system.start).a is not None
    assert structures[0] is structures[1] is structures[2] and len({id(x) for x in structures}) == 3
    codes = [compiled_of(x.system).ready("accelerations").code for x in (m, first, second, file, other)]
    assert all(code is codes[0] for code in codes)


@sweep("name", [*MODELS, "ankle", "excavator", "stewart"], now=["carpet-scraper"])
def test_code_does_not_depend_on_the_mechanism_that_it_is_traced_for(name: str) -> None:
    """Programs of one key are equal, whichever file they are traced for: otherwise the first one in the cache would decide."""
    every = [compiled_of(m.system)._walk_structure.kernels for m in designs(name)]
    for kernel in ("accelerations", "walk", "given_loads", "jacobian", "closure"):
        found: dict[str, set[str]] = {}
        for kernels_of_file in every:
            made = kernels_of_file.get(kernel)
            found.setdefault(str(made.key), set()).add(made.program.digest)
        assert all(len(digests) == 1 for digests in found.values()), kernel
