package serving

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// originHost matches the hosts of origins. Kong takes an origin with any other character for a
// regular expression (kong/plugins/cors/handler.lua).
var originHost = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// OriginFault says what is wrong with an origin, and what it should be. An origin is written as
// browsers write it (RFC 6454 section 6.2).
func OriginFault(origin string) string {
	const want = "Use an origin as browsers send it, such as https://app.example.com, http://localhost:3000 or " +
		"capacitor://localhost"
	if origin == "*" {
		return ""
	}
	if origin == "null" {
		return "null is the origin of every sandboxed page and local file. Serve the page from a URL, and use its " +
			"origin."
	}
	u, err := url.Parse(origin)
	if err != nil || u.Hostname() == "" || len(origin) > 300 {
		return want + "."
	}
	if strings.HasPrefix(u.Host, "[") {
		return "Kong can't compare origins with IPv6 addresses. Use a host name."
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "The port must be a number from 1 to 65535."
		}
	}
	plain := cmp.Or(originOf(u), appOriginOf(u))
	switch {
	case plain == "":
		return want + "."
	case plain != origin:
		return "Use the origin as browsers send it: " + plain + "."
	}
	return ""
}

// Schemes and hosts of origins of apps, such as capacitor://localhost, and of extensions of browsers. Browsers keep the
// case of these hosts: they are ids. Kong takes an origin with any other character for a regular expression.
var (
	appScheme = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)
	appHost   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

// otherSchemes have pages of the origin null, or none at all (HTML, "origin"; URL, "origin").
var otherSchemes = []string{
	"http", "https", "file", "data", "blob", "about", "javascript", "ftp", "ws", "wss", "mailto", "view-source",
	"filesystem", "vbscript",
}

// appOriginOf returns the origin of an address of an app or of an extension, "" for any other.
func appOriginOf(u *url.URL) string {
	if !appScheme.MatchString(u.Scheme) || slices.Contains(otherSchemes, u.Scheme) ||
		!appHost.MatchString(u.Hostname()) {
		return ""
	}
	if port := u.Port(); port != "" {
		return u.Scheme + "://" + u.Hostname() + ":" + port
	}
	return u.Scheme + "://" + u.Hostname()
}

// originOf returns the origin of an address, "" if its host has no form in ASCII.
func originOf(u *url.URL) string {
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return ""
	}
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(u.Hostname(), "."))
	if err != nil || !originHost.MatchString(host) {
		return ""
	}
	port := u.Port()
	if port == "" || (u.Scheme == "http" && port == "80") || (u.Scheme == "https" && port == "443") {
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + host + ":" + port
}
