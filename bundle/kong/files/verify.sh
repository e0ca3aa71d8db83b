#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Sends the recorded requests in probes.jsonl to a gateway and prints the responses
# that differ. Needs only curl.
set -eu

base="http://127.0.0.1:${KONG_PROXY_PORT:-8000}"
key=${POSTERN_KEY:-}
counted=no

usage() {
  cat <<'TEXT'
usage: ./verify.sh [--key KEY | --key-file FILE] [--counted] [BASE_URL]

BASE_URL is the URL of the gateway; the default is http://127.0.0.1 with the port in
KONG_PROXY_PORT (8000). This export contains no keys, so probes that need a key are
left out unless you provide one:

  --key-file FILE  read the key from the first line of FILE
  --key -          read the key from the first line of standard input
  --key KEY        the key itself, which other users of this machine can see in ps

You can also set the key in the environment variable POSTERN_KEY.

  --counted        also send the probes that count toward the limits of the
                   fallback owner, one for each of its paths

Exit status: 0 if every response is as recorded, 1 if a response differs or the
gateway doesn't respond, 2 for incorrect usage.
TEXT
}

wrong_usage() {
  printf 'verify.sh: %s\n' "$*" >&2
  usage >&2
  exit 2
}

# Prints the first line of its input, trimmed: files from Windows
# end their lines in CR LF.
first_line() {
  sed -n '1{s/^[[:space:]]*//;s/[[:space:]]*$//;p;q;}'
}

while [ $# -gt 0 ]; do
  case $1 in
    --key)
      [ -n "${2:-}" ] || wrong_usage '--key needs a value'
      key=$2
      if [ "$key" = - ]; then
        key=$(first_line) || wrong_usage '--key -: cannot read standard input'
        [ -n "$key" ] || wrong_usage '--key -: the first line of standard input is empty'
      fi
      shift
      ;;
    --key-file)
      [ $# -ge 2 ] || wrong_usage '--key-file needs the name of a file'
      [ -r "$2" ] || wrong_usage "--key-file: cannot read $2"
      key=$(first_line <"$2") || wrong_usage "--key-file: cannot read $2"
      [ -n "$key" ] || wrong_usage "--key-file: the first line of $2 is empty"
      shift
      ;;
    --counted) counted=yes ;;
    -h | --help)
      usage
      exit 0
      ;;
    -*) wrong_usage "unknown option $1" ;;
    *) base=${1%/} ;;
  esac
  shift
done
case $key in
  *[!A-Za-z0-9_-]*) wrong_usage 'a key can contain only letters, digits, - and _, without spaces or line breaks' ;;
esac
command -v curl >/dev/null 2>&1 || {
  printf 'verify.sh: curl is missing: install it, and try again.\n' >&2
  exit 1
}
# Prints one message, instead of a difference for every probe.
reason=$(curl -sS -o /dev/null --max-time 30 "$base/" 2>&1) || {
  printf 'verify.sh: nothing responds at %s (%s)\n' "$base" "$reason" >&2
  printf 'Start the gateway with ../gateway/start.sh, or pass its URL: ./verify.sh BASE_URL\n' >&2
  exit 1
}

# Prints the value of a string field of the current line. Values in probes don't have
# quotes or backslashes.
text_of() {
  rest=${line#*"\"$1\":\""}
  printf '%s' "${rest%%\"*}"
}

# Reports whether the key is valid for the environment that a path ends with: its name
# is in the key, between the underscores. A key for all environments has "all" there,
# unless an environment has that name.
is_key_valid() {
  [ -n "$key" ] || return 1
  of_key=${key#*_}
  of_key=${of_key%%_*}
  of_path=${1%/}
  [ "$of_key" = "${of_path##*/}" ] || { [ "$of_key" = all ] && [ "$all_is_a_name" = no ]; }
}

# Prints a text with the key in place of {key}.
with_key() {
  case $1 in
    *'{key}'*) printf '%s' "${1%%'{key}'*}$key${1#*'{key}'}" ;;
    *) printf '%s' "$1" ;;
  esac
}

