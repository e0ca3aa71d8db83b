package kong

import (
	"slices"

	"postern/bundle"
	"postern/core/snapshot"
)

type versionRulesDoc struct {
	Deny      bool            `json:"deny"`
	ReadWrite bool            `json:"read_write"`
	List      []snapshot.Rule `json:"list"` // without their modes: these are enforced
}

type memberDoc struct {
	Tenant string   `json:"tenant,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Admin  []string `json:"admin,omitempty"`
}

// enforcedRules returns what the plugin enforces of the rules of a version, and whether that is
// anything: rules in shadow change no answer.
func enforcedRules(v *snapshot.Version) (versionRulesDoc, bool) {
	doc := versionRulesDoc{List: []snapshot.Rule{}}
	if v.Rules.ModeOf(&snapshot.Rule{}) == snapshot.RulesEnforce {
		doc.Deny, doc.ReadWrite = v.Rules.Default == snapshot.RulesDeny, v.Rules.ReadWriteScopes
	}
	for i := range v.Rules.List {
		if rule := v.Rules.List[i]; v.Rules.ModeOf(&rule) == snapshot.RulesEnforce {
			rule.Mode = ""
			doc.List = append(doc.List, rule)
		}
	}
	return doc, doc.Deny || doc.ReadWrite || len(doc.List) > 0
}

// rules writes what routes require, and which owners of keys are in groups that rules name.
func (c *configWriter) rules() {
	byVersion := map[string]versionRulesDoc{}
	for i := range c.b.Project.Versions {
		if doc, enforced := enforcedRules(&c.b.Project.Versions[i]); enforced {
			byVersion[c.b.Project.Versions[i].ID] = doc
		}
	}
	if len(byVersion) == 0 {
		return
	}
	c.out.Raw(",\n      \"rules\": ")
	c.out.Value(byVersion)
	if asksForOwners(c.b.Project) {
		c.out.Raw(",\n      \"openfga\": ")
		c.out.Value(openFGAOf(c.b.Project))
	}
	members := c.b.Members()
	if len(members) == 0 {
		return
	}
	c.out.Raw(",\n      \"members\": ")
	c.out.Open("{")
	for _, m := range members {
		c.out.Next("        ")
		c.out.Value(m.User)
		c.out.Raw(": ")
		c.out.Value(memberDoc{m.TenantID, m.In, m.Admin})
	}
	c.out.Raw("\n      }")
}

// judgeRouteRule returns where a rule, or what routes without one get, is on Kong.
func judgeRouteRule(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	rule := s.Rule
	if rule == nil {
		rule = &snapshot.Rule{}
	}
	switch s.Version.Rules.ModeOf(rule) {
	case snapshot.RulesShadow:
		return bundle.Verdict{Reason: "shadow"}
	case snapshot.RulesOff:
		return bundle.Verdict{Reason: "off"}
	}
	doc, enforced := enforcedRules(s.Version)
	if !enforced {
		return bundle.Verdict{Reason: "open"}
	}
	here := "/plugins/0/config/rules/" + s.Version.ID
	if s.Rule == nil {
		return bundle.Verdict{Target: bundle.At(gatewayFile, "%s", here)}
	}
	place := slices.IndexFunc(doc.List, func(one snapshot.Rule) bool { return one.ID == rule.ID })
	v := bundle.Verdict{Target: bundle.At(gatewayFile, "%s/list/%d", here, place)}
	switch {
	case rule.Owner != "":
		v.Reason = "owner"
	case rule.Remember != "" || rule.Forget != "":
		v.Reason = "relations"
	case rule.Role == snapshot.RoleAdmin && hasRealm(b):
		v.Reason = "no_roles"
	case len(rule.Groups) > 0 && hasRealm(b):
		v.Reason = "token_groups"
	case len(closedTo(s.Version)) > 0:
		v.Reason = "acl"
	}
	return v
}

const editMembers = "To change the groups of an owner of keys, edit members in gateway/gateway.yaml and start the " +
	"gateway again."

func ruleFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "plugin",
			Status: bundle.Exact,
			How:    "plugin postern-auth, `rules`",
			Note: "The same calls are refused with the same answers, by the plugin: Kong's acl knows neither paths " +
				"nor scopes, and its refusals have no code. Owners of keys are in the groups that they were in at " +
				"the export.",
			Remedy: editMembers,
		},
		{
			Reason: "acl",
			Status: bundle.Exact,
			How:    "plugin postern-auth, `rules`, and behind it plugin acl of each route",
			Note: "The same calls are refused with the same answers, by the plugin. Every route of the version asks " +
				"for groups, so that Kong's acl lets nobody else through either. Owners of keys are in the groups " +
				"that they were in at the export.",
			Remedy: editMembers + " To ask for another group, add it to allow of acl too.",
		},
		{
			Reason: "no_roles",
			Status: bundle.Approximate,
			How:    "plugin postern-auth, `rules`",
			Note: "The same calls with keys, and with tokens from before the export, are refused. Memberships of the " +
				"exported realm have no roles: at worst an admin of the group who signs in there is refused.",
			Remedy: "Put admins into a group of their own before the export, and ask for that group.",
		},
		{
			Reason: "token_groups",
			Status: bundle.Approximate,
			How:    "plugin postern-auth, `rules`",
			Note: "The same calls with keys are refused. Calls with tokens are decided by the groups in the token, " +
				"and here by the directory. Tokens from before the export have at most 200 groups, those that rules " +
				"name first: at worst a user who joined the group after the token was issued, or whose rules name " +
				"more groups than that, is refused.",
			Remedy: "Have such users sign in again at the exported realm, whose tokens have all groups.",
		},
		{
			Reason: "owner",
			Status: bundle.Lossy,
			How:    "plugin postern-auth, `rules`, by OpenFGA where it runs",
			Note: "Only OpenFGA, which start.sh --authz starts, says who owns an object. Without it every call to " +
				"this route is refused with not_owner. With it the same callers are let through; at worst calls are " +
				"answered 503 ownership_unavailable while it does not answer, and " + ownersLate,
			Remedy: "Start the gateway with ./start.sh --authz, or set OPENFGA_URL in gateway/.env to an OpenFGA of " +
				"yours.",
		},
		{
			Reason: "relations",
			Status: bundle.Lossy,
			How:    "plugin postern-auth, `rules`; owners at OpenFGA where it runs",
			Note: "Scopes and groups are asked for alike. Owners are recorded and removed at OpenFGA, which start.sh " +
				"--authz starts, and nowhere without it. At worst " + ownersLate,
			Remedy: "Start the gateway with ./start.sh --authz, or set OPENFGA_URL in gateway/.env to an OpenFGA of " +
				"yours.",
		},
		shadowRule(), offRule(),
	}
}

func ruleDefaultFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "plugin",
			Status: bundle.Exact,
			How:    "plugin postern-auth, `deny` and `read_write` of `rules`",
			Note: "Routes without a rule get the same, and the scopes read and write are asked of keys alike where " +
				"the version asks for them.",
		},
		{
			Reason: "open",
			Status: bundle.Exact,
			How:    "nothing is required",
			Note:   "Routes without a rule are open to whoever the access policy admits, here as there.",
		},
		shadowRule(), offRule(),
	}
}

func shadowRule() bundle.Fate {
	return bundle.Fate{
		Reason: "shadow",
		Status: bundle.Lossy,
		How:    "`authz/rules.json`",
		Note: "What is in shadow refuses no call, here as there. The exported gateway records no owners by it, nor " +
			"counts the calls that it would have refused.",
		Remedy: "Enforce the rule before the export, or add it below rules in gateway/gateway.yaml.",
	}
}

func offRule() bundle.Fate {
	return bundle.Fate{
		Reason: "off",
		Status: bundle.Exact,
		How:    "left out",
		Note:   "The rule is off, here as there.",
	}
}
