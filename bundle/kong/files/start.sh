#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Starts the exported gateway, waits until it is ready, calls each upstream
# once, and checks that keys are required. Needs Docker or Podman with compose,
# and curl.
set -eu

# The contents of this export.
project='@COMPOSE_PROJECT@'
key_paths='@KEY_PATHS@' # where a credential is required
open_paths='@OPEN_PATHS@' # where no credential is required
token_paths='@TOKEN_PATHS@' # where tokens are accepted
key_places='@KEY_PLACES@' # where keys aren't sent in X-API-Key: PATH|HEADER|QUERY, with ~ for a blank
environments='@ENVIRONMENTS@' # in the order of their services in gateway.yaml
credentials='@CREDENTIALS@' # variables with secrets that the export doesn't have
realm='@REALM@' # where people sign in; empty if there is none
login_secrets='@LOGIN_SECRETS@' # variables with the realm's secrets
rules='@AUTHZ@' # not empty if there are files for OpenFGA
unknown_key='@UNKNOWN_KEY@' # well-formed, but not valid

key=${POSTERN_KEY:-}
token=${POSTERN_TOKEN:-}
path=
stop=no
with_login=no
authz=no
proxy="http://127.0.0.1:${KONG_PROXY_PORT:-8000}"
admin="http://127.0.0.1:${KONG_ADMIN_PORT:-8001}"
status="http://127.0.0.1:${KONG_STATUS_PORT:-8100}"
login="http://localhost:${LOGIN_PORT:-8180}"
openfga="http://127.0.0.1:${OPENFGA_PORT:-8280}"
wait_seconds=${START_TIMEOUT:-120}
failures=0

usage() {
  cat <<'TEXT'
usage: ./start.sh [--key KEY | --key-file FILE] [--token TOKEN | --token-file FILE]
                  [--path PATH] [--with-login] [--authz] [--stop]

  --key-file FILE    also check that the gateway accepts the key in the first line of FILE
  --key -            read the key from the first line of standard input
  --key KEY          the key itself, which other users of this machine can see in ps
  --token-file FILE  also check that the gateway accepts a token; --token is like --key
  --path PATH        the path to try the key and the token on, such as /1.0.0/prod/status
  --with-login       also start Keycloak with the exported realm, where users sign in
  --authz            also start OpenFGA with the exported rules and groups
  --stop             stop everything and remove the containers; Keycloak's users and
                     OpenFGA's data stay in volumes

You can also set the key in the environment variable POSTERN_KEY, and the token in
POSTERN_TOKEN.

Ports, from the environment: KONG_PROXY_PORT (8000), KONG_ADMIN_PORT (8001),
KONG_STATUS_PORT (8100), LOGIN_PORT (8180), OPENFGA_PORT (8280). All but the first are
published only on 127.0.0.1. START_TIMEOUT is the number of seconds to wait for the
gateway, and also for Keycloak and for OpenFGA (120).

Exit status: 0 if the gateway is ready and every check passes, 1 if the gateway doesn't
start, an upstream doesn't respond or a check fails, 2 for incorrect usage.
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

# Prints the first line of its input, trimmed: files from Windows
# end their lines in CR LF.
first_line() {
  sed -n '1{s/^[[:space:]]*//;s/[[:space:]]*$//;p;q;}'
}

# Prints the value of --key or --token: the argument, or standard input for "-".
argument() {
  [ -n "$2" ] || wrong_usage "$1 needs a value"
  value=$2
  if [ "$value" = - ]; then
    value=$(first_line) || wrong_usage "$1 -: cannot read standard input"
    [ -n "$value" ] || wrong_usage "$1 -: the first line of standard input is empty"
  fi
  printf '%s' "$value"
}

# Prints the first line of the file of --key-file or --token-file.
line_of() {
  [ -n "$2" ] || wrong_usage "$1 needs the name of a file"
  [ -r "$2" ] || wrong_usage "$1: cannot read $2"
  value=$(first_line <"$2") || wrong_usage "$1: cannot read $2"
  [ -n "$value" ] || wrong_usage "$1: the first line of $2 is empty"
  printf '%s' "$value"
}

while [ $# -gt 0 ]; do
  case $1 in
    --key)
      key=$(argument "$1" "${2:-}") || exit 2
      shift
      ;;
    --key-file)
      key=$(line_of "$1" "${2:-}") || exit 2
      shift
      ;;
    --token)
      token=$(argument "$1" "${2:-}") || exit 2
      shift
      ;;
    --token-file)
      token=$(line_of "$1" "${2:-}") || exit 2
      shift
      ;;
    --path)
      [ $# -ge 2 ] || wrong_usage '--path needs a value'
      path=$2
      shift
      ;;
    --with-login) with_login=yes ;;
    --authz) authz=yes ;;
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
  *[!A-Za-z0-9_-]*) wrong_usage 'a key can contain only letters, digits, - and _, without spaces or line breaks' ;;
