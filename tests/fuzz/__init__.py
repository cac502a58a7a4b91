"""Fuzzing: changed model files, imports and requests, by the thousand, from a seed.

    python -m tests.fuzz files --seconds 600 --seed 7        model files
    python -m tests.fuzz imports --seconds 600 --seed 7      files of other programs, tables, meshes, saved runs, studies
    python -m tests.fuzz server --seconds 600 --seed 7       requests to the servers of the page and of the editor
    python -m tests.fuzz files --seed 7 --only 1234          input 1234 of that run again

Seconds are those of the processor. An input is a sound file, or a few requests, with random changes: some by structure (entries, elements,
numbers, names), some by bytes. What can be read is also used. Allowed are a result of finite numbers or a LinkwrightError with a message
for people; anything else is a finding, which is made small and printed: another exception, a warning of numpy, a number that is not
finite, an input above its time limit, growth of memory, a file changed or left behind.

    odd.py          values that people and programs do not expect
    changes/        random changes: texts and bytes, trees of YAML and JSON, XML, tables
    corpus.py       sound model files; import_corpus.py  sound files of the other kinds
    judging.py      what may come out, and the time limits
    using.py        what is done with a mechanism that could be read
    model_files.py, imports.py, requests.py    the three targets
    running.py      the worker; watching.py  the process that watches it
"""
