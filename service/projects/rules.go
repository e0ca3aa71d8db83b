package projects

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/serving"
)

// Bounds on the rules of a version.
const (
	maxRules      = 2000
	maxRuleLists  = 50 // entries of methods, scopes and groups
	maxRuleScope  = 128
	maxRuleMethod = 32
)

// CodeAmbiguousRule is the code of a rule that matches the same calls as another one.
const CodeAmbiguousRule = "ambiguous_rule"

func viewRules(v models.Version) contract.SavedRules {
	rules := serving.Rules(v.Rules)
	return contract.SavedRules{Rules: rules, ETag: digestOf(rules)}
}

// Rules returns the rules of a version, with warnings about groups.
func (s *Service) Rules(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.SavedRules, error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return contract.SavedRules{}, fmt.Errorf("projects: rules of %s: %w", in.Project, err)
	}
	version, err := versionOf(tx, project, in.Version)
	if err != nil {
		return contract.SavedRules{}, fmt.Errorf("projects: rules of version %s of %s: %w", in.Version, in.Project, err)
	}
	out := viewRules(version)
	if out.Warnings, err = groupWarnings(tx, project.ID, &out.Rules); err != nil {
		return contract.SavedRules{}, fmt.Errorf("projects: groups in rules of %s: %w", in.Project, err)
	}
	return out, nil
}

// SetRules replaces the rules of a version. Rules without an ID get one. It returns warnings about groups and key
// types.
func (s *Service) SetRules(
	ctx context.Context, p access.Principal, in contract.RulesUpdate,
) (out contract.SavedRules, err error) {
	if _, err := access.Project(s.DB.Read(ctx), p, in.Project, access.ProjectUpdate); err != nil {
		return out, fmt.Errorf("projects: set rules of %s: %w", in.Project, err)
	}
	rules := in.Body
	rules.List = slices.Clone(rules.List)
	wrong := CheckRules("", &rules) // not while others wait to write
	says := &note{change: "set"}
	err = s.changeNoted(ctx, p, in.Project, says, func(tx *models.Tx, project models.Project, now time.Time) error {
		version, err := versionOf(tx, project, in.Version)
		if err != nil {
			return err
		}
		says.object = "rules of version " + version.Name
		if err := access.Unchanged(in.IfMatch, viewRules(version).ETag); err != nil {
			return err
		}
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		for i := range rules.List {
			if rules.List[i].ID == "" {
				rules.List[i].ID = models.NewID("rul")
			}
		}
		seen := version.UpdatedAt
		version.Rules, version.UpdatedAt = rules, now
		out = viewRules(version)
		if err := orStale(tx.UpdateVersionRules(version, seen)); err != nil {
			return err
		}
		if err := checkRuleQuota(tx, project); err != nil {
			return err
		}
		says.then = func(tx *models.Tx, after Project) error {
			groups, err := groupWarnings(tx, project.ID, &out.Rules)
			out.Warnings = append(after.KeyTypeWarnings(version.ID), groups...)
			return err
		}
		return nil
	})
	return out, err
}