esac
case $token in
  *[!A-Za-z0-9._~+/=-]*)
    wrong_usage 'a token can contain only letters, digits and . _ ~ + / = -, without spaces or line breaks'
    ;;
  ?*) [ -n "$token_paths" ] || wrong_usage 'no route in this export accepts tokens' ;;
esac
if [ "$with_login" = yes ] && [ -z "$realm" ]; then
  wrong_usage '--with-login: no route in this export accepts tokens, so there is no sign-in'
fi
if [ "$authz" = yes ] && [ -z "$rules" ]; then
  wrong_usage '--authz: no version in this export has rules'
fi
case $path in
  *[!A-Za-z0-9/._~%-]*) wrong_usage '--path: write characters other than letters, digits and / . _ ~ - as %XX' ;;
  '' | /*) ;;
  *) wrong_usage '--path must begin with /' ;;
esac

cd "$(dirname -- "$0")" || die "cannot change to this script's folder"
export COMPOSE_PROJECT_NAME="$project"

# Prints the value that compose gives a variable: from the environment, or else from .env.
# Only whether it is empty matters.
setting() {
  eval "value=\${$1:-}"
  if [ -z "$value" ] && [ -r .env ]; then
    value=$(sed -n "s/^[[:space:]]*$1[[:space:]]*=[[:space:]]*//p" .env | tail -n 1 | tr -d '\r')
    case $value in
      "''" | '""' | '#'*) value= ;;
    esac
  fi
  printf '%s' "$value"
}

# Without a credential, the upstream would refuse every call, or treat it as coming directly from
# the caller, and the gateway would not ask the introspection endpoint.
check_credentials() {
  empty=
  for name in $credentials; do
    [ -n "$(setting "$name")" ] || empty="$empty $name"
  done
  [ -z "$empty" ] ||
    die "no value for$empty: copy .env.example to .env and fill it in. The file explains each value."
}

# Keycloak would use the placeholder of an empty variable as the secret.
check_login_secrets() {
  empty=
  for name in $login_secrets; do
    [ -n "$(setting "$name")" ] || empty="$empty $name"
  done
  [ -z "$empty" ] ||
    die "no value for$empty: copy .env.example to .env and fill it in. Keycloak needs it for sign-in."
}

