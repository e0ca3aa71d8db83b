package domains

import (
	"errors"
	"strings"

	"postern/core/policy"
	"postern/platform/fault"
)

// The name of a TXT record has to fit too (RFC 1035, section 2.3.4).
const _ = uint(253 - len(recordLabel) - policy.MostHostBytes)

// normalize returns the name in lowercase ASCII without a trailing dot, or the mistake in it.
func normalize(raw string) (string, *fault.Field) {
	host, err := policy.NormalHost(raw)
	if wrong, ok := errors.AsType[*policy.HostError](err); ok {
		return "", invalid(wrong.Code, wrong.Detail)
	}
	return host, nil
}

func invalid(code, detail string) *fault.Field {
	return &fault.Field{Pointer: "/host", Code: code, Detail: detail}
}

// CheckHost normalizes the name of a custom domain, or returns the mistake in it.
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
