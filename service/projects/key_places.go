package projects

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/platform/fault"
)

var (
	keyPrefixPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+/:=-]{0,31}$`)
	argumentPattern  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
)

// checkKeyPlaces checks where keys travel. A version whose keys travel in X-API-Key alone doesn't say so, and neither
// does one that doesn't send their metadata.
func checkKeyPlaces(auth *contract.RequestsAuth, prefix string) (wrong []fault.Field) {
	if send := auth.APIKey.SendMetadata; send != nil && !*send {
		auth.APIKey.SendMetadata = nil
	}
	in, prefix := auth.APIKey.In, prefix+"/api_key/in"
	switch {
	case in == nil:
		return nil
	case len(in) == 0:
		return []fault.Field{{
			Pointer: prefix,
			Code:    "required",
			Detail:  `Name at least one place, such as {"header": "X-API-Key"}.`,
		}}
	case len(in) > contract.MostKeyPlaces:
		return []fault.Field{{
			Pointer: prefix,
			Code:    "too_many",
			Detail:  fmt.Sprintf("Use at most %d places.", contract.MostKeyPlaces),
		}}
	}
	for i, place := range in {
		pointer := fmt.Sprintf("%s/%d", prefix, i)
		wrong = append(wrong, checkKeyPlace(place, pointer)...)
		if slices.ContainsFunc(in[:i], func(other contract.KeyPlace) bool { return sameKeyPlace(other, place) }) {
			wrong = append(wrong, fault.Field{
				Pointer: pointer, Code: "duplicate", Detail: "This place is listed twice. Remove one.",
			})
		}
	}
	if auth.APIKey.IsDefault() {
		auth.APIKey.In = nil
	}
	return wrong
}

// needsAPIKey refuses settings of keys without the method api_key, which would have no effect.
func needsAPIKey(asked contract.APIKeyAuth, in contract.RequestsAuth, prefix string) (wrong []fault.Field) {
	if in.Allows(snapshot.APIKey) {
		return nil
	}
	add := func(member string) {
		wrong = append(wrong, fault.Field{
			Pointer: prefix + "/api_key" + member,
			Code:    "method_missing",
			Detail:  "Add api_key to the methods, or set the mode to authenticate. Otherwise, keys aren't checked.",
		})
	}
	if len(asked.In) > 0 {
		add("/in")
	}
	if send := asked.SendMetadata; send != nil && *send {
		add("/send_metadata")
	}
	return wrong
}

// sameKeyPlace ignores the prefix: a header is read once.
func sameKeyPlace(a, b contract.KeyPlace) bool {
	return a.Kind() == b.Kind() && policy.SameHeader(a.Header, b.Header) && a.Query == b.Query && a.Cookie == b.Cookie
}

func checkKeyPlace(place contract.KeyPlace, pointer string) (wrong []fault.Field) {
	add := func(member, code, detail string) {
		wrong = append(wrong, fault.Field{Pointer: pointer + member, Code: code, Detail: detail})
	}
	switch kind := place.Kind(); {
	case kind == "":
		add("", "invalid_place", "Use exactly one of header, query, cookie and websocket_protocol.")
		return wrong
	case kind == contract.PlaceHeader && !policy.CanCarryKeys(place.Header):
		add("/header", "invalid_header", "Use 1 to 64 letters, digits, hyphens or underscores. You can't use "+
			"connection headers, headers that describe the message or the calling page, or headers that the gateway "+
			"sets.")
	case kind == contract.PlaceQuery && !argumentPattern.MatchString(place.Query):
		add("/query", "invalid_query", "Use 1 to 64 letters, digits, dots, hyphens or underscores.")
	case kind == contract.PlaceCookie && !argumentPattern.MatchString(place.Cookie):
		add("/cookie", "invalid_cookie", "Use 1 to 64 letters, digits, dots, hyphens or underscores.")
	case kind == contract.PlaceCookie && policy.IsControlCookie(place.Cookie):
		add("/cookie", "invalid_cookie", "The dashboard uses cookies with this name. Use another name.")
	}
	switch {
	case place.Prefix != "" && place.Header == "":
		add("/prefix", "invalid_prefix", "Only a header can have a prefix. Remove it.")
	case place.Prefix != "" && !keyPrefixPattern.MatchString(place.Prefix):
		add("/prefix", "invalid_prefix", "Use 1 to 32 letters, digits or any of . _ + / : = -, such as Bearer. Leave "+
			"out spaces. If the prefix is a word, callers put a space between it and the key.")
	case place.PrefixOptional && place.Prefix == "":
		add("/prefix_optional", "invalid_prefix", "Set prefix, or remove prefix_optional.")
	}
	return wrong
}

// WarnKeyInQuery is the code of the warning about keys in URLs.
const WarnKeyInQuery = "key_in_query"

// queryWarning returns the detail of the warning about a version's keys in URLs, "" if they don't travel there.
func queryWarning(v contract.Version) string {
	var names []string
	for _, place := range v.RequestsAuth.APIKey.In {
		if place.Query != "" {
			names = append(names, place.Query)
		}
	}
	if len(names) == 0 || !v.RequestsAuth.Allows(snapshot.APIKey) {
		return ""
	}
	return fmt.Sprintf("Version %s accepts keys in the query (%s). URLs end up in proxy logs, browser histories and "+
		"Referer headers, and so do the keys in them. If your callers can send a header, use one instead "+
		"(requests_auth.api_key.in).", v.Name, strings.Join(names, ", "))
}
