#!/bin/sh
# Sets the world up anew: api leaks memory, db got a bad deploy.
set -eu
. "$(dirname "$0")/state.sh"

rm -rf "$WORLD/api" "$WORLD/db" "$WORLD/log"
mkdir -p "$WORLD/api" "$WORLD/db"
for s in api db; do
  put "$s" in_lb true
  put "$s" requests 12
  put "$s" memory ok
  put "$s" wanted v41
  put "$s" version v41
  put "$s" fresh false
done
put api memory leak
put db version v42
echo "api leaks memory, db runs v42 where v41 is wanted"
