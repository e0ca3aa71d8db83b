package policy

import (
	"cmp"
	"strings"

	"postern/core/snapshot"
)

// Question describes a call that Explain decides without forwarding it.
type Question struct {
	ProjectID   string
	Version     string // name; "" with a host
	Environment string // name; "" with a host
	Host        string // a custom domain; "": the environment's own address
	Method      string
	Path        string     // below the environment's prefix, or at the host, as a caller would write it
	KeyHash     *[32]byte  // of the call's key; nil: none
	User        *TokenUser // the owner of the call's token; nil: none
}

// TokenUser is an end user who calls with a token of one of the app clients of their tenant.
type TokenUser struct {
	ID, TenantID string
	Scopes       []string
}

// The steps of an Explanation. ExplainSteps has their titles.
const (
	ExplainRoute        = "route"
	ExplainAuthenticate = "authenticate"
	ExplainAddress      = "address"
	ExplainAuthorize    = "authorize"
	ExplainShadow       = "shadow"
	ExplainOwnership    = "ownership"
	ExplainLimits       = "limits"
	ExplainDocument     = "document"
	ExplainValidate     = "validate"
	ExplainForward      = "forward"
)

// ExplainStep is a step with its title.
type ExplainStep struct{ Name, Title string }

// ExplainSteps returns the steps in their order.
func ExplainSteps() []ExplainStep {
	return []ExplainStep{
		{ExplainRoute, "Route"},
		{ExplainAuthenticate, "Authentication"},
		{ExplainAddress, "Address"},
		{ExplainAuthorize, "Rules"},
		{ExplainShadow, "Shadow rules"},
		{ExplainOwnership, "Ownership"},
		{ExplainLimits, "Limits"},
		{ExplainDocument, "OpenAPI document"},
		{ExplainValidate, "Validation"},
		{ExplainForward, "Forward"},
	}
}

// ExplainTitle returns the title of a step, "" if it is unknown.
func ExplainTitle(name string) string {
	for _, step := range ExplainSteps() {
		if step.Name == name {
			return step.Title
		}
	}
	return ""
}

// The outcomes of a step.
const (
	OutcomePass   = "pass"
	OutcomeDeny   = "deny"
	OutcomeSkip   = "skip"         // the step doesn't apply, or depends on something that isn't part of a question
	OutcomeRefuse = "would_refuse" // rules in shadow, or a validation that only reports, would refuse the call
)

// Step is one step of a decision.
type Step struct{ Step, Outcome, Detail string }

// Explanation is a gateway's decision about a Question.
type Explanation struct {
	Denial    Denial // zero: the call is forwarded
	Steps     []Step
	DecidedBy string // the step, or the rule or default that decided; see RuleOutcome
	Exported  Denial // of the exported gateway; zero: it forwards the call
}

// Skip adds a step that isn't checked.
func (e *Explanation) Skip(step, detail string) { e.add(step, OutcomeSkip, detail) }

// Report adds a step that would refuse the call if it were enforced.
func (e *Explanation) Report(step, detail string) { e.add(step, OutcomeRefuse, detail) }

// add appends a step, and ends the explanation with a denial.
func (e *Explanation) add(step, outcome, detail string) {
	e.Steps = append(e.Steps, Step{step, outcome, detail})
}

// Deny adds a step that refuses the call, and ends the explanation.
func (e *Explanation) Deny(step string, d Denial, by string) {
	e.add(step, OutcomeDeny, d.Message)
	e.Denial, e.Exported, e.DecidedBy = d, d, by
}

// detail adds text to the detail of the last step.
func (e *Explanation) detail(text string) {
	last := &e.Steps[len(e.Steps)-1]
	last.Detail = strings.TrimSpace(last.Detail + " " + text)
}

// Pass adds a step that the call passes.
func (e *Explanation) Pass(step, detail string) { e.add(step, OutcomePass, detail) }

