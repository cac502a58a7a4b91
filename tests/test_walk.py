"""How many modules one call passes through: what a newcomer opens to follow it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.sources import PACKAGE

# Modules whose functions run during the call, at most. A change that needs one more says why; one that needs fewer lowers its number.
MOST = {
    "lw.load('wiper')": 30,
    "m.cycle()": 33,
    "m.simulate(1)": 52,
    "s.forward(s.start)": 9,
}
# A process of its own, so that no other test's objects are found again. Every call was made before, on other
# objects: nothing is imported or compiled while it is watched.
WATCHED = """
import json, os, sys
import linkwright as lw
root = os.path.dirname(lw.__file__) + os.sep
s = lw.compile("carpet-scraper")
calls, found = json.loads(sys.argv[1]), {}
for _ in range(3):
    m = lw.load("wiper")
    for call in calls:
        eval(call)
m = lw.load("wiper")
for call in calls:
    met = set()
    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(root):
            met.add(frame.f_code.co_filename[len(root):].replace(os.sep, "/"))
    sys.setprofile(note)
    eval(call)
    sys.setprofile(None)
    found[call] = sorted(met)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def met() -> dict[str, list[str]]:
    """Modules of each call."""
    done = subprocess.run([sys.executable, "-c", WATCHED, json.dumps(list(MOST))], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("call", MOST)
def test_a_call_passes_through_few_modules(call: str, met: dict[str, list[str]]) -> None:
    assert all((PACKAGE / module).is_file() for module in met[call])
    assert 5 < len(met[call]) <= MOST[call], f"{len(met[call])} modules: {', '.join(met[call])}"
