"""`linkwright bench`: time and accuracy of Linkwright's kernels, of whole simulations, of verbs and of the page.

`speed` has the rounds. `ours` are the compiled kernels on the mechanisms and states of `cases`, `processes` measures fresh processes,
`runs` whole simulations with `free_run` and `known_motions`, `verbs` the calls of users, `page` the page in a browser. `versions` times
`public_calls` in two checkouts in turns. `clocks` time,
`table` prints and writes the results, `machine_info` names the machine. `benchmarks.peers` has the other programs.
"""

from __future__ import annotations

from collections.abc import Sequence

SUBJECTS = ("kernels", "runs", "verbs", "page")


def measure(
    what: str = "kernels",
    *,
    peers: bool = False,
    quick: bool = False,
    models: Sequence[str] | None = None,
    build: str | None = None,
    output: str | None = None,
    as_json: bool = False,
    against: str | None = None,
) -> None:
    """Measure one of SUBJECTS, print the table (or JSON) and write it as CSV to `output`. `build`: a folder for compiled programs.
    `against`: the folder of another checkout, whose calls are timed in turns with the calls of this one."""
    from benchmarks.bench import page, speed, verbs, versions
    from linkwright.errors import UsageError

    if peers and what not in ("kernels", "runs"):
        raise UsageError(f"--peers compares kernels and runs with other programs, not {what}. Leave it out.")
    if against is not None:
        if what != "verbs":
            raise UsageError(
                f"--against compares verbs with another version, not {what}: linkwright bench verbs --against FOLDER", name="against"
            )
        versions.main(against, quick=quick, output=output, as_json=as_json, mechanisms=models or ())
    elif what == "verbs":
        verbs.main(quick=quick, output=output, as_json=as_json, mechanisms=models or verbs.MECHANISMS)
    elif what == "page":
        page.main(quick=quick, output=output, as_json=as_json, mechanisms=models or page.MECHANISMS)
    else:
        named, runs = models or speed.MECHANISMS, what == "runs"
        speed.main(quick=quick, output=output, as_json=as_json, mechanisms=named, peers=peers, build=build, runs=runs)
