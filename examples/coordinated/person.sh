#!/bin/sh
# What a person runs who works on deploys by hand: person.sh [COMMAND…]
# The deploy lock is held while the command runs, so that no run of fettle reverts or
# deploys meanwhile. Without a command, until Enter.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" = --hold ]; then
  echo "The deploy lock is yours; press Enter to give it back."
  read -r _ || true
  exit
fi
[ $# -gt 0 ] || set -- "$here/person.sh" --hold
exec fettle lease --model "$here" --reason "deploys by hand" deploy -- "$@"
