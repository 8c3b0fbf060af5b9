#!/bin/sh
# Runs the checks named on the command line, in order: lint, format, types, tests. Stops at the first that
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

# From its version 2 on, mypy reads this and checks in as many processes.
types() {
    MYPY_NUM_WORKERS=$(processors)
    export MYPY_NUM_WORKERS
    "$bin/mypy" && "$bin/mypy" packaging/setup/install.py
}

processors() {
    found=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
    [ "$found" -le 4 ] || found=4
    echo "$found"
}

# The tests wait a seventh of their time for a disk to keep files that nobody wants: they are made in memory where 4 GB
# are free, and programs may be started from it.
in_memory() {
    [ -z "${TMPDIR:-}" ] && folder=$(mktemp -d /dev/shm/paceline-XXXXXX 2>/dev/null) || return 0
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' HUP INT TERM
    chmod 711 "$folder"  # some tests go on as another user
    printf '#!/bin/sh\n' >"$folder/program" && chmod +x "$folder/program"
    free_kb=$(df -Pk "$folder" | awk 'NR == 2 { print $4 }')
    [ "$free_kb" -lt 4000000 ] || ! "$folder/program" 2>/dev/null || export TMPDIR="$folder"
}

# One process a processor, each of which takes tests from the others when its own are done, and a gigabyte of memory.
tests() {
    workers=$(processors)
    if [ "$workers" -gt 1 ]; then
        # The threads of llama.cpp in all of them outnumber the processors: one that spins keeps from running what it
        # waits for.
        OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-PASSIVE}
        export OMP_WAIT_POLICY
    else
        workers=0
    fi
    in_memory
    # The tests start hundreds of processes, each of which would compile the program anew.
    env -u PYTHONDONTWRITEBYTECODE "$bin/python" -m pytest -q --numprocesses "$workers" --dist worksteal
}

for check in "$@"; do
    case "$check" in
    lint) stage lint "$bin/ruff" check . ;;
    format) stage format "$bin/ruff" format --check . ;;
    types) stage types types ;;
    tests) stage tests tests ;;
    *) printf 'There is no check "%s".\n' "$check" >&2; exit 2 ;;
    esac
done
printf '\nAll checks passed: %s\n' "$*"
