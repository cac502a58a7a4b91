"""The check of a whole model: from the text of its file to the requirements on its motion, with a remedy for what failed.

    found = lw.check("my.yaml", require=["C.transmission_angle > 40 deg"])      m.check(require=[...]) of a mechanism that was read
    found.ok        found["moves"].text        found.failed[0].remedies[0].changes

request.py      what is asked: requirements, the wanted range, a run        stages.py      stages one after the other
file_stage.py   readable and complete, from a file                          search.py      the smallest change of one parameter
structure.py    changes of the structure: joints, bodies, masses, modes     applied.py     a model after a remedy

A stage that needs an earlier one that failed is unknown. Every remedy was applied and checked before it is named.
"""

from linkwright.rings.design.model_check.file_stage import check
from linkwright.rings.design.model_check.mechanism import check_mechanism
from linkwright.rings.design.model_check.request import STAGES, CheckRequest

__all__ = ["STAGES", "CheckRequest", "check", "check_mechanism"]
