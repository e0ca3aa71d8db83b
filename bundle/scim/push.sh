#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Creates the users and groups of users.json and groups.json at a SCIM receiver
# (RFC 7644), and adds the members to the groups. It doesn't change existing users
# and groups, so you can run it again: after an interruption it continues, and a
# second run changes nothing. Needs curl and a POSIX shell.
set -eu
LC_ALL=C
export LC_ALL
umask 077

usage() {
  cat <<'TEXT'
usage: SCIM_TOKEN=... ./push.sh BASE_URL

BASE_URL is the receiver's SCIM endpoint, such as https://id.example.com/scim/v2.
SCIM_TOKEN is a bearer token that can create users and groups there.

A receiver assigns its own ids to users and groups. It keeps the ids of this
export as externalId, which this script uses to find them again.

Exit status: 0 if the receiver has everything, 1 if something is missing, 2 for
incorrect usage.
TEXT
}

wrong_usage() {
  printf 'push.sh: %s\n' "$*" >&2
  usage >&2
  exit 2
}

complain() {
  printf 'push.sh: %s\n' "$*" >&2
}

die() {
  complain "$*"
  complain 'Run push.sh again later. It continues where it stopped.'
  exit 1
}

case ${1:-} in
  -h | --help)
    usage
    exit 0
    ;;
esac
[ $# -eq 1 ] || wrong_usage 'pass one argument: the URL of the SCIM endpoint'
base=${1%/}
case $base in
  *[!A-Za-z0-9._~:/%@+=,-]*) wrong_usage 'the URL has characters that a SCIM endpoint cannot have' ;;
  http://?* | https://?*) ;;
  *) wrong_usage 'the URL must begin with https:// or http://' ;;
esac
token=${SCIM_TOKEN:-}
unset SCIM_TOKEN
case $token in
  '') wrong_usage 'set SCIM_TOKEN to a bearer token for the receiver' ;;
  *[!A-Za-z0-9._~+/=-]*) wrong_usage 'SCIM_TOKEN has characters that a bearer token cannot have (RFC 6750, 2.1)' ;;
esac
command -v curl >/dev/null 2>&1 || {
  complain 'curl is missing: install it, and try again.'
  exit 1
}
here=$(dirname -- "$0")
for file in users.json groups.json; do
  [ -r "$here/$file" ] || {
    complain "$file is missing. It must be in the same folder as push.sh."
    exit 1
  }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/push.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
tab=$(printf '\t')

# Prints a text of the receiver on one line, without control characters.
printable() {
  tr -d '\000-\037\177' | cut -c 1-300
}

# Prints the strings of a JSON document, one per line: the path in lowercase, a
# tab, and the text between the quotes, unchanged. Texts are split at quotes: a
# piece that ends in an odd number of backslashes continues after the quote.
strings_of() {
  awk '
    BEGIN { RS = "\"" }
    inside {
      text = text $0
      ends = length($0)
      while (ends > 0 && substr($0, ends, 1) == "\\") ends--
      if ((length($0) - ends) % 2) { text = text "\""; next }
      inside = 0
      if (naming) { key[depth] = tolower(text); next }
      gsub(/[\t\r\n]/, " ", text)
      gsub(/\\\//, "/", text)
      print path() "\t" text
      next
    }
    {
      for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        if (c == "{") { kind[++depth] = c; key[depth] = ""; naming = 1 }
        else if (c == "[") { kind[++depth] = c; naming = 0 }
        else if (c == "}" || c == "]") { depth--; naming = 0 }
        else if (c == ",") naming = kind[depth] == "{"
        else if (c == ":") naming = 0
      }
      inside = 1
      text = ""
    }
    function path(  i, out) {
      for (i = 1; i <= depth; i++) out = out (kind[i] == "{" ? "." key[i] : "[]")
      return out
    }
  '
}

# Prints the texts at a path of the last answer.
answered() {
  strings_of <"$work/answer" | awk -F '\t' -v path="$1" '$1 == path { print $2 }'
}

# Prints why the last request was refused, on one line.
reason() {
  printf '%s' "$status"
  {
    answered .scimtype | sed 's/.*/ (&)/'
    answered .detail | sed 's/^/: /'
  } | tr -d '\n' | printable
}

tries=0

# Waits before a request is sent again: as long as the receiver says, or longer
# each time.
pause() {
  tries=$((tries + 1))
  seconds=$(tr -d '\r' <"$work/head" | tr '[:upper:]' '[:lower:]' |
    sed -n 's/^retry-after: *\([0-9]\{1,6\}\) *$/\1/p' | tail -n 1)
  cause="the receiver returned $status"
  [ "$status" != 000 ] || cause="the receiver does not respond ($(printable <"$work/complaint"))"
  [ $tries -le 5 ] || die "$cause, even after five more tries."
  if [ -n "$seconds" ]; then
    [ "$seconds" -le 600 ] || die "$cause, and requires a pause of $seconds seconds."
  else
    seconds=$((1 << (tries - 1)))
  fi
  complain "$cause: trying again in $seconds s."
  sleep "$seconds"
}

