#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Creates an API key for the exported gateway: adds its SHA-256 to gateway.yaml,
# and to the gateway if it is running. Only the latter needs curl.
set -eu

# The contents of this export.
project='@PROJECT_ID@'
namespace='@NAMESPACE@' # of consumer IDs (UUIDs of version 5), in octal
prefix='@KEY_PREFIX@'
environments='@ENVIRONMENTS@'

owner=
tenant=
environment=
key_type=
expires=
admin="http://127.0.0.1:${KONG_ADMIN_PORT:-8001}"

usage() {
  cat <<'TEXT'
usage: ./add-key.sh [--tenant NAME] [--environment NAME] [--key-type NAME]
                    [--expires 90d] OWNER

Prints the new key on standard output, once. Adds only its SHA-256 to gateway.yaml.

  OWNER               the owner of the key, such as billing-service; upstreams get it
                      as X-Consumer-Username
  --tenant NAME       the tenant of the key (default: the only one, or "default")
  --environment NAME  the only environment that the key is valid for (default: all)
  --key-type NAME     the key type, which sets the key's scopes (default: full)
  --expires 90d       days (d) or hours (h) until the key expires (default: never)

A running gateway accepts the key within seconds. KONG_ADMIN_PORT is the port of its
admin API (8001).

Exit status: 0 if the key was added, 1 if it wasn't, 2 for incorrect usage.
TEXT
}

die() {
  printf 'add-key.sh: %s\n' "$*" >&2
  exit 1
}

wrong_usage() {
  printf 'add-key.sh: %s\n' "$*" >&2
  usage >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
    --tenant | --environment | --key-type | --expires)
      [ -n "${2:-}" ] || wrong_usage "$1 needs a value"
      case $1 in
        --tenant) tenant=$2 ;;
        --environment) environment=$2 ;;
        --key-type) key_type=$2 ;;
        --expires) expires=$2 ;;
      esac
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    -*) wrong_usage "unknown option $1" ;;
    *)
      [ -z "$owner" ] || wrong_usage 'pass only one owner; put quotes around a name with spaces'
      owner=$1
      ;;
  esac
  shift
done
[ -n "$owner" ] || wrong_usage 'pass the owner of the key'
LC_ALL=C
export LC_ALL
case $owner in
  *[!\ -~]* | ' '* | *' ')
    wrong_usage 'an owner can contain only printable ASCII characters, and must not begin or end with a space'
    ;;
esac
[ "${#owner}" -le 128 ] || wrong_usage 'an owner can have at most 128 characters'
for name in "$tenant" "$environment" "$key_type"; do
  case $name in
    *[!A-Za-z0-9._-]*) wrong_usage "$name is not a valid name" ;;
  esac
done
case $expires in
  '' | [1-9]d | [1-9]h | [1-9][0-9]d | [1-9][0-9]h | [1-9][0-9][0-9]d | [1-9][0-9][0-9]h | [1-9][0-9][0-9][0-9]d) ;;
  *) wrong_usage '--expires needs a number of days or hours, such as 90d or 12h' ;;
esac

cd "$(dirname -- "$0")" || die "cannot change to this script's folder"
{ [ -r gateway.yaml ] && [ -w gateway.yaml ]; } || die 'cannot read or write gateway.yaml'
[ "$(grep -c '^      "keys": {' gateway.yaml)" = 1 ] ||
  die 'gateway.yaml no longer has its exported layout. ../SCHEMA.md describes the lines under keys.'

# Prints the id of the entry with a name in an object of the plugin's configuration. Each
# entry is on its own line.
id_of() {
  plain=$(printf '%s' "$2" | sed 's/\./\\./g')
  sed -n "/^      \"$1\": {/,/^      }/s/^        \"\\([^\"]*\\)\": {\"name\":\"$plain\"[,}].*/\\1/p" gateway.yaml |
    head -n 1
}

names_of() {
  sed -n "/^      \"$1\": {/,/^      }/s/^        \"[^\"]*\": {\"name\":\"\\([^\"]*\\)\"[,}].*/\\1/p" gateway.yaml |
    tr '\n' ' ' | sed 's/ $//'
}

pick_tenant() {
  if [ -z "$tenant" ]; then
    tenant=$(names_of tenants)
    case $tenant in
      *' '*) tenant=default ;;
    esac
  fi
  tenant_id=$(id_of tenants "$tenant")
  [ -n "$tenant_id" ] || die "there is no tenant $tenant. Choose from: $(names_of tenants)"
}

pick_key_type() {
  type_id=$(id_of key_types "${key_type:-full}")
  [ -n "$type_id" ] || die "there is no key type ${key_type:-full}. Choose from: $(names_of key_types)"
}

check_environment() {
  [ -n "$environment" ] || return 0
  for path in $environments; do
    path=${path%/}
    [ "${path##*/}" != "$environment" ] || return 0
  done
  die "there is no environment $environment"
}

