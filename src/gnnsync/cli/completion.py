"""`gnnsync completion SHELL`: scripts for bash, zsh and fish, and the words that they offer.

`gnnsync run --shell-completion install=SHELL`, as Hydra's help names it, prints the same scripts.
Keys of the config come from Hydra's own completion; commands, options and choices of groups do not
need it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable

from gnnsync.cli.commands import COMMANDS
from gnnsync.cli.terminal.parser import OneLineParser
from gnnsync.errors import ConfigError
from gnnsync.experiments.config.arguments import OPTIONS, config_dirs
from gnnsync.experiments.config.groups import Groups

SHELLS = ("bash", "zsh", "fish")
_QUERY = "query"

# Readline replaces what follows the last `=` or `:`, so the words are cut there.
_BASH = r"""
_gnnsync() {
    local line="${COMP_LINE:0:COMP_POINT}" word="${COMP_WORDS[COMP_CWORD]}" offered
    local full="${line##* }"
    [[ "$word" == [=:] ]] && word=""
    COMPREPLY=()
    while IFS= read -r offered; do
        [[ "$offered" == *[=/.,] ]] || offered="$offered "
        COMPREPLY+=("${offered:$(( ${#full} - ${#word} ))}")
    done < <(COMP_LINE="$line" "${COMP_WORDS[0]}" completion query 2>/dev/null)
}
complete -o default -o nospace -F _gnnsync gnnsync
"""
_ZSH = r"""
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
_gnnsync() {
    local -a offered
    local line="${words[1,CURRENT-1]} $PREFIX"
    offered=("${(@f)$(COMP_LINE=$line $words[1] completion query 2>/dev/null)}")
    offered=("${(@)offered:#}")
    if (( ! $#offered )); then _files; return; fi
    compadd -Q -S "" -- ${(M)offered:#*[=/.,]}
    compadd -Q -- ${offered:#*[=/.,]}
    return 0
}
compdef _gnnsync gnnsync
"""
_FISH = r"""
function __gnnsync_offer
    set -lx COMP_LINE (commandline -cp)
    gnnsync completion query 2>/dev/null
end
complete -c gnnsync -f -a "(__gnnsync_offer)"
complete -c gnnsync -F -n "__fish_seen_subcommand_from solve locate report list show"
"""
_UNINSTALL = {
    "bash": "complete -r gnnsync; unset -f _gnnsync",
    "zsh": "compdef -d gnnsync; unfunction _gnnsync",
    "fish": "complete -e -c gnnsync; functions -e __gnnsync_offer",
}
# Hydra's help gives one line for bash and zsh.
_INSTALL = {
    "bash": f"if [ -n \"$ZSH_VERSION\" ]; then eval '{_ZSH}'; else eval '{_BASH}'; fi",
    "zsh": _ZSH.strip(),
    "fish": _FISH.strip(),
}


def main(argv: list[str]) -> int:
    """Run the command; returns the exit code."""
    parser = OneLineParser(
        "gnnsync completion",
        description="Print a script that completes commands, options, groups, choices and keys: "
        'eval "$(gnnsync completion bash)" (or zsh), gnnsync completion fish | source.',
    )
    parser.add_argument("shell", choices=[*SHELLS, _QUERY], metavar="|".join(SHELLS))
    arguments = parser.parse_args(argv)
    if arguments.shell == _QUERY:
        for word in offered(os.environ.get("COMP_LINE", ""), _ask_hydra):
            print(word)
    else:
        print(_INSTALL[arguments.shell])
    return 0


def shell_script(arguments: list[str]) -> str | None:
    """The script that `gnnsync run --shell-completion ...` prints; None for a query of Hydra."""
    for text in arguments:
        action, _, shell = text.partition("=")
        if action in ("install", "uninstall"):
            if shell not in SHELLS:
                raise ConfigError(f"{text}: must be one of {', '.join(SHELLS)}")
            return (_INSTALL if action == "install" else _UNINSTALL)[shell]
    return None


def offered(line: str, ask_hydra: Callable[[list[str]], Iterable[str]]) -> list[str]:
    """The words that may stand at the end of a command line.

    Args:
        line: up to the cursor.
        ask_hydra: keys and groups that may follow the arguments of `gnnsync run`.
    """
    words = line.split()[1:] + ([""] if line.endswith(" ") else [])
    if len(words) < 2:
        return _beginning(words[-1] if words else "", COMMANDS)
    command, *arguments, word = words
    if command == "completion":
        return _beginning(word, SHELLS)
    if command != "run":
        return _beginning(word, _options(command)) if word.startswith("-") else []
    if word.startswith("-"):
        return _beginning(word, OPTIONS)
    group, equals, value = word.partition("=")
    groups = Groups.of(config_dirs(arguments)).choices
    choices = groups.get(group.lstrip("+"), ())
    if equals and choices:
        before, comma, last = value.rpartition(",")
        return [f"{group}={before}{comma}{choice}" for choice in _beginning(last, choices)]
    overrides = [text for text in arguments if not text.startswith("-")]
    keys = _beginning(word, ask_hydra([*overrides, word]))
    return [key for key in keys if key not in groups] + _groups(word, groups, keys)


def _groups(word: str, groups: Iterable[str], known: Iterable[str]) -> list[str]:
    """Groups that begin with the word, as `GROUP=` or up to the next `/`, unless they are known."""
    found = []
    for group in _beginning(word, groups):
        rest, slash, _ = group[len(word) :].partition("/")
        found.append(f"{word}{rest}{slash or '='}")
    return [text for text in dict.fromkeys(found) if text not in known]


def _ask_hydra(arguments: list[str]) -> Iterable[str]:
    """What Hydra's completion offers; it is made for the command line of a whole program."""
    import subprocess  # only keys need it

    command = [sys.executable, "-P", "-m", "gnnsync.cli.run", "--shell-completion", "query=fish"]
    environment = {**os.environ, "COMP_LINE": " ".join(["gnnsync", *arguments])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.stdout.splitlines()


def _options(command: str) -> list[str]:
    """The options in the help of a command."""
    if command == "solve":
        from gnnsync.cli.solve.options import solve_parser as parser  # loads NumPy and SciPy
    elif command == "locate":
        from gnnsync.cli.locate.options import locate_parser as parser  # as above
    elif command == "report":
        from gnnsync.cli.report import parser  # loads pandas and Matplotlib
    elif command == "list":
        from gnnsync.cli.list import parser  # as the others, when it is asked for
    elif command == "show":
        from gnnsync.cli.show import parser  # as the others, when it is asked for
    else:
        return []
    return sorted(set(re.findall(r"(?<![\w-])--[a-z][\w-]+", parser().format_help())))


def _beginning(word: str, words: Iterable[str]) -> list[str]:
    return [other for other in words if other.startswith(word)]