# Prints a curl configuration with the probe's headers, one per line, and its URL.
headers() {
  list=${line#*'"headers":['}
  list=${list%%']'*}
  while [ -n "$list" ]; do
    item=${list#\"}
    item=${item%%\"*}
    case $item in
      *'{key}'*) item=$(with_key "$item") ;;
    esac
    printf 'header = "%s"\n' "$item"
    list=${list#*\"}
    list=${list#*\"}
    list=${list#,}
  done
  case $needs:$line in
    *key:*'{key}'*) ;; # the probe says where the key is sent
    *key:*) printf 'header = "X-API-Key: %s"\n' "$key" ;;
  esac
  printf 'url = "%s"\n' "$base$(with_key "$path")"
}

# Reports whether the body may be the gateway's own. An upstream may use the same codes;
# the messages of the exported gateway are in its plugin.
is_own() {
  case $got_code in
    upstream_timeout | loop_detected) return 0 ;; # only the hosted gateway has these
  esac
  [ -r "$answers" ] || return 0
  message=${body#*'"message":"'}
  message=${message%%\"*}
  # It may end in the name of a scope, and a message that names the place of keys is in gateway.yaml.
  grep -qF -e "\"$message\"" -e "\"${message%%: *}.\"" "$answers" ||
    grep -qsF -e "\"$message\"" "$config"
}

equal=0
different=0
left_out=0
too_far=0
spared=0
# Some responses depend on the caller's address.
case $base in
  http://127.0.0.1 | http://127.0.0.1[:/]* | http://localhost | http://localhost[:/]* | http://\[::1\]*) nearby=yes ;;
  *) nearby=no ;;
esac
probes=$(dirname -- "$0")/probes.jsonl
config=$(dirname -- "$0")/../gateway/gateway.yaml
answers=$(dirname -- "$0")/../gateway/plugins/kong/plugins/postern-auth/answers.lua
case $(cat -- "$probes") in
  *'/all/"'*) all_is_a_name=yes ;;
  *) all_is_a_name=no ;;
esac
while IFS= read -r line; do
  [ -n "$line" ] || continue
  id=$(text_of id)
  needs=$(text_of needs)
  path=$(text_of path)
  case $needs in
    nearby*)
      if [ "$nearby" = no ]; then
        too_far=$((too_far + 1))
        continue
      fi
      ;;
  esac
  case $needs:$counted in
    *counted:no)
      spared=$((spared + 1))
      continue
      ;;
  esac
  case $needs in
    *key)
      if ! is_key_valid "${path%%\?*}"; then
        left_out=$((left_out + 1))
        continue
      fi
      ;;
  esac
  code=$(text_of code)
  status=${line#*'"status":'}
  status=${status%%,*}
  answer=$(headers | curl -s --path-as-is --max-time 30 -K - -w '\n%{http_code}' || :)
  got=${answer##*"
"}
  body=${answer%"
"*}
  got_code=
  case $body in
    *'"code":"'*)
      got_code=${body#*'"code":"'}
      got_code=${got_code%%\"*}
      ;;
  esac
  wrong=no
  if [ "$status" = 0 ]; then
    # Any response from the upstream will do, but not one that the gateway sends in
    # its place: a refusal, or a 5xx because the upstream doesn't respond. Kong's own
    # errors have its messages and a request_id.
    own=$got_code
    is_own || own=
    case "$got $own $body" in
      000* | *' bad_path '* | *' credentials_required '* | *' invalid_key '* | *' key_frozen '* | *' user_frozen '* | \
        *' wrong_tenant '* | *' ip_denied '* | *' rate_limited '* | *' quota_exceeded '* | *' limits_unavailable '* | \
        *'no Route matched'* | *' upstream_unreachable '* | *' upstream_timeout '* | *' loop_detected '* | \
        5??' '*'"message":"An invalid response was received from the upstream server"'*'"request_id":"'* | \
        5??' '*'"message":"The upstream server is '*'"request_id":"'* | \
        5??' '*'"message":"An unexpected error occurred"'*'"request_id":"'* | \
        5??' '*'"message":"name resolution failed"'*'"request_id":"'* | \
        5??' '*'"message":"failure to get a peer from '*'"request_id":"'*) wrong=yes ;;
    esac
    case $got in
      5??) got_code=${got_code:-"of the gateway: the upstream does not respond"} ;;
    esac
    status=upstream
  else
    [ "$got" = "$status" ] || wrong=yes
    [ -z "$code" ] || [ "$got_code" = "$code" ] || wrong=yes
  fi
  if [ "$wrong" = yes ]; then
    different=$((different + 1))
    printf '%s\n- %s %s\n+ %s %s\n' "$id" "$status" "$code" "$got" "$got_code"
  else
    equal=$((equal + 1))
  fi
done <"$probes"
printf '%d equal, %d different, %d left out because they need a key\n' "$equal" "$different" "$left_out"
[ "$too_far" -eq 0 ] || printf "%d left out because they must be sent from the gateway's machine\n" "$too_far"
[ "$spared" -eq 0 ] ||
  printf '%d left out because they count toward the limits of the fallback owner (--counted sends them)\n' "$spared"
[ "$different" -eq 0 ]
