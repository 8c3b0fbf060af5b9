#!/bin/sh
# Tries a bundle: version, doctor, an answer in every mode, JSON. Usage: try.sh PROGRAM
# The built-in pair answers; nothing of this machine's Python or project is used.
set -eu
program=$1
home=$(mktemp -d)
export PACELINE_HOME="$home"
"$program" --version
"$program" doctor || true # no display is no fault, but a server of CI may lack something else that is told here
for mode in off ngram suffix draft auto; do
    printf '%s: ' "$mode"
    "$program" run --mode "$mode" --prompt "Repeat: red, green, blue." --max-tokens 24 --temperature 0
done
"$program" run --json --prompt "Hello" --max-tokens 8 | grep -q '"tokens_per_pass"'
rm -rf "$home"
echo "The bundle works."
