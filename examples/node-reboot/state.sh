# Where the cluster is acted out, for kubectl, etcdctl and rebootctl: a folder for each
# node below $WORLD/nodes, with a file for each fact about it, a file for each pod below
# $WORLD/pods, and a log of what was done. Whoever changes something holds the lock.

WORLD=${WORLD:-$(dirname "$0")/world}

# nodes and pods list them.
nodes() { list nodes; }
pods() { list pods; }

list() {
  [ -d "$WORLD/$1" ] || die "there are no $1 in $WORLD; run ./incident.sh"
  ls "$WORLD/$1"
}

# get NODE FACT, put NODE FACT VALUE: whoever reads sees the old or the new.
get() { show "nodes/$1/$2"; }
put() { write "nodes/$1/$2" "$3"; }

# show FILE, write FILE TEXT; the first without starting a program, for speed.
show() {
  read -r text <"$WORLD/$1"
  echo "$text"
}

write() {
  echo "$2" >"$WORLD/.new.$$"
  mv "$WORLD/.new.$$" "$WORLD/$1"
}

# up NODE: it is not booting, or has come back by now.
up() {
  back=$(get "$1" back)
  [ "$back" != never ] && [ "$(date +%s)" -ge "$back" ]
}

# known NODE ends the script where there is none of that name.
known() {
  case $1 in
  '' | */* | .*) die "no such node: $1" ;;
  esac
  [ -d "$WORLD/nodes/$1" ] || die "no such node: $1"
}

# lock keeps everybody else from changing the world until this script ends.
lock() {
  exec 9>"$WORLD/lock"
  flock 9
}

# record VERB NODE notes what was done, and by which run; then what incident.sh or a test
# left in surprise-VERB-NODE happens, once.
record() {
  echo "$1 $2 ${FETTLE_RUN:-by-hand}" >>"$WORLD/log"
  if [ -e "$WORLD/surprise-$1-$2" ]; then
    . "$WORLD/surprise-$1-$2"
    rm "$WORLD/surprise-$1-$2"
  fi
}

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}