# The gateway trusts the realm at its public address, and fetches its keys inside compose's
# network.
trust_login() {
  LOGIN_ISSUER=$(setting LOGIN_ISSUER)
  LOGIN_ISSUER=${LOGIN_ISSUER:-$login/realms/$realm}
  LOGIN_URL=${LOGIN_ISSUER%/realms/*}
  LOGIN_KEYS="http://login:8080/realms/$realm/protocol/openid-connect/certs"
  export LOGIN_ISSUER LOGIN_URL LOGIN_KEYS
}

wait_for_login() {
  waited=0
  until curl -fs -o /dev/null --max-time 5 "$login/realms/$realm/.well-known/openid-configuration"; do
    if [ "$waited" -ge "$wait_seconds" ]; then
      compose logs --no-color login 2>/dev/null | tail -n 20 >&2 || :
      die "Keycloak is still not serving the realm $realm after $wait_seconds seconds. The end of its log is above."
    fi
    sleep 1
    waited=$((waited + 1))
  done
  printf 'ok    users sign in at %s\n' "$LOGIN_ISSUER"
}

# The container openfga-load loads the store.
wait_for_authz() {
  waited=0
  until found=$(OPENFGA_TOKEN='' sh ../authz/load.sh --check --wait 0 "$openfga" 2>&1); do
    if [ "$waited" -ge "$wait_seconds" ]; then
      compose logs --no-color openfga-migrate openfga openfga-load 2>/dev/null | tail -n 20 >&2 || :
      die "OpenFGA still does not have the rules after $wait_seconds seconds ($found). The end of its log is above."
    fi
    sleep 1
    waited=$((waited + 1))
  done
  printf '%s, at %s\n' "$found" "$openfga"
}

# Finds compose: the plugin of docker, the old separate program, or podman's
# counterparts of both.
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
    die 'found a container runtime, but not compose: install the compose plugin for Docker, or podman-compose.'
  else
    die 'found no container runtime: install Docker (with its compose plugin) or Podman, and try again.'
  fi
}

compose() {
  [ "$with_login" = no ] || set -- --profile login "$@"
  [ "$authz" = no ] || set -- --profile authz "$@"
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
        die 'Docker is installed but does not respond. Check that it is running and that this user has access to it.'
      fi
      ;;
  esac
}

# Prints a few lines of the gateway's own message if it refused its configuration;
# otherwise nothing.
refusal() {
  compose logs --no-color kong 2>/dev/null |
    grep -A 5 -E -e 'init_by_lua error|error parsing declarative|failed (parsing|loading) declarative' \
      -e '\[emerg\]|\[alert\]|Error: ' |
    head -n 6
}

wait_until_ready() {
  waited=0
  until curl -fs -o /dev/null --max-time 5 "$status/status/ready"; do
    line=$(refusal || :)
    if [ -n "$line" ]; then
      printf '%s\n' "$line" >&2
      die 'the gateway refused to start. Its message is above. Stop it with ./start.sh --stop.'
    fi
    if [ "$waited" -ge "$wait_seconds" ]; then
      compose logs --no-color kong 2>/dev/null | tail -n 20 >&2 || :
      die "the gateway is not ready after $wait_seconds seconds. The end of its log is above."
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

# Prints the body of the response to a GET with a header, or with a query that begins with a question mark, and its
# status on the next line. curl reads these from standard input, so that ps doesn't show them.
answer() {
  case $2 in
    '') curl -s --path-as-is -w '\n%{http_code}' --max-time 75 "$proxy$1" || : ;;
    \?*)
      printf 'url = "%s"\n' "$proxy$1$2" |
        curl -s --path-as-is -w '\n%{http_code}' --max-time 75 -K - || :
      ;;
    *)
      printf 'header = "%s"\n' "$2" |
        curl -s --path-as-is -w '\n%{http_code}' --max-time 75 -K - "$proxy$1" || :
      ;;
  esac
}

# Prints how a call to the path carries the key: as a header, or as a query that begins with a question mark. Prints
# nothing if only WebSockets can carry it.
credential() {
  how='X-API-Key:~{key}|'
  for place in $key_places; do
    case $1 in
      "${place%%\|*}"*) how=${place#*\|} ;;
    esac
  done
  carried=${how%%\|*}
  [ -n "$carried" ] || carried=${how#*\|}
  case $how in
    *'{key}') carried="?$carried" ;;
    '|') return ;;
  esac
  carried=$(printf '%s' "$carried" | tr '~' ' ')
  printf '%s' "${carried%%'{key}'*}$2${carried#*'{key}'}"
}

# Prints the message of a JSON response.
message_of() {
  printf '%s' "$1" | sed -n 's/.*"message":"\([^"\\]*\)".*/\1/p' | head -n 1
}

# Checks that the message is one of the plugin's, which may end in the name of a scope. An upstream may use the same
# codes.
is_own() {
  [ -n "$1" ] || return 1
  grep -qF -e "\"$1\"" -e "\"${1%%: *}.\"" plugins/kong/plugins/postern-auth/answers.lua && return
  [ -n "$key_places" ] && grep -qF -e "\"$1\"" gateway.yaml # which has the messages that name the place of keys
}

# Prints where the response comes from: "nothing", "refused" by the gateway, "ruled out"
# if a rule of the route refuses the call, "no upstream" if the gateway answers in place
# of the upstream, or "upstream". Kong's own errors have its messages and a request_id.
source_of() {
  message=$(message_of "$1")
  case $1:$message in
    *"
000:"*) printf 'nothing' ;;
    *'"request_id":"'*:'no Route matched with those values') printf 'refused' ;;
    *'"request_id":"'*:'An invalid response was received from the upstream server' | \
      *'"request_id":"'*:'The upstream server is '* | *'"request_id":"'*:'An unexpected error occurred' | \
      *'"request_id":"'*:'name resolution failed' | *'"request_id":"'*:'failure to get a peer from '*)
      printf 'no upstream'
      ;;
    *) is_own "$message" && plugin_source "$1" || printf 'upstream' ;;
  esac
}