# Prints the SHA-1 or SHA-256 of standard input in hexadecimal. The arguments are the number
# in its name and the number of its digits.
sha() {
  if command -v "sha$1sum" >/dev/null 2>&1; then
    "sha$1sum" | cut -c 1-"$2"
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a "$1" | cut -c 1-"$2"
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst "-sha$1" -r | cut -c 1-"$2"
  else
    die 'sha256sum, shasum and openssl are missing: install one of them'
  fi
}

# Prints the consumer ID of the owner, the same that Postern derives (RFC 9562, 5.5).
consumer_id() {
  # shellcheck disable=SC2059 # the namespace is octal escapes
  { printf "$namespace" && printf '%s\n%s' "$project" "$owner"; } | sha 1 40 | awk '{
    variant = substr("89ab89ab89ab89ab", index("0123456789abcdef", substr($0, 17, 1)), 1)
    print substr($0, 1, 8) "-" substr($0, 9, 4) "-5" substr($0, 14, 3) "-" variant substr($0, 18, 3) "-" \
      substr($0, 21, 12)
  }'
}

# Prints this many random characters of the alphabet 0-9A-Za-z.
random_text() {
  od -An -v -N512 -tu1 /dev/urandom | awk -v most="$1" '
    { for (i = 1; i <= NF; i++) if ($i < 248 && length(out) < most) out = out substr(digits, $i % 62 + 1, 1) }
    END { print out }
  ' digits=0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz -
}

# Prints the checksum at the end of a key: the CRC-32 of standard input in six digits.
checksum() {
  awk '
    function xor(a, b, bit, out) {
      out = 0
      for (bit = 1; a > 0 || b > 0; bit *= 2) {
        if (a % 2 != b % 2) out += bit
        a = int(a / 2); b = int(b / 2)
      }
      return out
    }
    BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i }
    {
      crc = 4294967295
      for (i = 1; i <= length($0); i++) {
        crc = xor(crc, code[substr($0, i, 1)])
        for (k = 0; k < 8; k++) {
          odd = crc % 2
          crc = int(crc / 2)
          if (odd) crc = xor(crc, 3988292384)
        }
      }
      crc = 4294967295 - crc
      for (i = 0; i < 6; i++) {
        out = substr(digits, crc % 62 + 1, 1) out
        crc = int(crc / 62)
      }
      print out
    }
  ' digits=0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz -
}

# Prints gateway.yaml with the line added below keys.
with_line() {
  line=$1 awk '
    { print }
    /^      "keys": \{/ {
      if ($0 ~ /\}/ || (getline following) <= 0) exit 1
      print "        " ENVIRON["line"] (following ~ /^ *\}/ ? "" : ",")
      print following
      added = 1
    }
    END { exit !added }
  ' gateway.yaml
}

# Replaces the configuration of the running gateway, and prints the message and status.
load() {
  curl -s -w '\n%{http_code}' --max-time 120 -F 'config=<-' "$admin/config" <gateway.yaml || :
}

pick_tenant
pick_key_type
check_environment
until=
case $expires in
  *d) until=$(($(date +%s) + ${expires%d} * 86400)) ;;
  *h) until=$(($(date +%s) + ${expires%h} * 3600)) ;;
esac

key="${prefix}_${environment:-all}_$(random_text 32)"
key="$key$(printf '%s\n' "$key" | checksum)"
sum=$(printf '%s' "$key" | sha 256 64)
consumer=$(consumer_id)
case $key:$sum:$consumer in
  "${prefix}_${environment:-all}_"??????????????????????????????????????:*[0-9a-f]:*-*-5*-*-*) ;;
  *) die 'the key could not be created: od, awk or a checksum program does not work as expected' ;;
esac
entry="key_$(random_text 20) tenant=$tenant_id type=$type_id"
[ -z "$environment" ] || entry="$entry env=$environment"
[ -z "$until" ] || entry="$entry until=$until"
entry="$entry consumer=$consumer owner=$(printf '%s' "$owner" | sed 's/[\\"]/\\&/g')"

# The file is written in place, because the container has mounted it. If the script is
# killed during this time, gateway.yaml.old is the previous file.
changed=gateway.yaml.new
trap 'rm -f "$changed"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
with_line "\"$sum\": \"$entry\"" >"$changed" || die 'gateway.yaml no longer has its exported layout'
cat gateway.yaml >gateway.yaml.old
cat "$changed" >gateway.yaml

answer=000
if command -v curl >/dev/null 2>&1; then
  answer=$(load)
fi
code=${answer##*"
"}
case $code in
  201) printf 'The gateway will accept the key of %s within seconds.\n' "$owner" >&2 ;;
  000)
    printf 'The gateway is not running. It will accept the key of %s once you start it with ./start.sh.\n' "$owner" >&2
    ;;
  413)
    printf 'The key of %s is in gateway.yaml, which is larger than 10 MB. Run ./start.sh --stop, then ./start.sh.\n' \
      "$owner" >&2
    ;;
  *)
    cat gateway.yaml.old >gateway.yaml
    rm -f gateway.yaml.old
    printf '%s\n' "$answer" >&2
    die "the gateway returned $code, so the key was not added. Its message is above."
    ;;
esac
rm -f gateway.yaml.old
printf 'Copy the key now. You will not see it again:\n' >&2
printf '%s\n' "$key"