// Explain decides a call as Decide does, and adds its steps. The caller's address isn't part of a question: address
// ranges are named, but not checked.
func (e *Explanation) Explain(c *Call) {
	d := authenticate(c)
	if !d.Allow {
		e.Deny(ExplainAuthenticate, d.Denial, ExplainAuthenticate)
		e.keyPlace(c.Access)
		return
	}
	e.Pass(ExplainAuthenticate, whoIs(&d.Identity, c))
	e.keyPlace(c.Access)
	if ip := &c.Access.IP; len(ip.Allow)+len(ip.Deny) > 0 || (c.Key != nil && len(c.Key.AllowedIPs) > 0) {
		e.add(ExplainAddress, OutcomeSkip, "Calls are accepted only from some addresses. This explanation doesn't "+
			"check addresses.")
	}
	enforced, shadow := c.Rules.decide(c, &d.Identity)
	if enforced.Denial != (Denial{}) {
		e.Deny(ExplainAuthorize, enforced.Denial, enforced.By)
		e.detail(c.lacks(c.Rules.enforced, &d.Identity, enforced))
		return
	}
	e.DecidedBy = enforced.By
	switch {
	case c.Rules == nil:
		e.add(ExplainAuthorize, OutcomeSkip, "The version has no rules.")
	case enforced.By == "":
		e.Pass(ExplainAuthorize, "No enforced rule matches this route, and routes without a rule are allowed.")
	default:
		e.Pass(ExplainAuthorize, strings.TrimSpace("The rule "+enforced.By+" allows the call. "+
			c.ownerDetail(c.Rules.enforced, &d.Identity)))
	}
	if shadow.Denial != (Denial{}) {
		e.add(ExplainShadow, OutcomeRefuse, "In shadow mode, "+shadow.By+" would refuse the call with "+
			shadow.Denial.Code+".")
		e.detail(c.lacks(c.Rules.shadow, &d.Identity, shadow))
	}
	if track := c.Rules.tracking(c); track != nil {
		e.Pass(ExplainOwnership, track.detail(c, &d.Identity))
	}
	e.DecidedBy = cmp.Or(e.DecidedBy, ExplainForward)
	if c.Token != nil && c.Rules.requiresAdmin(c) {
		e.Exported = NotInGroup // memberships of the exported realm have no roles
	}
	e.add(ExplainLimits, OutcomeSkip, "This explanation doesn't check limits or count the call.")
}

// keyPlace adds to the last step where keys belong, unless the step says so already.
func (e *Explanation) keyPlace(access *snapshot.Access) {
	if !access.Allows(snapshot.APIKey) {
		return
	}
	if place := KeyPlaceText(access.APIKey); !strings.Contains(e.Steps[len(e.Steps)-1].Detail, place) {
		e.detail("Callers send their keys " + place + ".")
	}
}

// whoIs names the caller and its scopes.
func whoIs(id *Identity, c *Call) string {
	scopes := ", which has no scopes."
	if len(id.Scopes) > 0 {
		scopes = ", which has the scopes " + strings.Join(id.Scopes, " ") + "."
	}
	switch {
	case id.CredentialID != "":
		return "The call uses the key " + id.CredentialID + " for " + id.Owner + scopes
	case c.Token != nil:
		return "The call uses a token for " + c.Token.Subject + scopes
	case id.Owner != "":
		return "The call has no credential, so it is assigned to the fallback owner " + id.Owner + "."
	}
	return "The call has no credential."
}