# send METHOD PATH [ARGUMENT...] sends a request with further arguments for curl
# and sets status. It returns 1 after a pause if the request should be repeated;
# the caller first sets tries to 0. It gives up on a change that keeps failing
# while the receiver answers. curl reads the token from standard input, because
# ps shows arguments.
send() {
  method=$1
  path=$2
  shift 2
  : >"$work/head"
  : >"$work/answer"
  status=$(
    curl -q -g -sS -K - -o "$work/answer" -D "$work/head" -w '%{http_code}' --connect-timeout 20 --max-time 300 \
      -X "$method" -H 'Accept: application/scim+json' "$@" "$base$path" 2>"$work/complaint" <<TEXT
header = "Authorization: Bearer $token"
TEXT
  ) || status=000
  case $status in
    501) die "the receiver does not support $method $path ($(reason))." ;;
    5??)
      [ "$method" != GET ] && [ $tries -ge 5 ] && return 0
      pause
      return 1
      ;;
    000 | 429)
      pause
      return 1
      ;;
    401) die "the receiver refused the token ($(reason)). Set SCIM_TOKEN to a valid one." ;;
    403) die "the token has no permission for $method $path ($(reason)). Set SCIM_TOKEN to a token that has it." ;;
    3??) die "the receiver returned $status to $method $path: use the URL that it redirects to." ;;
  esac
}

# look_up KIND ID sets theirs to the receiver's id of the resource with the
# externalId, empty if there is none. It fails if there are several. It compares
# the externalId of each result, because some receivers ignore filters.
look_up() {
  until
    send GET "/$1" -G --data-urlencode "filter=externalId eq \"$2\"" --data-urlencode 'attributes=id,externalId'
  do :; done
  case $status in
    200) ;;
    404) die "the receiver returned 404 to GET /$1: is $base its SCIM endpoint?" ;;
    *) die "the receiver cannot find $1 by externalId ($(reason))." ;;
  esac
  theirs=$(answered '.resources[].id')
  [ -n "$theirs" ] || return 0
  case $(answered '.resources[].externalid') in
    "$2") ;;
    "$2
$2"*)
      complain "$1 $2: the receiver has several resources with this externalId. Delete all but one."
      return 1
      ;;
    *) die "the receiver cannot find $1 by externalId: a search for $2 returns other resources." ;;
  esac
}

# create KIND ID BODY finds or creates a resource and sets theirs, and counts it
# in there, created or failed. A request without a clear answer may have created
# it, so it looks it up before another request.
create() {
  made=no
  tries=0
  until
    look_up "$1" "$2" || {
      failed=$((failed + 1))
      return 1
    }
    [ -n "$theirs" ] && break
    printf '%s' "$3" >"$work/body"
    send POST "/$1" -H 'Content-Type: application/scim+json' --data-binary "@$work/body"
  do :; done
  if [ -n "$theirs" ]; then
    there=$((there + 1))
    return 0
  fi
  theirs=$(answered .id)
  case $status/$theirs in
    20[01]/?*)
      made=yes
      created=$((created + 1))
      ;;
    20[01]/)
      complain "$1 $2: the receiver returned $status without an id."
      failed=$((failed + 1))
      return 1
      ;;
    *)
      complain "$1 $2 was refused with $(reason)"
      failed=$((failed + 1))
      return 1
      ;;
  esac
}

