"""The page `docs/reproduction.md`, made from the kept rows alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks.reproduction.claims import CLAIMS, NOT_RUN, USUAL, VERDICTS, Claim, Finding
from benchmarks.reproduction.evidence import Evidence
from benchmarks.reproduction.figures import figures, write_figures, write_maps
from benchmarks.reproduction.sections import SECTIONS, Section
from benchmarks.reproduction.store import Store
from benchmarks.reproduction.study import BY_NAME, PARTS, PROTOCOLS
from benchmarks.reproduction.tables import escaped, markdown, tables
from gnnsync.io.files import write_text

Found = tuple[Claim, dict[str, Finding]]

_INTRODUCTION = """\
# The paper's claims, measured

This page is about the experiments of He, Reinert, Wipf and Cucuringu, *Robust Angular
Synchronization via Directed Graph Neural Networks* (ICLR 2024). For every figure and table of the
paper it gives the command, our figures and, where the paper prints numbers, these beside ours; for
every claim of its text that an experiment can test, a verdict and the figures behind it. It is
generated from the rows in `docs/reproduction/` by `scripts/reproduce --page`.

The experiments are the authors' idea and design, and could not have been repeated without their
code and their description. Two differences from their runs are known: some baselines of the
released code differ from their publications, and the paper leaves options open;
[fidelity](fidelity.md) lists both. How much each explains of a verdict is not measured here. Every
cell has 5 networks × 2 trials; errors are means ± standard deviations over these ten runs.

Every experiment is run under two protocols:

- `protocol=paper`: the paper's text to the letter, with correct baselines;
- `protocol=repaired`: the defaults of gnnsync.
"""

_HOW = """\
## How to run it

```bash
scripts/reproduce --dry-run        # what is left, and how long it takes on this machine
scripts/reproduce                  # run what is left, and write this page
scripts/reproduce --only main_k1 --protocol paper
scripts/reproduce --check 20       # run 20 of the kept jobs again and compare their rows
```

Finished jobs count as done in a fresh clone as long as their config is the same; a job whose config
has changed since is run again. One job is run by the arguments in the column `line` of
`docs/reproduction/jobs.parquet`, for instance

```bash
{example}
```

`rows.parquet` has a row per network and trial, `runs.parquet` the seconds, versions and config of
each finished job; `job_hash` joins the three.
"""

_CLAIMS = """\
## Verdicts

{count} claims of the text, in our words. A verdict is computed from the rows by a function of
`benchmarks/reproduction/claims/`. Unless another criterion is stated with it, {usual}. A cell is
one data set: graph, angles, density p and noise level η. `not run yet`: the part is not finished.

{counts}
"""

_THEORY = """\
### Not tested here

Propositions 1 and 2 are theory; `gnnsync.learn.stability` computes a bound of the form of
Proposition 2. The paper does not compare with the multi-frequency method of Gao and Zhao, nor does
this page. Figures 2 and 5 are drawings of the method and of the pipeline.
"""


def page_text(store: Store) -> str:
    """The whole page."""
    evidence = {protocol: Evidence.of(store, protocol) for protocol in PROTOCOLS}
    findings = [(claim, {p: claim.finding(e) for p, e in evidence.items()}) for claim in CLAIMS]
    parts = [
        _INTRODUCTION,
        _state(store),
        _HOW.format(example=_example(store)),
        _CLAIMS.format(count=len(CLAIMS), usual=USUAL, counts=_counts(findings)),
        *_verdicts(findings),
        _THEORY,
        "## Figures and tables\n\nNumbered in the order of the paper's source.\n",
        *(_section(store, section) for section in SECTIONS),
    ]
    return "\n".join(parts).rstrip() + "\n"


def write_page(store: Store, page: Path, folder: Path, output: Path) -> None:
    """Write the page and its figures.

    Args:
        store: the kept rows.
        page: the Markdown file.
        folder: where the figures go.
        output: folder of the jobs, for the maps.
    """
    write_figures(store, folder)
    write_maps(store, folder, output)
    write_text(page, page_text(store))


def _state(store: Store) -> str:
    progress = store.progress()
    done = store.jobs[store.jobs["job_hash"].isin(store.finished)]["job_hash"].nunique()
    total = store.jobs["job_hash"].nunique()
    lines = []
    for part in PARTS:
        line: dict[str, object] = {"part": f"`{part.name}`", "what": part.shows}
        for protocol in PROTOCOLS:
            own = progress[(progress["part"] == part.name) & (progress["protocol"] == protocol)]
            line[f"jobs, {protocol}"] = f"{own['done'].iloc[0]} of {own['jobs'].iloc[0]}"
        lines.append(line)
    state = (
        "All jobs are finished."
        if done == total
        else ("What is not finished is shown as *not run*; `scripts/reproduce` goes on with it.")
    )
    head = f"## State\n\n{done} of {total} distinct jobs are finished. {state}\n\n"
    return head + markdown(pd.DataFrame(lines)) + "\n"


def _example(store: Store) -> str:
    done = store.jobs[store.jobs["job_hash"].isin(store.finished)]
    learned = done[done["method"] == "gnnsync"] if len(done) else done
    line = learned["line"].iloc[0] if len(learned) else "experiment=paper/main_k1"
    return f"gnnsync run {line}"


def _counts(findings: list[Found]) -> str:
    texts = []
    for protocol in PROTOCOLS:
        verdicts = Counter(found[protocol].verdict for _, found in findings)
        listed = ", ".join(f"{verdicts[name]} {name}" for name in VERDICTS if verdicts[name])
        texts.append(f"Under `{protocol}`: {listed}.")
    return " ".join(texts)


def _verdicts(findings: list[Found]) -> Iterator[str]:
    table = pd.DataFrame(
        {
            "claim": claim.name,
            "where": claim.where,
            **{f"under {p}": f"**{finding.verdict}**" for p, finding in found.items()},
        }
        for claim, found in findings
    )
    yield markdown(table) + "\n"
    for claim, found in findings:
        criterion = f" Criterion: {claim.criterion}." if claim.criterion else ""
        lines = [f"### {claim.name}\n", escaped(f"{claim.where}. {claim.text}{criterion}\n")]
        for protocol, finding in found.items():
            behind = "" if finding.verdict == NOT_RUN else f" {finding.figures}"
            lines.append(escaped(f"- `{protocol}`: **{finding.verdict}**.{behind}"))
        yield "\n".join(lines) + "\n"


def _section(store: Store, section: Section) -> str:
    lines = [f"### {section.title}\n", f"{section.items}. {section.note}".strip() + "\n", "```bash"]
    lines += [BY_NAME[name].command(p) for name in section.parts for p in PROTOCOLS]
    lines += ["```\n"]
    for drawn in figures(store, section):
        lines += [f"{drawn.heading}\n", f"![{section.title}](reproduction/{drawn.name})\n"]
    lines += [f"{table}\n" for table in tables(store, section)]
    for protocol in PROTOCOLS if section.parts[0] in ("us_cities", "pacm") else ():
        done = store.replicas()
        done = done[(done["part"] == section.parts[0]) & (done["protocol"] == protocol)]
        if len(done):
            name = f"map_{section.parts[0]}_{protocol}.png"
            lines += [
                f"Recovered maps of the first network under `protocol={protocol}`:\n",
                f"![Recovered maps](reproduction/{name})\n",
            ]
    return "\n".join(lines)
