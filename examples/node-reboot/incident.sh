#!/bin/sh
# Sets the world up anew: a new kernel is installed on all six nodes; w3 and cp3 were
# rebooted yesterday, the others still run the old one. w2 is slow to come back.
set -eu
. "$(dirname "$0")/state.sh"

old=6.8.0-45-generic
new=6.8.0-49-generic
rm -rf "$WORLD/nodes" "$WORLD/pods" "$WORLD/log" "$WORLD"/surprise-*
for n in cp1 cp2 cp3 w1 w2 w3; do
  mkdir -p "$WORLD/nodes/$n" "$WORLD/pods"
  case $n in
  cp*) put "$n" role control-plane ;;
  *) put "$n" role worker ;;
  esac
  put "$n" pods 6
  put "$n" cordoned false
  put "$n" kernel "$old"
  put "$n" kernel_before "$old"
  put "$n" installed "$new"
  put "$n" boots "$new"
  put "$n" back 0
  put "$n" boot_seconds 0
  put "$n" etcd true
  put "$n" fence 0
  write "pods/agent-$n" "$n"
done
put w3 kernel "$new"
put cp3 kernel "$new"
put w2 boot_seconds 3
i=0
for n in w1 w1 w1 w2 w2 w2 w2 w3 w3 w3; do
  i=$((i + 1))
  write "pods/web-$i" "$n"
done
echo "w1, w2, cp1 and cp2 run $old where $new is installed"
