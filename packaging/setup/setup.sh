#!/bin/sh
# Makes this checkout ready: system libraries, then the Python environment.
# Usage: setup.sh NEED...   where NEED is run, test or screenshots.
# Quick when nothing is missing. Knows nothing of Python packages: install.py does.
set -eu
cd "$(dirname "$0")/../.."
. packaging/setup/system.sh

system_check "$@"
exec "$PYTHON_FOUND" packaging/setup/install.py --venv "${VENV:-.venv}" "$@"
