package projects

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	"golang.org/x/net/http/httpguts"

	"postern/core/contract"
	"postern/platform/fault"
	"postern/service/access"
)

// place is where an environment forwards to. With several targets, target is the first one.
type place struct {
	target  string
	targets []contract.UpstreamTarget // nil: one
}

// in sets the place of an environment.
func (l place) in(target *string, upstream *contract.Upstream) {
	if l.target != "" {
		*target, upstream.Targets = l.target, l.targets
	}
}

// urls returns the URLs of the targets.
func (l place) urls() (out []string) {
	for _, one := range (contract.UpstreamTargets{Targets: l.targets}).TargetsOr(l.target) {
		out = append(out, one.URL)
	}
	return out
}

// checkPlace checks the target of an environment, or its targets, which are in upstream. at points to the environment.
// The place is empty if some are wrong.
func (s *Service) checkPlace(
	ctx context.Context, p access.Principal, at, target string, upstream contract.Upstream,
) (place, []fault.Field, error) {
	targets := upstream.Targets
	if targets == nil {
		u, field, err := s.checkTarget(ctx, p, at+"/target", target)
		if err != nil || field != nil {
			return place{}, fields(field), err
		}
		return place{target: u.String()}, nil, nil
	}
	pointer := at + "/upstream/targets"
	switch {
	case target != "":
		return place{}, fields(&fault.Field{Pointer: pointer, Code: "target_and_targets",
			Detail: "Send target or upstream.targets, not both."}), nil
	case len(targets) == 0:
		return place{}, fields(&fault.Field{Pointer: pointer, Code: "required",
			Detail: "Add at least one target. For a single one, you can send target instead."}), nil
	case len(targets) > contract.MostUpstreamTargets:
		return place{}, fields(&fault.Field{Pointer: pointer, Code: "too_many_targets",
			Detail: fmt.Sprintf("Use at most %d targets.", contract.MostUpstreamTargets)}), nil
	case len(targets) > 1 && s.CapUnclaimed && unclaimed(p):
		return place{}, []fault.Field{onlyClaimed(pointer, "several targets")}, nil
	}
	return s.checkTargets(ctx, p, pointer, targets)
}

func fields(field *fault.Field) []fault.Field {
	if field == nil {
		return nil
	}
	return []fault.Field{*field}
}

func (s *Service) checkTargets(
	ctx context.Context, p access.Principal, pointer string, targets []contract.UpstreamTarget,
) (out place, wrong []fault.Field, err error) {
	ctx, stop := context.WithTimeout(ctx, resolveWithin)
	defer stop()
	var first *url.URL
	seen, weights := map[string]bool{}, 0
	for i, one := range targets {
		here := fmt.Sprintf("%s/%d", pointer, i)
		u, field, err := s.checkTarget(ctx, p, here+"/url", one.URL)
		if err != nil {
			return place{}, nil, err
		}
		if field == nil {
			first = cmp.Or(first, u)
			field = differs(here+"/url", first, u, seen)
		}
		if field != nil {
			wrong = append(wrong, *field)
			continue
		}
		weight := one.WeightOrDefault()
		if weight < 0 || weight > contract.MostTargetWeight {
			wrong = append(wrong, fault.Field{Pointer: here + "/weight", Code: "invalid_weight",
				Detail: "Use 0 to 65,535. The default is 1."})
		}
		weights += weight
		out.targets = append(out.targets, contract.UpstreamTarget{URL: u.String(), Weight: &weight})
	}
	if len(wrong) == 0 && weights == 0 {
		wrong = append(wrong, fault.Field{Pointer: pointer, Code: "no_weight",
			Detail: "Give at least one target a weight above 0. Targets with weight 0 get no calls."})
	}
	if len(wrong) > 0 {
		return place{}, wrong, nil
	}
	if out.target = out.targets[0].URL; len(out.targets) == 1 {
		out.targets = nil
	}
	return out, nil, nil
}

// differs refuses a target that differs from the first one in more than host and port, or in nothing from another one.
func differs(pointer string, first, u *url.URL, seen map[string]bool) *fault.Field {
	switch {
	case u.Scheme != first.Scheme:
		return &fault.Field{Pointer: pointer, Code: "other_scheme",
			Detail: fmt.Sprintf("All targets of an environment must begin with %s://.", first.Scheme)}
	case u.EscapedPath() != first.EscapedPath():
		return &fault.Field{Pointer: pointer, Code: "other_path",
			Detail: fmt.Sprintf("Use the same path for all targets of an environment: %q.", first.EscapedPath())}
	case seen[u.Host]:
		return &fault.Field{Pointer: pointer, Code: "duplicate", Detail: "This target is listed twice. Remove one."}
	}
	seen[u.Host] = true
	return nil
}

// checkBalance checks how calls are spread over targets.
func checkBalance(pointer string, b *contract.UpstreamBalance) []fault.Field {
	if b == nil {
		return nil
	}
	switch *b {
	case contract.BalanceRoundRobin, contract.BalanceLeastConnections, contract.HashKey, contract.HashOwner,
		contract.HashIP:
		return nil
	}
	const most = 100
	name, byHeader := b.Header()
	switch {
	case !byHeader:
		return []fault.Field{{Pointer: pointer, Code: "invalid_balance", Detail: "Use round_robin, " +
			`least_connections, {"hash": "key"}, {"hash": "owner"}, {"hash": "ip"} or {"hash": {"header": NAME}}.`}}
	case len(name) > most || !httpguts.ValidHeaderFieldName(name):
		return []fault.Field{{Pointer: pointer + "/hash/header", Code: "invalid_header",
			Detail: fmt.Sprintf("Use the name of a header, such as X-Session, of at most %d characters.", most)}}
	}
	return nil
}
