package policy

import (
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// MostHostBytes is the most bytes of the host name of a custom domain: 253 (RFC 1035, section 2.3.4), less the label of
// its TXT record, which is a name too.
const MostHostBytes = 233

// hostProfile turns a name as people write it into lowercase ASCII (RFC 5891, section 5, with the mapping of UTS #46),
// and refuses labels that aren't host names.
var hostProfile = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.CheckHyphens(true),
	idna.CheckJoiners(true),
	idna.StrictDomainName(true),
	idna.Transitional(false),
)

// HostError says why a name can't be the host name of a custom domain.
type HostError struct {
	Code   string
	Detail string // a sentence with the fix
}

// Error implements error.
func (e *HostError) Error() string { return e.Detail }

// NormalHost returns the host name of a custom domain in lowercase ASCII without a trailing dot. Errors are *HostError.
func NormalHost(raw string) (string, error) {
	name := strings.TrimSuffix(strings.TrimSpace(raw), ".")
	switch {
	case name == "":
		return "", &HostError{"required", "Enter a host name, such as api.example.com."}
	case strings.ContainsAny(name, "/:@?#[]"):
		return "", invalidHost("Use only the host name, without a scheme, port or path, such as api.example.com.")
	case strings.Contains(name, "*"):
		return "", invalidHost("You can't use wildcards. Add each host name separately.")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return "", invalidHost("Use a host name, not an IP address. DNS can't prove who owns an IP address.")
	}
	host, err := hostProfile.ToASCII(name)
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case err != nil:
		return "", invalidHost("Use only letters, digits, hyphens and dots, such as api.example.com.")
	case len(host) > MostHostBytes:
		return "", invalidHost("Use a host name of at most 233 characters.")
	case len(labels) < 2 || host == "localhost" || last == "localhost":
		return "", invalidHost("Use a full host name, such as api.example.com.")
	case strings.Trim(last, "0123456789") == "":
		return "", invalidHost("The last part of a host name can't be a number.")
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return "", invalidHost("Each part between dots must have 1 to 63 characters.")
		}
	}
	return host, nil
}

func invalidHost(detail string) error { return &HostError{"invalid_host", detail} }
