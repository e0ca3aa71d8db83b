package domains

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"

	"postern/platform/fault"
)

// maxHost is the most bytes of a host name (RFC 1035, section 2.3.4): with the label of its
// TXT record, which is a name too.
const maxHost = 253 - len(recordLabel)

// profile turns a name as people write it into lowercase ASCII (RFC 5891, section 5, with
// the mapping of UTS #46), and refuses labels that are no host names.
var profile = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.CheckHyphens(true),
	idna.CheckJoiners(true),
	idna.StrictDomainName(true),
	idna.Transitional(false),
)

// normalize returns the name in lowercase ASCII without a trailing dot, or what is wrong.
func normalize(raw string) (string, *fault.Field) {
	name := strings.TrimSuffix(strings.TrimSpace(raw), ".")
	switch {
	case name == "":
		return "", invalid("required", "Enter a host name, such as api.example.com.")
	case strings.ContainsAny(name, "/:@?#[]"):
		return "", invalid("invalid_host", "Use only the host name, without a scheme, port or path, such as "+
			"api.example.com.")
	case strings.Contains(name, "*"):
		return "", invalid("invalid_host", "You can't use wildcards. Add each host name separately.")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return "", invalid("invalid_host", "Use a host name, not an IP address. DNS can't prove who owns an IP "+
			"address.")
	}
	host, err := profile.ToASCII(name)
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case err != nil:
		return "", invalid("invalid_host", "Use only letters, digits, hyphens and dots, such as api.example.com.")
	case len(host) > maxHost:
		return "", invalid("invalid_host", "Use a host name of at most 233 characters.")
	case len(labels) < 2 || host == "localhost" || last == "localhost":
		return "", invalid("invalid_host", "Use a full host name, such as api.example.com.")
	case strings.Trim(last, "0123456789") == "":
		return "", invalid("invalid_host", "The last part of a host name can't be a number.")
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return "", invalid("invalid_host", "Each part between dots must have 1 to 63 characters.")
		}
	}
	return host, nil
}

func invalid(code, detail string) *fault.Field {
	return &fault.Field{Pointer: "/host", Code: code, Detail: detail}
}

// CheckHost normalizes the name of a custom domain, or says what is wrong with it.
func (s *Service) CheckHost(raw string) (string, *fault.Field) { return s.checkHost(raw) }

// checkHost normalizes a name, and refuses those of this installation.
func (s *Service) checkHost(raw string) (string, *fault.Field) {
	host, wrong := normalize(raw)
	if wrong != nil {
		return "", wrong
	}
	for _, own := range s.Own {
		if host == bare(own) {
			return "", invalid("own_host", "This host name belongs to Postern. Use your own host name.")
		}
	}
	for _, domain := range s.OwnBelow {
		if domain = bare(domain); host == domain || strings.HasSuffix(host, "."+domain) {
			return "", invalid("own_host", "Host names below "+domain+" belong to Postern. Use your own host name.")
		}
	}
	return host, nil
}

func bare(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
