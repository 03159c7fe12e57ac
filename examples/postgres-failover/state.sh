# Where the cluster is acted out, for pgctl, fencectl and poolctl: a folder for each
# server below $WORLD/servers and one for the pool, with a file for each fact, the fences
# that were raised, and a log of what was done. Whoever changes something holds the lock.

WORLD=${WORLD:-$(dirname "$0")/world}

# servers lists them.
servers() {
  [ -d "$WORLD/servers" ] || die "there are no servers in $WORLD; run ./incident.sh"
  ls "$WORLD/servers"
}

# get SERVER FACT, put SERVER FACT VALUE: whoever reads sees the old or the new.
get() { show "servers/$1/$2"; }
put() { write "servers/$1/$2" "$3"; }

# show FILE, write FILE TEXT; the first without starting a program, for speed.
show() {
  read -r text <"$WORLD/$1"
  echo "$text"
}

write() {
  echo "$2" >"$WORLD/.new.$$"
  mv "$WORLD/.new.$$" "$WORLD/$1"
}

# answers SERVER: it runs, and can be reached.
answers() { [ "$(get "$1" alive)" = true ] && [ "$(get "$1" reachable)" = true ] && [ "$(get "$1" isolated)" = false ]; }

# writes SERVER: somebody may be writing to it, whether it can be reached from here or not.
writes() { [ "$(get "$1" role)" = primary ] && [ "$(get "$1" alive)" = true ] && [ "$(get "$1" isolated)" = false ]; }

# known SERVER ends the script where there is none of that name.
known() {
  case $1 in
  '' | */* | .*) die "no such server: $1" ;;
  esac
  [ -d "$WORLD/servers/$1" ] || die "no such server: $1"
}

# lock keeps everybody else from changing the world until this script ends.
lock() {
  exec 9>"$WORLD/lock"
  flock 9
}

# admit KEEPER refuses a late one: somebody has since come with a higher token. A person
# without a token is let in.
admit() {
  seen=$(cat "$WORLD/fence/$1" 2>/dev/null || echo 0)
  if [ "${FETTLE_FENCE:-$seen}" -lt "$seen" ]; then
    echo "{\"fence\": $seen}"
    echo "$(basename "$0"): fence $FETTLE_FENCE is late" >&2
    exit 75
  fi
}

# raise KEEPER keeps the token that it was told.
raise() {
  admit "$1"
  write "fence/$1" "$FETTLE_FENCE"
}

# record VERB SERVER notes what is done, and by which run; what incident.sh or a test left
# in surprise-VERB-SERVER happens first, once.
record() {
  surprise=$WORLD/surprise-$1-$2
  if [ -e "$surprise" ]; then
    mv "$surprise" "$surprise.met"
    . "$surprise.met"
  fi
  echo "$1 $2 ${FETTLE_RUN:-by-hand}" >>"$WORLD/log"
}

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}
