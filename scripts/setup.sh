# Make .venv with everything pinned in constraints.txt; does nothing if it is up to date.
# Usage: source scripts/setup.sh [extra,extra...]
extras="${1-}"
stamp=".venv/.installed-${extras:-base}"
wanted="$(cat pyproject.toml constraints.txt scripts/setup.sh | cksum)"
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$wanted" ]; then
    python="${PYTHON:-python3}"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "gnnsync needs Python 3.11 or newer; $python is $("$python" --version 2>&1)" >&2
        exit 1
    }
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    echo "installing into .venv (some minutes the first time)" >&2
    pip_install() { .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"; }
    # PyTorch first: resolved with the rest, its range could bring in another build.
    pip_install "$(grep '^torch==' constraints.txt)"
    pip_install --constraint constraints.txt --editable ".${extras:+[$extras]}"
    echo "$wanted" > "$stamp"
fi
