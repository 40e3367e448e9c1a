import argparse
import json
import logging
import warnings

from gnnsync.cli.progress import PARTS_LOGGER, messages_on_stderr, print_summary, stage
from gnnsync.methods.robust import stages


def test_a_stage_prints_its_seconds_when_done(capsys):
    with stage("reading"):
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err.startswith("reading: 0.0")


def test_long_parts_of_a_method_have_a_line_each(capsys):
    logger = logging.getLogger(PARTS_LOGGER)
    before = logger.level
    with stage("solving"):
        logger.debug("auto: begins")
        logger.info("auto: gnc: 2.10 s")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "  auto: gnc: 2.10 s"
    assert lines[1].startswith("solving: ")
    assert logger.level == before
    assert not logger.handlers


def test_the_parts_logger_is_the_one_of_the_methods():
    assert stages.log.name == PARTS_LOGGER


def test_warnings_and_log_messages_are_one_line_each(capsys):
    with messages_on_stderr():
        warnings.warn("two\nlines", UserWarning, stacklevel=1)
        logging.getLogger("gnnsync.x").warning("from the log")
        logging.getLogger("gnnsync.x").info("not shown")
    assert capsys.readouterr().err == "warning: two lines\nwarning: from the log\n"


def test_the_summary_goes_where_it_disturbs_nothing(capsys):
    summary, text = {"nodes": 3}, ["nodes 3", "why"]
    print_summary(argparse.Namespace(json=False, output=None), summary, text)
    print_summary(argparse.Namespace(json=False, output="-"), summary, text)
    captured = capsys.readouterr()
    assert captured.out == captured.err == "nodes 3\n\nwhy\n"
    print_summary(argparse.Namespace(json=True, output=None), summary, text)
    assert json.loads(capsys.readouterr().out) == summary
