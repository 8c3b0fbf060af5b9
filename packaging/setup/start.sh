#!/bin/sh
# Opens the window; where there is no display, says so and lets the same engine answer in the terminal.
set -eu
cd "$(dirname "$0")/../.."
. packaging/setup/system.sh

python="${VENV:-.venv}/bin/python"
if has_display; then
    exec "$python" -m app
fi
say 'No display here, so there is no window: the built-in pair answers one question in the terminal, in each mode.'
exec "$python" -m app demo