# The same for a response with one of the plugin's messages.
plugin_source() {
  case $1 in
    *'"code":"insufficient_scope"'* | *'"code":"not_in_group"'* | *'"code":"not_owner"'* | *'"code":"no_rule"'* | \
      *'"code":"ownership_unavailable"'*) printf 'ruled out' ;;
    *'"code":"upstream_unreachable"'* | *'"code":"upstream_credentials_missing"'*) printf 'no upstream' ;;
    *) printf 'refused' ;;
  esac
}

fail() {
  printf 'FAIL  %s\n' "$*"
  failures=$((failures + 1))
}

# Prints why the gateway could not check the token of a call that got this response.
why_unchecked() {
  case $1 in
    *'"code":"issuer_unavailable"'*) printf ', because the gateway cannot fetch the keys of its issuer' ;;
    *'"code":"provider_unavailable"'*) printf ', because the introspection endpoint does not respond to the gateway' ;;
    *'"code":"provider_answer_invalid"'*)
      printf ', because the response from the introspection endpoint is unusable: the client secret may be wrong'
      ;;
  esac
}

# Prints the code of a response in parentheses.
code_of() {
  printf '%s' "$1" | sed -n 's/.*"code":"\([a-z_]*\)".*/ (\1)/p'
}

check_refused() {
  got=$(answer "$2" "$3")
  code=${got##*"
"}
  unchecked=$(why_unchecked "$got")
  if [ -n "$unchecked" ]; then
    fail "$1: $code$unchecked"
  else
    case $(source_of "$got") in
      refused | 'ruled out') printf 'ok    %s: %s\n' "$1" "$code" ;;
      *) fail "$1: $code instead of a refusal" ;;
    esac
  fi
}

