#!/bin/sh
# What a person runs who works on deploys by hand: person.sh [COMMAND…]
# The deploy lock is held while the command runs, so that no run of fettle reverts or
# deploys meanwhile. Without a command, until Enter.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- sh -c 'echo "The deploy lock is yours; press Enter to give it back."; read -r _'
exec fettle lease --model "$here" deploy -- "$@"
