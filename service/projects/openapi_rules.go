package projects

import (
	"context"
	"slices"
	"strings"

	"postern/core/openapi"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/platform/fault"
	"postern/service/access"
)

// RuleProposal are the rules that follow from an OpenAPI document.
type RuleProposal struct {
	Rules []snapshot.Rule // without ids and modes

	// Derived says that the document names no scopes: those of the rules are made of the first segment
	// of the path, such as orders:read and orders:write.
	Derived bool

	LeftOut []LeftOutOperation

	Warnings []fault.Warning // about key types that the rules would refuse
}

// LeftOutOperation is an operation that no rule can be made for.
type LeftOutOperation struct{ Operation, Reason string }

// ProposedRules returns the rules that follow from the document of a version, for operations that no
// rule of the version is for. Nothing is saved.
func (s *Service) ProposedRules(ctx context.Context, p access.Principal, ref, version string) (RuleProposal, error) {
	doc, err := s.OpenAPI(ctx, p, ref, version)
	if err != nil {
		return RuleProposal{}, err
	}
	set, err := s.Rules(ctx, p, ref, version)
	if err != nil {
		return RuleProposal{}, err
	}
	out := addOwners(proposeRules(&doc.Summary), &doc.Summary)
	out.leaveOut(set.List)
	project, err := s.Get(ctx, p, ref)
	out.Warnings = project.proposalWarnings(set.Version, out.Rules)
	return out, err
}

// leaveOut leaves the methods out that a rule for the same paths is for.
func (r *RuleProposal) leaveOut(have []snapshot.Rule) {
	ruled := map[string][]string{} // methods
	for i := range have {
		shape := policy.RuleShape(have[i].Path)
		ruled[shape] = append(ruled[shape], have[i].Methods...)
	}
	r.Rules = slices.DeleteFunc(r.Rules, func(rule snapshot.Rule) bool { return len(unruled(rule, ruled)) == 0 })
	for i := range r.Rules {
		r.Rules[i].Methods = unruled(r.Rules[i], ruled)
	}
}

func unruled(rule snapshot.Rule, ruled map[string][]string) []string {
	methods := ruled[policy.RuleShape(rule.Path)]
	return slices.DeleteFunc(slices.Clone(rule.Methods), func(method string) bool {
		return slices.Contains(methods, method) || slices.Contains(methods, policy.AnyMethod) ||
			method == "HEAD" && slices.Contains(methods, "GET")
	})
}

// proposeRules makes one rule of the operations of a path that ask for the same scopes.
func proposeRules(doc *openapi.Summary) (out RuleProposal) {
	out.Derived = !slices.ContainsFunc(doc.Operations, func(op openapi.Operation) bool { return len(op.Scopes) > 0 })
	for _, op := range doc.Operations {
		scopes := op.Scopes
		if out.Derived {
			scopes = derivedScopes(op)
		}
		if len(scopes) == 0 {
			continue // open to every caller, by the document
		}
		leave := func(reason string) {
			out.LeftOut = append(out.LeftOut, LeftOutOperation{op.Method + " " + op.Path, reason})
		}
		rule := snapshot.Rule{Methods: []string{op.Method}, Path: op.Path, Scopes: slices.Clone(scopes)}
		if wrong := checkRule(&rule); len(wrong) > 0 {
			leave(wrong[0].Detail)
			continue
		}
		if op.Method == "HEAD" && out.has("GET", op.Path) {
			continue // GET includes HEAD
		}
		last := len(out.Rules) - 1
		switch {
		case last >= 0 && out.Rules[last].Path == rule.Path && slices.Equal(out.Rules[last].Scopes, rule.Scopes):
			out.Rules[last].Methods = append(out.Rules[last].Methods, op.Method)
		case len(out.Rules) == maxRules:
			leave("A version has at most 500 rules.")
		default:
			out.Rules = append(out.Rules, rule)
		}
	}
	return out
}

func (r *RuleProposal) has(method, path string) bool {
	return slices.ContainsFunc(r.Rules, func(rule snapshot.Rule) bool {
		return rule.Path == path && slices.Contains(rule.Methods, method)
	})
}

// derivedScopes names a scope after the first segment that is no version and no parameter.
func derivedScopes(op openapi.Operation) []string {
	verb := ":write"
	if op.Method == "GET" || op.Method == "HEAD" || op.Method == "OPTIONS" {
		verb = ":read"
	}
	for segment := range strings.SplitSeq(strings.Trim(op.Path, "/"), "/") {
		name := strings.ToLower(segment)
		if name == "" || name == "api" || isVersionSegment(name) || strings.ContainsAny(name, "{}") {
			continue
		}
		if scope := name + verb; validRuleScope(scope) && scopePattern.MatchString(scope) {
			return []string{scope}
		}
	}
	return nil
}

// isVersionSegment reports whether a segment is a version such as v1, 2 or 2010-04-01.
func isVersionSegment(segment string) bool {
	return strings.Trim(strings.TrimPrefix(segment, "v"), "0123456789.-") == ""
}
