# Where the services are acted out, for lbctl, svcctl and deployctl: a folder for each
# service below $WORLD, with a file for each fact about it, and a log of what was done.

WORLD=${WORLD:-$(dirname "$0")/world}

# services lists them.
services() {
  for dir in "$WORLD"/*/; do
    [ -d "$dir" ] || die "there are no services in $WORLD; run ./incident.sh"
    basename "$dir"
  done
}

# get SERVICE FACT
get() { cat "$WORLD/$1/$2"; }

# put SERVICE FACT VALUE, at once: whoever reads sees the old or the new.
put() {
  echo "$3" >"$WORLD/$1/.$2.$$"
  mv "$WORLD/$1/.$2.$$" "$WORLD/$1/$2"
}

# known SERVICE ends the script where there is none of that name.
known() {
  case $1 in
  '' | */* | .*) die "no such service: $1" ;;
  esac
  [ -d "$WORLD/$1" ] || die "no such service: $1"
}

# record WHAT SERVICE notes what was done, and by which run.
record() { echo "$1 $2 ${FETTLE_RUN:-by-hand}" >>"$WORLD/log"; }

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}