# Checks that the gateway accepts this key or token and refuses an unknown one: if it
# accepted any, a response would prove nothing. The arguments are the word "key" or
# "token", the path, the header with an unknown one, and the header with this one.
check_accepted() {
  if [ "$(source_of "$(answer "$2" "$3")")" != refused ]; then
    fail "$2 accepts any $1, so its response proves nothing. Choose another path with --path"
    return
  fi
  got=$(answer "$2" "$4")
  code=${got##*"
"}
  case $(source_of "$got") in
    upstream) printf 'ok    %s with your %s: let through, and the upstream returned %s\n' "$2" "$1" "$code" ;;
    'no upstream') fail "$2 with your $1: let through, but the upstream does not respond ($code)" ;;
    'ruled out')
      fail "$2 with your $1: $code, refused by the rules of this route$(code_of "$got"). The $1 is valid: choose a" \
        "path that it may call, and pass it with --path"
      ;;
    *)
      fail "$2 with your $1: $code, refused$(why_unchecked "$got")"
      ;;
  esac
}

# Prints the running configuration with one more route for each service, at a random
# path that only this script knows and that requires no key. It fails if gateway.yaml
# no longer has its exported layout.
with_check_routes() {
  awk -v secret="$1" '
    function id(n) {
      return sprintf("%s-%s-4%s-8%s-%012d", substr(secret, 1, 8), substr(secret, 9, 4), substr(secret, 13, 3),
        substr(secret, 16, 3), n)
    }
    function route(n) {
      return "{\"id\":\"" id(n) "\",\"name\":\"check-" secret "-" n "\",\"protocols\":[\"http\",\"https\"]," \
        "\"paths\":[\"/" secret "/" n "/\"],\"strip_path\":true}"
    }
    function policy(n) {
      return "\"" id(n) "\": {\"environment\":\"start\",\"mode\":\"passthrough\",\"methods\":[],\"keyless\":\"reject\"}"
    }
    /^  "consumers": / { listed = 1 }
    !listed && /^    \{"id":"/ {
      n++
      routes += sub(/"routes":\[/, "\"routes\":[" route(n) ",")
    }
    { print }
    /^      "routes": \{$/ {
      policies = 1
      for (i = 1; i <= n; i++)
        print "        " policy(i) ","
    }
    END { exit !(n > 0 && routes == n && policies) }
  ' gateway.yaml
}

# Replaces the running configuration with standard input, and prints the status.
load() {
  curl -s -o /dev/null -w '%{http_code}' --max-time 120 -F 'config=<-' "$admin/config" || :
}

restore() {
  trap - EXIT INT HUP TERM
  [ "$(load <gateway.yaml)" = 201 ] ||
    die 'cannot restore the configuration after calling the upstreams. Run ./start.sh --stop, then ./start.sh.'
}

# Calls each upstream once through the gateway. During this time, the gateway has a
# route to each that requires no key, at a path of 128 random bits; callers don't
# notice. If the script is killed, the routes stay until the gateway starts again,
# at a path that isn't recorded anywhere.
call_upstreams() {
  secret=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  if ! with_check_routes "$secret" >/dev/null; then
    printf 'note  did not call the upstreams: gateway.yaml no longer has its exported layout\n'
    return 0
  fi
  trap restore EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
  loaded=$(with_check_routes "$secret" | load)
  case $loaded in
    201)
      number=0
      for prefix in $environments; do
        number=$((number + 1))
        call_upstream "$prefix" "/$secret/$number/"
      done
      restore
      settle "/$secret/1/" refused
      [ "$(source_of "$got")" = refused ] ||
        die 'the routes for calling the upstreams are still there. Run ./start.sh --stop.'
      ;;
    4??)
      trap - EXIT INT HUP TERM
      printf 'note  did not call the upstreams: the gateway returned %s when routes to them were added %s\n' "$loaded" \
        '(413: gateway.yaml is larger than 10 MB)'
      ;;
    *) die "the gateway returned $loaded when routes to the upstreams were added." ;;
  esac
}

# Calls a path until the gateway refuses it, or no longer refuses it: its workers load
# a new configuration one after the other.
settle() {
  tries=0
  got=$(answer "$1" '')
  while [ "$tries" -lt 30 ]; do
    case $2:$(source_of "$got") in
      refused:refused) return ;;
      refused:*) ;;
      asked:refused) is_unrouted "$got" || return 0 ;;
      *) return ;;
    esac
    tries=$((tries + 1))
    sleep 1
    got=$(answer "$1" '')
  done
}

