#!/bin/sh
# Runs the checks named on the command line, in order: lint, format, types, tests, training. Stops at the first that
# fails and says which. Needs the environment that setup.sh makes.
set -eu
cd "$(dirname "$0")/../.."
bin="${VENV:-.venv}/bin"
export QT_QPA_PLATFORM="${QT_QPA_PLATFORM:-offscreen}"

stage() {
    name=$1
    shift
    printf '\n== %s\n' "$name"
    "$@" || { printf '\nThe check "%s" failed. Alone: sh packaging/setup/check.sh %s\n' "$name" "$name" >&2; exit 1; }
}

types() { "$bin/mypy" && "$bin/mypy" packaging/setup/install.py; }

# With a second processor the suite runs as two processes, split by folder: about half the time. What the second one
# says is shown once the first is done. It hears no Ctrl+C from the terminal, so the end of this script ends it.
tests() {
    if [ "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)" -lt 2 ]; then
        "$bin/python" -m pytest -q
        return
    fi
    log=$(mktemp)
    result=0
    printf -- '-- all but engine and app; these run at the same time, and are told of afterwards\n'
    "$bin/python" -m pytest -q tests/engine tests/app >"$log" 2>&1 &
    other=$!
    trap 'kill "$other" 2>/dev/null || true; rm -f "$log"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    "$bin/python" -m pytest -q --ignore tests/engine --ignore tests/app || result=$?
    wait "$other" || result=$?
    printf -- '-- engine and app\n'
    cat "$log"
    rm -f "$log"
    trap - EXIT INT TERM
    return "$result"
}

for check in "$@"; do
    case "$check" in
    lint) stage lint "$bin/ruff" check . ;;
    format) stage format "$bin/ruff" format --check . ;;
    types) stage types types ;;
    tests) stage tests tests ;;
    training) stage training "$bin/python" -m pytest -q tests/packaging ;;
    *) printf 'There is no check "%s".\n' "$check" >&2; exit 2 ;;
    esac
done
printf '\nAll checks passed: %s\n' "$*"
