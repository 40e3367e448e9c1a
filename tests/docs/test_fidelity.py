"""The table of docs/fidelity.md lists every option of the protocols, with its three values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose
from omegaconf import OmegaConf

from gnnsync.experiments.config.composing import compose_config, hydra_configs
from gnnsync.experiments.paths import conf_dir

PAGE = Path(__file__).parents[2] / "docs" / "fidelity.md"
PROTOCOLS = ("paper", "released", "repaired")


def table() -> dict[str, dict[str, str]]:
    """By option: the cells of its row, by the titles of the columns."""
    lines = PAGE.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| option |"))
    titles, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines[start : lines.index("", start)]
    )
    named = [dict(zip(titles, row, strict=True)) for row in rows]
    return {row["option"].strip("`"): row for row in named}


def flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, child in tree.items():
        inner = isinstance(child, dict)
        found |= flat(child, f"{prefix}{name}.") if inner else {f"{prefix}{name}": child}
    return found


def choices(protocol: str) -> dict[str, Any]:
    """The groups that a protocol chooses, in a whole config."""
    own = yaml.safe_load((conf_dir() / "protocol" / f"{protocol}.yaml").read_text())["defaults"]
    groups = [str(*line).removeprefix("override /") for line in own]
    with hydra_configs():
        cfg = compose("config", [f"protocol={protocol}"], return_hydra_config=True)
    return {group: cfg.hydra.runtime.choices[group] for group in groups}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_table_has_the_values_of_the_protocol(protocol):
    with hydra_configs():
        cfg = compose_config([f"protocol={protocol}"])
    own = flat(OmegaConf.to_container(cfg.protocol, resolve=True)) | choices(protocol)
    assert own.pop("name") == protocol
    listed = {option: yaml.safe_load(row[protocol].strip("`")) for option, row in table().items()}
    assert listed == own


def test_every_option_is_read_where_the_table_says():
    for option, row in table().items():
        text = (conf_dir() / row["read by"].strip("`")).read_text()
        read = f"- {option}: " if option in choices("paper") else f"${{protocol.{option}}}"
        assert read in text, option


def test_nothing_is_read_that_no_protocol_has():
    texts = (path.read_text() for path in conf_dir().rglob("*.yaml"))
    read = {name for text in texts for name in re.findall(r"\$\{protocol\.([\w.]+)\}", text)}
    assert read - {"name"} == set(table()) - set(choices("paper"))


def test_every_option_differs_between_protocols():
    for option, row in table().items():
        assert len({row[protocol] for protocol in PROTOCOLS}) > 1, option
