#!/bin/sh
# Opens the window; where there is no display, says so and lets the same engine answer in the terminal: the small real
# model, where it is here, and the built-in pair.
set -eu
cd "$(dirname "$0")/../.."
. packaging/setup/system.sh

python="${VENV:-.venv}/bin/python"
if has_display; then
    exec "$python" -m app
fi
say 'No display here, so there is no window: the models that are here answer in the terminal.'
exec "$python" -m app demo
