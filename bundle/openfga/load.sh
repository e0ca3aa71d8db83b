#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Creates a store on an OpenFGA server and loads model.json and tuples.json into
# it. It doesn't change a store that is already loaded, so later changes to the
# store stay. You can run it again after an interruption. Needs curl and a POSIX
# shell.
set -eu
LC_ALL=C
export LC_ALL
umask 077

usage() {
  cat <<'TEXT'
usage: ./load.sh [--check] [--again] [--wait SECONDS] [--store NAME] BASE_URL

BASE_URL is the HTTP API of OpenFGA 1.10 or newer, such as
http://127.0.0.1:8080. If the server requires a preshared key, set OPENFGA_TOKEN to the key.

  --store NAME    the name of the store (default: the name in store.fga.yaml)
  --wait SECONDS  how long to wait for the server (default: 60)
  --check         only report whether the store is loaded
  --again         load the store again; this restores tuples that were deleted
                  from it

Exit status: 0 if the store is loaded, 1 if it isn't, 2 for incorrect usage.
TEXT
}

wrong_usage() {
  printf 'load.sh: %s\n' "$*" >&2
  usage >&2
  exit 2
}

die() {
  printf 'load.sh: %s\n' "$*" >&2
  exit 1
}

check=no
again=no
wait_seconds=60
store=
base=
while [ $# -gt 0 ]; do
  case $1 in
    --check) check=yes ;;
    --again) again=yes ;;
    --wait)
      wait_seconds=${2:-}
      case $wait_seconds in
        '' | *[!0-9]* | ??????*) wrong_usage '--wait needs a number of seconds' ;;
      esac
      shift
      ;;
    --store)
      store=${2:-}
      case $store in
        '' | *[!A-Za-z0-9._-]*) wrong_usage '--store: a name can contain only letters, digits and . _ -' ;;
      esac
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    -*) wrong_usage "unknown option $1" ;;
    *)
      [ -z "$base" ] || wrong_usage 'pass only one URL'
      base=${1%/}
      ;;
  esac
  shift
done
case $base in
  '') wrong_usage 'pass the URL of the OpenFGA server' ;;
  *[!A-Za-z0-9._~:/%@+=,\[\]-]*) wrong_usage "the URL has characters that a server's URL cannot have" ;;
  http://?* | https://?*) ;;
  *) wrong_usage 'the URL must begin with https:// or http://' ;;
esac
token=${OPENFGA_TOKEN:-}
unset OPENFGA_TOKEN
case $token in
  *[!A-Za-z0-9._~+/=-]*) wrong_usage 'OPENFGA_TOKEN has characters that a bearer token cannot have (RFC 6750, 2.1)' ;;
esac
command -v curl >/dev/null 2>&1 || die 'curl is missing: install it, and try again.'

cd "$(dirname -- "$0")" || die "cannot change to this script's folder"
here=$(pwd)
for file in store.fga.yaml model.json tuples.json; do
  [ -r "$file" ] || die "$file is missing. It must be in the same folder as load.sh."
done
[ -n "$store" ] || store=$(sed -n 's/^name: "\([A-Za-z0-9._-]*\)"$/\1/p' store.fga.yaml)
[ -n "$store" ] || die 'store.fga.yaml does not name a store: set it with --store NAME.'

