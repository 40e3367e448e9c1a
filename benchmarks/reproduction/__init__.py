"""The study of the paper's presets: run, kept as rows, and shown on one page.

    python -m benchmarks.reproduction --help

`study.py` lists the parts, `planning.py` finds their jobs, `store.py` keeps rows in
`docs/reproduction/`, `running.py` runs what is left, `checking.py` runs kept rows again, and
`page.py` writes `docs/reproduction.md` from the rows, with the verdicts of `claims/`.
"""
