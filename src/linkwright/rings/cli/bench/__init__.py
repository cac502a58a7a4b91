"""`linkwright bench`: the time and accuracy of our own kernels, of whole simulations and of the page.

`command` has the options, `speed` the rounds. `ours` are the compiled kernels on the mechanisms and states of `cases`, `processes` the
time a fresh process takes, `runs` whole simulations with `free_run` and `known_motions`, `page` the page in a browser. `clocks` time,
`table` prints and writes the results, `machine_info` names the machine. `checkout` opens the drivers of other programs, which are in
the folder `benchmarks` of the repository.
"""