# Reports whether the gateway has no route for the path that got this response.
is_unrouted() {
  [ "$(message_of "$1")" = 'no Route matched with those values' ]
}

# The route requires no credential, but an upstream that is also such a gateway may.
call_upstream() {
  settle "$2" asked
  code=${got##*"
"}
  source=$(source_of "$got")
  case $source:$got in
    *'"code":"rate_limited"'* | *'"code":"quota_exceeded"'* | *'"code":"limits_unavailable"'*) ;;
    refused:* | 'ruled out':*) is_unrouted "$got" || source=upstream ;;
  esac
  case $source in
    upstream) printf 'ok    the upstream of %s responds: %s\n' "$1" "$code" ;;
    'no upstream') fail "the upstream of $1 does not respond: the gateway returned $code" ;;
    *) fail "the upstream of $1 could not be called: $code" ;;
  esac
}

# Prints the first path of the environment whose name is in the key, between the
# underscores. A key for all environments has "all" there, and any path will do.
path_for_key() {
  of_key=${key#*_}
  of_key=${of_key%%_*}
  for prefix in $key_paths $open_paths; do
    of_path=${prefix%/}
    if [ "$of_key" = "${of_path##*/}" ]; then
      printf '%s' "$prefix"
      return
    fi
  done
  for prefix in $key_paths $open_paths; do
    printf '%s' "$prefix"
    return
  done
}

smoke_test() {
  for prefix in $key_paths; do
    check_refused "$prefix without a key" "$prefix" ''
    unknown=$(credential "$prefix" "$unknown_key")
    [ -z "$unknown" ] || check_refused "$prefix with an unknown key" "$prefix" "$unknown"
  done
  for prefix in $open_paths; do
    printf 'open  %s requires no key\n' "$prefix"
  done
  for prefix in $token_paths; do
    check_refused "$prefix with an invalid token" "$prefix" "Authorization: Bearer none"
  done
  if [ -n "$key" ]; then
    of_key=${path:-$(path_for_key)}
    unknown=$(credential "$of_key" "$unknown_key")
    if [ -n "$unknown" ]; then
      check_accepted key "$of_key" "$unknown" "$(credential "$of_key" "$key")"
    else
      printf 'note  did not check the key: it can only be sent in a WebSocket handshake on %s\n' "$of_key"
    fi
  fi
  if [ -n "$token" ]; then
    check_accepted token "${path:-${token_paths%% *}}" "Authorization: Bearer none" "Authorization: Bearer $token"
  fi
}

find_compose
if [ "$stop" = yes ]; then
  # Also stop containers that other runs started.
  [ -z "$realm" ] || with_login=yes
  [ -z "$rules" ] || authz=yes
  compose down
  exit 0
fi
command -v curl >/dev/null 2>&1 || die 'curl is missing: install it, and try again.'
check_runtime
check_credentials
if [ "$with_login" = yes ]; then
  check_login_secrets
  trust_login
fi
if [ "$authz" = yes ]; then
  # The gateway connects to it inside compose's network.
  OPENFGA_URL=http://openfga:8080
  OPENFGA_STORE=
  OPENFGA_TOKEN=
  export OPENFGA_URL OPENFGA_STORE OPENFGA_TOKEN
fi
compose up -d || die "$flavour could not start the containers. The reason is above."
wait_until_ready
if [ "$with_login" = yes ]; then
  wait_for_login
fi
if [ "$authz" = yes ]; then
  wait_for_authz
fi
print_loaded
call_upstreams
smoke_test
if [ "$failures" -gt 0 ]; then
  die "the gateway is running, but $failures of the checks failed. Stop it with ./start.sh --stop."
fi
printf 'The gateway is ready at %s\n' "$proxy"
