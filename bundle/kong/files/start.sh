#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Starts the exported gateway, waits until it serves, and checks that it asks
# for keys. Needs Docker or Podman with compose, and curl.
set -eu

# What this export holds.
project='@COMPOSE_PROJECT@'
guarded='@GUARDED@'
open='@OPEN@'
unknown_key='@UNKNOWN_KEY@' # well-formed, and held by nobody

key=
path=
stop=no
proxy="http://127.0.0.1:${KONG_PROXY_PORT:-8000}"
admin="http://127.0.0.1:${KONG_ADMIN_PORT:-8001}"
status="http://127.0.0.1:${KONG_STATUS_PORT:-8100}"
wait_seconds=${START_TIMEOUT:-120}
failures=0

usage() {
  cat <<'TEXT'
usage: ./start.sh [--key KEY [--path PATH]] [--stop]

  --key KEY    also check that KEY is let through (expects 200)
  --path PATH  where to try KEY, such as /1.0.0/prod/status
  --stop       stop the gateway and remove its container

Ports, from the environment: KONG_PROXY_PORT (8000), KONG_ADMIN_PORT (8001),
KONG_STATUS_PORT (8100); the last two are published on 127.0.0.1 only.
START_TIMEOUT is how many seconds to wait for the gateway (120).
TEXT
}

die() {
  printf 'start.sh: %s\n' "$*" >&2
  exit 1
}

wrong_usage() {
  printf 'start.sh: %s\n' "$*" >&2
  usage >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --key)
      [ $# -ge 2 ] || wrong_usage '--key needs a value'
      key=$2
      shift
      ;;
    --path)
      [ $# -ge 2 ] || wrong_usage '--path needs a value'
      path=$2
      shift
      ;;
    --token) wrong_usage '--token: no route of this export takes tokens' ;;
    --stop) stop=yes ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) wrong_usage "unknown option $1" ;;
  esac
  shift
done
case $key in
  *[!A-Za-z0-9_-]*) wrong_usage '--key: a key has letters, digits, - and _ only' ;;
esac
case $path in
  *[!A-Za-z0-9/._~%-]*) wrong_usage '--path: write other characters than letters, digits and / . _ ~ - as %XX' ;;
  '' | /*) ;;
  *) wrong_usage '--path begins with /' ;;
esac

cd "$(dirname -- "$0")" || die 'cannot enter the folder of this script'
export COMPOSE_PROJECT_NAME="$project"

# Which compose there is: a plugin of docker, the old separate program, or
# podman's counterparts of both.
find_compose() {
  if command -v docker >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; then
    flavour='docker compose'
  elif command -v docker-compose >/dev/null 2>&1; then
    flavour='docker-compose'
  elif command -v podman >/dev/null 2>&1 && podman compose version >/dev/null 2>&1; then
    flavour='podman compose'
  elif command -v podman-compose >/dev/null 2>&1; then
    flavour='podman-compose'
  elif command -v docker >/dev/null 2>&1 || command -v podman >/dev/null 2>&1; then
    die 'there is a container runtime, but no compose: install the compose plugin of Docker, or podman-compose.'
  else
    die 'there is no container runtime: install Docker (with its compose plugin) or Podman, and try again.'
  fi
}

compose() {
  case $flavour in
    'docker compose') docker compose "$@" ;;
    'docker-compose') docker-compose "$@" ;;
    'podman compose') podman compose "$@" ;;
    'podman-compose') podman-compose "$@" ;;
  esac
}

check_runtime() {
  case $flavour in
    docker*)
      if command -v docker >/dev/null 2>&1 && ! docker info >/dev/null 2>&1; then
        die 'Docker is installed but does not answer: is it running, and may this user talk to it?'
      fi
      ;;
  esac
}

# The gateway's own words when it refused its configuration, which take a few
# lines; nothing otherwise.
refusal() {
  compose logs --no-color kong 2>/dev/null |
    grep -A 5 -E 'init_by_lua error|error parsing declarative|failed (parsing|loading) declarative|\[emerg\]|\[alert\]|Error: ' |
    head -n 6
}

wait_until_ready() {
  waited=0
  until curl -fs -o /dev/null --max-time 5 "$status/status/ready"; do
    line=$(refusal || :)
    if [ -n "$line" ]; then
      printf '%s\n' "$line" >&2
      die 'the gateway refused to start; above is what it says. Stop it with ./start.sh --stop.'
    fi
    if [ "$waited" -ge "$wait_seconds" ]; then
      compose logs --no-color kong 2>/dev/null | tail -n 20 >&2 || :
      die "the gateway is not ready after $wait_seconds seconds; above is the end of its log."
    fi
    sleep 1
    waited=$((waited + 1))
  done
}

print_loaded() {
  printf 'services:\n'
  curl -fsS --max-time 20 "$admin/services?size=1000" | tr '{,' '[\n*]' | sed -n 's/^"name":"\([^"]*\)".*/  \1/p' | sort
  consumers=$(curl -fsS --max-time 20 "$admin/consumers?size=1000")
  count=$(printf '%s\n' "$consumers" | grep -o '"custom_id":' | wc -l)
  case $consumers in
    *'"next":null'*) printf 'consumers: %d\n' "$count" ;;
    *) printf 'consumers: more than %d\n' "$count" ;;
  esac
  printf '%s\n' "$consumers" | grep -o '"username":"[^"\\]*"' | sed 's/^"username":"\(.*\)"$/  \1/' | sort | head -n 20
}

# The status of a GET; a key goes in by standard input, out of sight of ps.
answer() {
  if [ -n "$2" ]; then
    printf 'header = "X-API-Key: %s"\n' "$2" | curl -s -o /dev/null -w '%{http_code}' --max-time 30 -K - "$proxy$1" || :
  else
    curl -s -o /dev/null -w '%{http_code}' --max-time 30 "$proxy$1" || :
  fi
}

check() {
  got=$(answer "$2" "$3")
  if [ "$got" = "$4" ]; then
    printf 'ok    %s: %s\n' "$1" "$got"
  else
    printf 'WRONG %s: %s instead of %s\n' "$1" "$got" "$4"
    failures=$((failures + 1))
  fi
}

# The first address of the environment whose name stands in the key, between the
# underscores. A key for all of them says so there, and any address will do.
path_for_key() {
  of_key=${key#*_}
  of_key=${of_key%%_*}
  for prefix in $guarded $open; do
    of_path=${prefix%/}
    if [ "$of_key" = "${of_path##*/}" ]; then
      printf '%s' "$prefix"
      return
    fi
  done
  for prefix in $guarded $open; do
    printf '%s' "$prefix"
    return
  done
}

smoke_test() {
  for prefix in $guarded; do
    check "$prefix without a key" "$prefix" '' 401
    check "$prefix with an unknown key" "$prefix" "$unknown_key" 401
  done
  for prefix in $open; do
    printf 'open  %s asks for no key\n' "$prefix"
  done
  [ -n "$key" ] || return 0
  [ -n "$path" ] || path=$(path_for_key)
  check "$path with your key" "$path" "$key" 200
}

find_compose
if [ "$stop" = yes ]; then
  compose down
  exit 0
fi
command -v curl >/dev/null 2>&1 || die 'curl is missing: install it, and try again.'
check_runtime
compose up -d || die "the container could not be started by $flavour; above is why."
wait_until_ready
print_loaded
smoke_test
if [ "$failures" -gt 0 ]; then
  die "the gateway runs, but $failures of the checks went wrong. Stop it with ./start.sh --stop."
fi
printf 'The gateway serves on %s\n' "$proxy"
