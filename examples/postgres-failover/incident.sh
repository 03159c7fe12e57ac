#!/bin/sh
# Sets the world up anew: the primary pg1 cannot be reached any more, though it still runs,
# and some clients may still write to it. pg2 is 4 MB behind it, pg3 and pg4 1 MB.
set -eu
. "$(dirname "$0")/state.sh"

rm -rf "$WORLD/servers" "$WORLD/pool" "$WORLD/fence" "$WORLD/log" "$WORLD"/surprise-*
mkdir -p "$WORLD/servers/pg1" "$WORLD/servers/pg2" "$WORLD/servers/pg3" "$WORLD/servers/pg4" "$WORLD/pool" "$WORLD/fence"
for s in pg1 pg2 pg3 pg4; do
  put "$s" role standby
  put "$s" alive true
  put "$s" reachable true
  put "$s" isolated false
  put "$s" nofailover false
  put "$s" upstream pg1
  put "$s" lag 1
  write "pool/reads-$s" false
done
put pg1 role primary
put pg1 reachable false
put pg2 lag 4
put pg4 nofailover true
write pool/writes pg1
write pool/reads-pg2 true
write pool/reads-pg3 true
echo "pg1, the primary, cannot be reached; pg2 and pg3 serve reads, pg4 is for reports"