// CheckRules returns the mistakes in rules, below a pointer. It normalizes them: methods become uppercase, an empty
// default becomes allow, and an empty mode becomes enforce.
func CheckRules(prefix string, in *snapshot.Rules) (wrong []fault.Field) {
	if in.Default == "" {
		in.Default = snapshot.RulesAllow
	}
	if in.Mode == "" {
		in.Mode = snapshot.RulesEnforce
	}
	refuse := func(pointer, code, detail string) {
		wrong = append(wrong, fault.Field{Pointer: prefix + pointer, Code: code, Detail: detail})
	}
	if in.Default != snapshot.RulesAllow && in.Default != snapshot.RulesDeny {
		refuse("/default", "invalid_default", "Use allow or deny.")
	}
	if !validRuleMode(in.Mode) {
		refuse("/mode", "invalid_mode", "Use off, shadow or enforce.")
	}
	if len(in.List) > maxRules {
		refuse("/rules", "too_many", fmt.Sprintf("Use at most %s rules.", humanize.Comma(maxRules)))
		return wrong
	}
	segments := 0
	for i := range in.List {
		segments += segmentsOf(in.List[i].Path)
	}
	if segments > maxRuleSegments {
		refuse("/rules", "too_many", fmt.Sprintf("The paths of the rules have %s segments. Use at most %s in total.",
			humanize.Comma(int64(segments)), humanize.Comma(maxRuleSegments)))
		return wrong
	}
	ids := map[string]bool{}
	for i := range in.List {
		rule := &in.List[i]
		at := fmt.Sprintf("/rules/%d", i)
		if rule.ID != "" {
			if _, err := models.ParseID("rul", rule.ID); err != nil || ids[rule.ID] {
				refuse(at+"/id", "invalid_id", "Leave out the ID of a new rule. Use each ID only once.")
			}
			ids[rule.ID] = true
		}
		for _, field := range checkRule(rule) {
			refuse(at+field.Pointer, field.Code, field.Detail)
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	if a, b, tied := policy.TiedRules(in.List); tied {
		refuse(fmt.Sprintf("/rules/%d/path", b), CodeAmbiguousRule, fmt.Sprintf("%s and %s match the same calls, and "+
			"neither is more specific. Remove one of them, or change its methods or path.",
			ruleText(in.List, a), ruleText(in.List, b)))
	}
	return wrong
}

// ruleText names a rule in an error.
func ruleText(list []snapshot.Rule, at int) string {
	rule := list[at]
	text := fmt.Sprintf("rule %d (%s %s", at+1, strings.Join(rule.Methods, ","), rule.Path)
	if rule.ID != "" {
		text += ", " + rule.ID
	}
	return text + ")"
}

func validRuleMode(mode snapshot.RuleMode) bool {
	return mode == snapshot.RulesOff || mode == snapshot.RulesShadow || mode == snapshot.RulesEnforce
}

// checkRule returns the mistakes in a rule, below its pointer.
func checkRule(rule *snapshot.Rule) (wrong []fault.Field) {
	refuse := func(pointer, code, detail string) {
		wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
	}
	if err := policy.CheckRulePath(rule.Path); err != nil {
		refuse("/path", "invalid_path", subjectOf("path", rule.Path)+" "+err.Error()+".")
	}
	if rule.Mode != "" && !validRuleMode(rule.Mode) {
		refuse("/mode", "invalid_mode", "Use off, shadow or enforce, or omit the mode to use the mode of the "+
			"version's rules.")
	}
	if len(rule.Methods) == 0 {
		refuse("/methods", "required", "Use a method such as GET, or * for all.")
	}
	if len(rule.Methods)+len(rule.Scopes)+len(rule.Groups) > maxRuleLists {
		refuse("", "too_many", fmt.Sprintf("Use at most %d methods, scopes and groups in a rule.", maxRuleLists))
		return wrong
	}
	for i := range rule.Methods {
		rule.Methods[i] = strings.ToUpper(rule.Methods[i])
		switch method := rule.Methods[i]; {
		case method == policy.AnyMethod && len(rule.Methods) > 1:
			refuse("/methods", "invalid_method", "* means all methods. Leave out the others.")
		case method != policy.AnyMethod && !validRuleMethod(method):
			refuse(fmt.Sprintf("/methods/%d", i), "invalid_method", "Use a method such as GET, or * for all.")
		case slices.Contains(rule.Methods[:i], method):
			refuse(fmt.Sprintf("/methods/%d", i), "duplicate", "This method is listed twice. Remove one.")
		}
	}
	for i, scope := range rule.Scopes {
		switch at := fmt.Sprintf("/scopes/%d", i); {
		case !validRuleScope(scope):
			refuse(at, "invalid_scope", "Use a single scope, such as orders:read. Callers can have * or orders:*, "+
				"but a rule must list each scope by name.")
		case slices.Contains(rule.Scopes[:i], scope):
			refuse(at, "duplicate", "This scope is listed twice. Remove one.")
		}
	}
	wrong = append(wrong, checkRuleGroups(rule)...)
	return append(wrong, checkRuleObjects(rule)...)
}

// maxSubject bounds, in bytes, the texts that errors quote.
const maxSubject = 100

// subjectOf begins the error of a text, with the text itself if a sentence can contain it.
func subjectOf(kind, text string) string {
	unseen := func(r rune) bool { return !unicode.IsPrint(r) }
	if text == "" || len(text) > maxSubject || strings.ContainsFunc(text, unseen) {
		return "The " + kind
	}
	return text
}

// checkRuleObjects returns the mistakes in the objects of a rule.
func checkRuleObjects(rule *snapshot.Rule) (wrong []fault.Field) {
	refuse := func(pointer, code, detail string) {
		wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
	}
	if policy.CheckRulePath(rule.Path) != nil {
		return nil // its parameters are not known
	}
	for _, one := range []struct {
		pointer, text, example string
		answer                 bool
		methods                []string
	}{
		{"/owner", rule.Owner, "order:{id}, with parameters from the rule's path", false, nil},
		{"/remember", rule.Remember, "order:{response.id}, with values from the " +
			"response", true, []string{"POST", "PUT"}},
		{"/forget", rule.Forget, "order:{id}, with parameters from the rule's path", false, []string{"DELETE", "POST"}},
	} {
		if one.text == "" {
			continue
		}
		if err := policy.CheckObject(one.text, rule.Path, one.answer); err != nil {
			refuse(one.pointer, "invalid_object", subjectOf("object", one.text)+" "+err.Error()+
				". Use an object such as "+one.example+".")
		}
		for _, method := range rule.Methods {
			if one.methods != nil && !slices.Contains(one.methods, method) {
				refuse(one.pointer, "wrong_method", "Only calls with "+strings.Join(one.methods, " or ")+" can "+
					one.pointer[1:]+" an object, but this rule also matches "+method+
					". Use a separate rule for that method.")
				break
			}
		}
	}
	if rule.Remember != "" && rule.Forget != "" {
		refuse("/forget", "remember_and_forget", "A rule can remember or forget an object, but not both.")
	}
	return wrong
}

func checkRuleGroups(rule *snapshot.Rule) (wrong []fault.Field) {
	refuse := func(pointer, code, detail string) {
		wrong = append(wrong, fault.Field{Pointer: pointer, Code: code, Detail: detail})
	}
	for i, group := range rule.Groups {
		switch at := fmt.Sprintf("/groups/%d", i); {
		case !groupPattern.MatchString(group):
			refuse(at, "invalid_group", "Use the name of a group: lowercase letters, digits, dots, underscores or "+
				"hyphens.")
		case slices.Contains(rule.Groups[:i], group):
			refuse(at, "duplicate", "This group is listed twice. Remove one.")
		}
	}
	switch {
	case rule.Role != "" && rule.Role != snapshot.RoleMember && rule.Role != snapshot.RoleAdmin:
		refuse("/role", "invalid_role", "Use member or admin, or omit the role to allow any member.")
	case rule.Role != "" && len(rule.Groups) == 0:
		refuse("/role", "needs_groups", "A role requires groups. Add groups, or leave the role out.")
	}
	return wrong
}

func validRuleMethod(method string) bool {
	if method == "" || len(method) > maxRuleMethod || method == "CONNECT" || method == "TRACE" {
		return false
	}
	return strings.IndexFunc(method, func(r rune) bool { return (r < 'A' || r > 'Z') && r != '-' && r != '_' }) < 0
}

// validRuleScope reports whether scope is a scope-token (RFC 6749, 3.3) that is not a wildcard.
func validRuleScope(scope string) bool {
	if scope == "" || len(scope) > maxRuleScope {
		return false
	}
	return strings.IndexFunc(scope, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"\*,`, r)
	}) < 0
}

// readWriteScopes reports whether a new project asks keys for the scopes read and write: if calls need
// a credential, such as a key, and every key type has one of the scopes or *.
func (p plan) readWriteScopes() bool {
	needsKey := p.auth.Mode == snapshot.Authenticate && p.auth.Keyless == snapshot.Reject &&
		p.auth.Allows(snapshot.APIKey)
	return needsKey && !slices.ContainsFunc(p.Auth.KeyTypes, func(t contract.NewKeyType) bool {
		return !policy.HasScope(t.Scopes, policy.ScopeRead) && !policy.HasScope(t.Scopes, policy.ScopeWrite)
	})
}