work=$(mktemp -d "${TMPDIR:-/tmp}/load.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
cd "$work"

# Options of each request. The token is in a file, so that ps doesn't show it.
{
  printf 'silent\nmax-time = 60\nheader = "content-type: application/json"\n'
  [ -z "$token" ] || printf 'header = "authorization: Bearer %s"\n' "$token"
} >settings

# Sends a request, with the body in a file if one is given. It sets $status and
# writes the answer to the file answer.
send() {
  status=$(curl -K settings -X "$1" -o answer -w '%{http_code}' ${3:+--data-binary "@$3"} "$base$2") || status=000
}

# Prints the last answer on one line, without control characters.
reason() {
  if [ "$status" = 000 ]; then
    printf 'nothing responds at %s' "$base"
  else
    printf '%s: ' "$status"
    tr -d '\000-\037\177' <answer | cut -c 1-300
  fi
}

expect() {
  [ "$status" = "$1" ] || die "cannot $2: $(reason)"
}

wait_for_server() {
  waited=0
  while :; do
    send GET /healthz
    [ "$status" != 200 ] || return 0
    [ "$waited" -lt "$wait_seconds" ] ||
      die "OpenFGA is not ready after $wait_seconds seconds: $(reason)"
    sleep 1
    waited=$((waited + 1))
  done
}

# Prints the ids in an answer, one per line.
ids() {
  tr '{,' '[\n*]' <answer | sed -n 's/^ *"'"$1"'": *"\([0-9A-Z]*\)".*/\1/p'
}

# Sets id to the id of the store, or to nothing if it doesn't exist.
find_store() {
  send GET "/stores?page_size=2&name=$store"
  expect 200 "look up the store $store"
  id=$(ids id)
  case $id in
    *"
"*) die "there are several stores named $store: choose another name with --store." ;;
  esac
}

# A tuple that marks a store as loaded. No caller and no call can have such a
# name.
loaded='{"user":"user:~loaded","relation":"by","object":"call:~loaded"}'

is_loaded() {
  [ -n "$id" ] || return 1
  printf '{"tuple_key":%s}' "$loaded" >body
  send POST "/stores/$id/read" body
  # Without a model the type is unknown.
  [ "$status" = 200 ] && grep -q '"user:~loaded"' answer
}

# Writes the tuples in pieces of 100, the most that the server accepts, 100 pieces
# with one curl.
write_tuples() {
  awk -v url="$base/stores/$id/write" -v model="$1" '
    function finish() {
      if (!n) return
      print "]}}" >piece
      close(piece)
      if (pieces) print "next" >"round" # curl rejects one at the end, without a URL
      while ((getline line <"settings") > 0) print line >"round"
      close("settings")
      print "retry = 4\nurl = \"" url "\"\ndata-binary = \"@" piece "\"\noutput = \"answer." pieces "\"" >"round"
      print "write-out = \"%{http_code} " pieces "\\n\"" >"round"
      n = 0
      if (++pieces == 100) round()
    }
    function round(  command) {
      if (!pieces) return
      close("round")
      command = "curl -K round"
      while ((command | getline line) > 0) {
        answered++
        if (line !~ /^200 / && !wrong) wrong = line
      }
      close(command)
      if (wrong || answered != pieces) {
        print wrong >"wrong"
        failed = 1
        exit 1
      }
      printf "" >"round"
      close("round")
      pieces = answered = 0
    }
    BEGIN { printf "" >"round"; pieces = 0 }
    /^  [{]/ {
      sub(/^  /, "")
      sub(/,$/, "")
      if (!n) {
        piece = "piece." pieces
        printf "{\"authorization_model_id\":\"%s\",", model >piece
        printf "\"writes\":{\"on_duplicate\":\"ignore\",\"tuple_keys\":[" >piece
      }
      print (n ? "," : "") $0 >piece
      total++
      if (++n == 100) finish()
    }
    END {
      if (failed) exit 1
      finish()
      round()
      if (!failed) print total
    }
  ' "$here/tuples.json" >count || {
    read -r status piece <wrong || status=000
    [ "$status" = 000 ] || cp "answer.$piece" answer
    die "cannot write the tuples: $(reason). Run load.sh again. It keeps the tuples that are already written."
  }
}

wait_for_server
find_store
if [ "$again" = no ] && is_loaded; then
  printf 'ok    the store %s is loaded: %s\n' "$store" "$id"
  exit 0
fi
[ "$check" = no ] || die "the store $store is not loaded."
if [ -z "$id" ]; then
  printf '{"name":"%s"}' "$store" >body
  send POST /stores body
  expect 201 "create the store $store"
  id=$(ids id)
fi
send POST "/stores/$id/authorization-models" "$here/model.json"
expect 201 'write the model'
model=$(ids authorization_model_id)
write_tuples "$model"
printf '{"authorization_model_id":"%s","writes":{"on_duplicate":"ignore","tuple_keys":[%s]}}' "$model" "$loaded" >body
send POST "/stores/$id/write" body
expect 200 'write the last tuple'
printf 'ok    %s tuples are in the store %s: %s\n' "$(cat count)" "$store" "$id"
