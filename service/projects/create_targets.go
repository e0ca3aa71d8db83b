package projects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/service/access"
)

const (
	maxEnvironments = 20               // of a version
	resolveWithin   = 15 * time.Second // for all host names of one call
)

// planTargets fills in and checks the environments and their targets, and derives a name
// that was not given.
func (s *Service) planTargets(ctx context.Context, p access.Principal, out *plan) (wrong []fault.Field, err error) {
	targets, environments := map[string]string{}, map[string]contract.EnvironmentTarget{}
	several := false
	for name, one := range out.Environments {
		if one.Upstream.Targets != nil {
			environments[name], several = one, true
			continue
		}
		if one.Target != "" || out.Target == "" {
			targets["/environments/"+pointerToken(name)+"/target"] = one.Target
		}
		one.Target = cmp.Or(one.Target, out.Target)
		environments[name] = one
	}
	if len(environments) == 0 {
		environments["prod"] = contract.EnvironmentTarget{Target: out.Target}
	}
	if out.Target != "" || len(targets) == 0 && !several {
		targets["/target"] = out.Target
	}
	out.Environments = environments
	if len(out.Environments) > maxEnvironments {
		return []fault.Field{tooManyEnvironments("/environments")}, nil
	}
	// One bound for all host names: a caller may send many that do not resolve.
	ctx, stop := context.WithTimeout(ctx, resolveWithin)
	defer stop()
	cleaned := map[string]*url.URL{}
	for _, pointer := range slices.Sorted(maps.Keys(targets)) {
		u, field, err := s.checkTarget(ctx, p, pointer, targets[pointer])
		if err != nil {
			return nil, err
		}
		if field != nil {
			wrong = append(wrong, *field)
			continue
		}
		cleaned[targets[pointer]] = u
	}
	for _, name := range slices.Sorted(maps.Keys(out.Environments)) {
		at, one := "/environments/"+pointerToken(name), out.Environments[name]
		wrong = append(wrong, checkEnvironmentName(at, name)...)
		settingsWrong, err := s.checkUpstream(ctx, p, at+"/upstream", &one.Upstream)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, settingsWrong...)
		if one.Upstream.Targets != nil {
			to, placeWrong, err := s.checkPlace(ctx, p, at, one.Target, one.Upstream)
			if err != nil {
				return nil, err
			}
			wrong = append(wrong, placeWrong...)
			if to.in(&one.Target, &one.Upstream); to.target != "" {
				cleaned[to.target], _ = url.Parse(to.target)
			}
			out.Environments[name] = one
		}
		if u := cleaned[one.Target]; u != nil {
			wrong = append(wrong, fitUpstream(at+"/upstream", one.Upstream, one.Upstream, u.String())...)
			out.environments = append(out.environments, models.Environment{
				Name: name, Target: u.String(), Upstream: one.Upstream,
			})
		}
	}
	if u := cleaned[out.namesake()]; out.Name == "" && u != nil {
		out.Name = nameFromHost(u.Hostname())
	}
	return wrong, nil
}

// namesake returns the target that a project without a name is named after.
func (in CreateInput) namesake() string {
	if in.Target != "" {
		return in.Target
	}
	if prod := in.Environments["prod"].Target; prod != "" {
		return prod
	}
	for _, name := range slices.Sorted(maps.Keys(in.Environments)) {
		return in.Environments[name].Target
	}
	return ""
}

// maxTarget bounds a target's length in bytes.
const maxTarget = 2048

// checkTarget parses and checks a target. A refusal is returned as the field, any other
// failure as the error.
func (s *Service) checkTarget(
	ctx context.Context, p access.Principal, pointer, raw string,
) (*url.URL, *fault.Field, error) {
	if raw == "" {
		return nil, &fault.Field{
			Pointer: pointer,
			Code:    "required",
			Detail:  "Enter the URL that calls are forwarded to, such as https://api.example.com.",
		}, nil
	}
	if len(raw) > maxTarget {
		return nil, &fault.Field{
			Pointer: pointer,
			Code:    "invalid_url",
			Detail:  fmt.Sprintf("Use at most %s bytes.", humanize.Comma(maxTarget)),
		}, nil
	}
	u, err := s.Targets.CheckTarget(ctx, raw)
	if err == nil && s.CapUnclaimed && unclaimed(p) && !egress.IsWebPort(u) {
		return nil, &fault.Field{
			Pointer: pointer,
			Code:    "port_needs_claim",
			Detail:  "Unclaimed proxies can forward only to ports 80 and 443. Sign in to use another port.",
		}, nil
	}
	if err == nil {
		return u, nil, nil
	}
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Kind == fault.Invalid {
		return nil, &fault.Field{Pointer: pointer, Code: refusal.Code, Detail: refusal.Public}, nil
	}
	return nil, nil, err
}

// unclaimed reports whether the principal's projects are unclaimed.
func unclaimed(p access.Principal) bool {
	return p.Anonymous() || p.Roles[p.HomeTeam] == access.Workspace
}