// lacks says which requirement of the rules the caller of a refused call doesn't meet; "" if the denial already says
// so.
func (c *Call) lacks(set *ruleSet, id *Identity, refused RuleOutcome) string {
	if refused.Denial == NotOwner {
		return c.ownerDetail(set, id)
	}
	if refused.By == ByReadWriteScopes {
		return "Keys require the " +
			"scope " + scopeOf(c.Method) + " for " + c.Method + " if no enforced rule requires scopes " +
			"(read_write_scopes)."
	}
	rule := set.ruleFor(c, refused.By)
	if rule == nil {
		return ""
	}
	if refused.Denial == NotInGroup {
		role := ""
		if rule.Role == snapshot.RoleAdmin {
			role = ", with the admin role"
		}
		return "The rule requires one of the groups " + strings.Join(rule.Groups, ", ") + role + "."
	}
	var missing []string
	for _, scope := range rule.Scopes {
		if !HasScope(id.Scopes, scope) {
			missing = append(missing, scope)
		}
	}
	if len(missing) > 1 {
		return "The missing scopes are " + strings.Join(missing, " ") + "."
	}
	return "The missing scope is " + missing[0] + "."
}

// ruleFor returns the rule with that ID, if it matches some reading of a call's path; otherwise nil.
func (s *ruleSet) ruleFor(c *Call, id string) *rule {
	if found := s.tree.find(c.Path, c.Method, true); found != nil && found.ID == id {
		return found
	}
	for as := range readings {
		if found := s.tree.findBytes(as.of(nil, c.Path), c.Method); found != nil && found.ID == id {
			return found
		}
	}
	return nil
}

// ownerDetail says which object's owner the rule of a call's route requires; "" if it doesn't require one.
func (c *Call) ownerDetail(set *ruleSet, id *Identity) string {
	if set == nil {
		return ""
	}
	found := set.tree.find(c.Path, c.Method, true)
	if found == nil || found.owner == nil {
		return ""
	}
	object, ok := found.owner.fromPath(nil, c.Path, true)
	user := c.RelationUser(id)
	switch {
	case !ok:
		return "The path doesn't contain an object."
	case user == "":
		return "It requires the owner of " + string(object) + ", and callers without a credential can't own objects."
	case c.owns(id, found.owner, c.Path, true):
		return user + " owns " + string(object) + ". The exported gateway checks this with OpenFGA, and refuses the " +
			"call without OpenFGA."
	}
	return user + " doesn't own " + string(object) + "."
}

// detail says what happens to the owners of a call's object after a 2xx response.
func (t *Tracking) detail(c *Call, id *Identity) string {
	user := c.RelationUser(id)
	switch {
	case user == "" || id.TenantID == "":
		return "The rule " + t.Rule + " doesn't change owners for calls without a credential."
	case t.Forgets():
		object, _ := t.Forgotten(c.Path)
		return "After a 2xx response, the rule " + t.Rule + " removes all owners of " + object + "."
	}
	return "After a 2xx response, the rule " + t.Rule + " records " + user + " as the owner of the object that " +
		"the rule names."
}

// requiresAdmin reports whether the enforced rule of a call's route requires the role admin.
func (r *Rules) requiresAdmin(c *Call) bool {
	if r == nil || r.enforced == nil {
		return false
	}
	rule := r.enforced.tree.find(c.Path, c.Method, true)
	return rule != nil && rule.Role == snapshot.RoleAdmin
}

// TokenOf returns a token as the user would get it from one of their tenant's app clients whose tokens reach the
// upstream or are dropped; nil if the project has no such app client.
func (r *Realm) TokenOf(user *TokenUser) *Token {
	var found *snapshot.AppClient
	provider := ""
	for _, client := range r.clients {
		if client.TenantID != user.TenantID || client.Frozen || (found != nil && found.ID < client.ID) {
			continue
		}
		for i := range client.Providers {
			if as := client.Providers[i].UpstreamToken; as == snapshot.ServiceToken || as == snapshot.NoToken {
				found, provider = client, client.Providers[i].ID
			}
		}
	}
	if found == nil {
		return nil
	}
	return &Token{
		Issuer:  found.Issuer,
		Subject: user.ID,
		Scopes:  user.Scopes,
		Hosted:  Hosted{Client: found.ID, Provider: provider},
	}
}
