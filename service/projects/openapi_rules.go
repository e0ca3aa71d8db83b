package projects

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/openapi"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
)

// ProposedRules returns rules in shadow mode, derived from the document of a version, for operations without a rule.
// Nothing is saved.
func (s *Service) ProposedRules(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.RuleProposal, error) {
	doc, _, err := s.openAPI(ctx, p, in, (*models.Tx).OpenAPISummaryOf)
	if err != nil {
		return contract.RuleProposal{}, err
	}
	set, err := s.Rules(ctx, p, in)
	if err != nil {
		return contract.RuleProposal{}, err
	}
	out := proposeRules(&doc.Summary)
	out.Rules = withoutRuled(out.Rules, set.List)
	project, err := s.Get(ctx, p, in.Project)
	out.Warnings = project.proposalWarnings(in.Version, out.Rules)
	for i := range out.Rules {
		out.Rules[i].Mode = contract.RulesShadow
	}
	return out, err
}

// withoutRuled leaves the methods out that a rule for the same paths is for.
func withoutRuled(rules, have []snapshot.Rule) []snapshot.Rule {
	ruled := map[string][]string{} // methods
	for i := range have {
		shape := policy.RuleShape(have[i].Path)
		ruled[shape] = append(ruled[shape], have[i].Methods...)
	}
	rules = slices.DeleteFunc(rules, func(rule snapshot.Rule) bool { return len(unruled(rule, ruled)) == 0 })
	for i := range rules {
		rules[i].Methods = unruled(rules[i], ruled)
	}
	return rules
}

func unruled(rule snapshot.Rule, ruled map[string][]string) []string {
	methods := ruled[policy.RuleShape(rule.Path)]
	return slices.DeleteFunc(slices.Clone(rule.Methods), func(method string) bool {
		return slices.Contains(methods, method) || slices.Contains(methods, policy.AnyMethod) ||
			method == "HEAD" && slices.Contains(methods, "GET")
	})
}

// proposer makes rules of the operations of a document.
type proposer struct {
	out   contract.RuleProposal
	paths []proposedPath // in the order of the document
	at    map[string]int // places of paths in it
	count int            // rules of all paths
	left  map[string]bool
}

// proposedPath has the rules for a path as the document writes it.
type proposedPath struct {
	path  string
	rules []snapshot.Rule
}

// proposeRules combines the operations of a path into one rule if they require the same scopes, and adds owners.
func proposeRules(doc *openapi.Summary) contract.RuleProposal {
	p := proposer{at: make(map[string]int, len(doc.Operations)), left: map[string]bool{}}
	doc = withTextOf(doc)
	p.out.Derived = !slices.ContainsFunc(doc.Operations, func(op openapi.Operation) bool { return len(op.Scopes) > 0 })
	for _, op := range doc.Operations {
		p.addPath(op.Path)
		scopes := op.Scopes
		if p.out.Derived {
			scopes = derivedScopes(op)
		}
		if len(scopes) > 0 { // else it is open to every caller, by the document
			p.add(op.Method, op.Path, scopes)
		}
	}
	p.addOwners(doc)
	for _, path := range p.paths {
		p.out.Rules = append(p.out.Rules, path.rules...)
	}
	return p.out
}

// withTextOf returns a document whose paths rules take as text. In a document, $metadata is text.
func withTextOf(doc *openapi.Summary) *openapi.Summary {
	out := *doc
	out.Operations = slices.Clone(doc.Operations)
	asText := strings.NewReplacer("/$", "/%24", "/=", "/%3D")
	for i := range out.Operations {
		out.Operations[i].Path = asText.Replace(out.Operations[i].Path)
	}
	return &out
}

func (p *proposer) addPath(path string) {
	if _, have := p.at[path]; !have {
		p.at[path] = len(p.paths)
		p.paths = append(p.paths, proposedPath{path: path})
	}
}

// add adds the rule of an operation, or says why there is none.
func (p *proposer) add(method, path string, scopes []string) {
	rule := snapshot.Rule{Methods: []string{method}, Path: path, Scopes: slices.Clone(scopes)}
	if !p.fits(method, &rule) {
		return
	}
	rules := p.paths[p.at[path]].rules
	if method == "HEAD" && ruleFor(rules, "GET") >= 0 {
		return // GET includes HEAD
	}
	if last := len(rules) - 1; last >= 0 && slices.Equal(rules[last].Scopes, rule.Scopes) {
		rules[last].Methods = append(rules[last].Methods, method)
		return
	}
	p.insert(len(rules), rule)
}

// fits reports whether the rule of an operation can be saved. It says why one cannot.
func (p *proposer) fits(method string, rule *snapshot.Rule) bool {
	if wrong := checkRule(rule); len(wrong) > 0 {
		p.leaveOut(method, rule.Path, wrong[0].Detail)
		return false
	}
	return true
}

func (p *proposer) leaveOut(method, path, reason string) {
	operation := method + " " + path
	if !p.left[operation] {
		p.left[operation] = true
		p.out.LeftOut = append(p.out.LeftOut, contract.OperationWithoutRule{Operation: operation, Reason: reason})
	}
}

// insert adds a rule at its place among the rules for its path.
func (p *proposer) insert(at int, rule snapshot.Rule) {
	if p.count == maxRules {
		p.leaveOut(strings.Join(rule.Methods, ","), rule.Path,
			fmt.Sprintf("A version can have at most %s rules.", humanize.Comma(maxRules)))
		return
	}
	of := &p.paths[p.at[rule.Path]]
	of.rules = slices.Insert(of.rules, at, rule)
	p.count++
}

// ruleFor returns the place of the rule for a method, -1 if there is none.
func ruleFor(rules []snapshot.Rule, method string) int {
	return slices.IndexFunc(rules, func(rule snapshot.Rule) bool { return slices.Contains(rule.Methods, method) })
}

// derivedScopes names a scope after the first segment that is neither a version nor a parameter.
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