# Prints each resource of a list as a line: the id, a tab, and the body of the
# request that creates it, without id, meta and members. The members of a group
# go to files named after the group's id.
resources() {
  awk -v dir="$work" '
    /^    \{"schemas":/ {
      id = $0
      sub(/^[^]]*\],"id":"/, "", id)
      sub(/".*/, "", id)
      if (id !~ /^[a-z]+_[0-9A-Za-z-]+$/) { print "bad line " NR >"/dev/stderr"; exit 1 }
      sub(/,$/, "")
      if (sub(/,"members":\[$/, "")) $0 = $0 "}"
      print id "\t" substr($0, 5, index($0, "]") - 4) substr($0, index($0, ",\"externalId\":"))
    }
    /^      \{"value":/ {
      member = $0
      sub(/^[^:]*:"/, "", member)
      sub(/".*/, "", member)
      file = dir "/" id (index($0, "\"type\":\"Group\"") ? ".inner" : ".users")
      if (file != last && last) close(last)
      last = file
      print member >>file
    }
  ' "$1"
}

# push KIND FILE pushes one kind of resource, writes the receiver's ids to a file,
# and prints the counts.
push() {
  created=0 there=0 failed=0 seen=0
  : >"$work/$1"
  : >"$work/made"
  resources "$here/$2" >"$work/resources" || die "$2 was changed after the export."
  while IFS="$tab" read -r id body; do
    if create "$1" "$id" "$body"; then
      printf '%s\t%s\n' "$id" "$theirs" >>"$work/$1"
      [ "$made" = no ] || printf '%s\n' "$id" >>"$work/made"
    fi
    seen=$((seen + 1))
    [ $((seen % 1000)) -ne 0 ] || printf '%s: %s so far\n' "$1" "$seen"
  done <"$work/resources"
  sort -o "$work/$1" "$work/$1"
  printf '%s: %s created, %s unchanged, %s failed\n' "$1" "$created" "$there" "$failed"
  problems=$((problems + failed))
}

# These functions replace join, comm and split, which BusyBox doesn't have.

# theirs_of FILE MAP prints the values in a map of the lines of a file. Both are
# sorted.
theirs_of() {
  awk -F '\t' -v map="$2" '
    function advance() {
      more = (getline line <map) > 0
      split(line, entry, "\t")
    }
    BEGIN { advance() }
    {
      while (more && entry[1] "" < $1 "") advance()
      if (!more) exit
      if (entry[1] "" == $1 "") print entry[2]
    }
  ' "$1"
}

# without FILE OTHER prints the lines of a file that the other file doesn't have.
# Both are sorted.
without() {
  awk -v other="$2" '
    BEGIN { more = (getline line <other) > 0 }
    {
      while (more && line "" < $0 "") more = (getline line <other) > 0
      if (!more || line "" != $0 "") print
    }
  ' "$1"
}

# wanted_members ID SUFFIX KIND writes the receiver's ids of a group's members of
# a kind to the file wanted, sorted. It adds the number of members that could not
# be created to missed.
wanted_members() {
  : >"$work/wanted"
  [ -f "$work/$1.$2" ] || return 0
  sort -u "$work/$1.$2" >"$work/ours"
  theirs_of "$work/ours" "$work/$3" | sort -u >"$work/wanted"
  missed=$((missed + $(wc -l <"$work/ours") - $(wc -l <"$work/wanted")))
}

# add_members ID TYPE adds the members in the file missing to a group, 500 per
# request.
add_members() {
  awk -v dir="$work" '
    (NR - 1) % 500 == 0 { if (part) close(part); part = dir "/part." NR }
    { print >part }
  ' "$work/missing"
  for part in "$work"/part.*; do
    [ -f "$part" ] || continue
    {
      printf '{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],'
      printf '"Operations":[{"op":"add","path":"members","value":['
      sed "s/.*/{\"value\":\"&\",\"type\":\"$2\"}/;\$!s/\$/,/" "$part"
      printf ']}]}'
    } >"$work/body"
    count=$(($(wc -l <"$part")))
    rm "$part"
    tries=0
    until send PATCH "/Groups/$theirs" -H 'Content-Type: application/scim+json' --data-binary "@$work/body"; do :; done
    case $status in
      200 | 204) added=$((added + count)) ;;
      *)
        complain "Groups $1: members of type $2 were refused with $(reason)"
        refused=$((refused + count))
        ;;
    esac
  done
}

# fill ID adds the missing members to a group whose id at the receiver is
# theirs.
fill() {
  case $theirs in
    . | .. | *[!A-Za-z0-9._~:@+=,-]*)
      complain "Groups $1: the receiver's id for this group cannot be part of a URL."
      problems=$((problems + 1))
      return 0
      ;;
  esac
  [ -f "$work/$1.users" ] || [ -f "$work/$1.inner" ] || return 0
  : >"$work/present"
  if ! grep -q -x -F -e "$1" "$work/made"; then
    tries=0
    until send GET "/Groups/$theirs" -G --data-urlencode 'attributes=members'; do :; done
    if [ "$status" != 200 ]; then
      complain "Groups $1: its members cannot be read ($(reason))"
      problems=$((problems + 1))
      return 0
    fi
    answered '.members[].value' | sort -u >"$work/present"
  fi
  for kind in users:Users:User inner:Groups:Group; do
    names=${kind#*:}
    wanted_members "$1" "${kind%%:*}" "${names%:*}"
    without "$work/wanted" "$work/present" >"$work/missing"
    kept=$((kept + $(wc -l <"$work/wanted") - $(wc -l <"$work/missing")))
    add_members "$1" "${names#*:}"
  done
}

problems=0
push Users users.json
push Groups groups.json
added=0 kept=0 refused=0 missed=0
while IFS="$tab" read -r id theirs; do
  fill "$id"
done <"$work/Groups"
printf 'Members of groups: %s added, %s unchanged, %s failed\n' "$added" "$kept" "$((refused + missed))"
[ $((problems + refused + missed)) -eq 0 ] || {
  complain 'The receiver does not have everything. The reasons are above.'
  exit 1
}
