package projects

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// checkHostHeader checks the Host header of calls to an upstream, which is at pointer, and replaces it by what is
// stored.
func (s *Service) checkHostHeader(
	ctx context.Context, p access.Principal, pointer string, in *contract.Upstream,
) (*fault.Field, error) {
	if in.HostHeader == nil {
		return nil, nil
	}
	wrong := func(code, detail string) (*fault.Field, error) {
		return &fault.Field{Pointer: pointer, Code: code, Detail: detail}, nil
	}
	text := strings.ToLower(strings.TrimSpace(*in.HostHeader))
	if text == "" || text == contract.HostOfTarget {
		in.HostHeader = new(contract.HostOfTarget)
		return nil, nil
	}
	if s.CapUnclaimed && unclaimed(p) {
		return new(onlyClaimed(pointer, "a different Host header")), nil
	}
	if text == contract.HostOfCaller {
		in.HostHeader = &text
		return nil, nil
	}
	name, ok := hostOf(text)
	if _, err := netip.ParseAddr(name); !ok || err == nil {
		return wrong("invalid_host_header", "Use target, caller or a host name, such as api.example.com. Leave out "+
			"the scheme, port and path. Use the ASCII form of other names (xn--…).")
	}
	if s.OwnName != nil && s.OwnName(name) {
		return wrong("own_host", "This host name belongs to the gateway itself, so calls could loop back to it. Use "+
			"the name that the upstream expects.")
	}
	_, err := s.DB.Read(ctx).VerifiedDomain(name)
	switch {
	case err == nil:
		return wrong("own_host", "This host name is a custom domain of this gateway, so calls could loop back to it. "+
			"Use caller to pass on the custom domain of the call, or use another name that the upstream expects.")
	case !errors.Is(err, models.ErrNotFound):
		return nil, fmt.Errorf("projects: find the custom domain %s: %w", name, err)
	}
	in.HostHeader = &name
	return nil, nil
}
