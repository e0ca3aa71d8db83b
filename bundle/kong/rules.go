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

// enforcedRules returns the rules of a version that the plugin enforces, and whether there are any: rules in shadow
// change no answer.
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

// judgeRouteRule returns the place on Kong of a rule, or of what applies to routes without a rule.
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

const editMembers = "To change the groups of an owner of keys, edit members in gateway/gateway.yaml and restart the " +
	"gateway."

func ruleFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "plugin",
			Status: bundle.Exact,
			How:    "plugin postern-auth, `rules`",
			Note: "The plugin refuses the same calls with the same answers. Kong's acl isn't used: it knows neither " +
				"paths nor scopes, and its refusals have no code. Owners of keys keep the groups that they had at " +
				"the export.",
			Remedy: editMembers,
		},
		{
			Reason: "acl",
			Status: bundle.Exact,
			How:    "plugin postern-auth, `rules`, and after it the plugin acl of each route",
			Note: "The plugin refuses the same calls with the same answers. Every route of the version requires " +
				"groups, so Kong's acl also lets only their members through. Owners of keys keep the groups that " +
				"they had at the export.",
			Remedy: editMembers + " To require another group, add it to allow of acl too.",
		},
		{
			Reason: "no_roles",
			Status: bundle.Approximate,
			How:    "plugin postern-auth, `rules`",
			Note: "The same calls are refused if they have a key, or a token from before the export. Memberships in " +
				"the exported realm have no roles. At worst, an admin of the group who signs in there is refused.",
			Remedy: "Before the export, put admins into a group of their own and require that group.",
		},
		{
			Reason: "token_groups",
			Status: bundle.Approximate,
			How:    "plugin postern-auth, `rules`",
			Note: "The same calls with keys are refused. For calls with tokens, Kong uses the groups in the token; " +
				"the hosted gateway uses the directory. Tokens from before the export have at most 200 groups, those " +
				"that rules name first. At worst, a user is refused who joined the group after the token was issued, " +
				"or who has more groups than that which rules name.",
			Remedy: "Have such users sign in again at the exported realm, whose tokens have all groups.",
		},
		{
			Reason: "owner",
			Status: bundle.Lossy,
			How:    "plugin postern-auth, `rules`, with OpenFGA if it runs",
			Note: "The gateway asks OpenFGA, which start.sh --authz starts, who owns an object. Without OpenFGA, " +
				"every call to this route is refused with not_owner. With OpenFGA, the same callers are let through. " +
				"At worst, calls get 503 ownership_unavailable while OpenFGA doesn't answer, and " + ownersLate,
			Remedy: "Start the gateway with ./start.sh --authz, or set OPENFGA_URL in gateway/.env to your own " +
				"OpenFGA.",
		},
		{
			Reason: "relations",
			Status: bundle.Lossy,
			How:    "plugin postern-auth, `rules`; owners in OpenFGA if it runs",
			Note: "The same scopes and groups are required. Owners are recorded and removed in OpenFGA, which " +
				"start.sh --authz starts. Without OpenFGA, they aren't recorded. At worst, " + ownersLate,
			Remedy: "Start the gateway with ./start.sh --authz, or set OPENFGA_URL in gateway/.env to your own " +
				"OpenFGA.",
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
			Note: "Routes without a rule are treated the same, and keys need the scopes read and write if the " +
				"version requires them.",
		},
		{
			Reason: "open",
			Status: bundle.Exact,
			How:    "nothing is required",
			Note:   "Routes without a rule are still open to every caller that the access policy admits.",
		},
		shadowRule(), offRule(),
	}
}

func shadowRule() bundle.Fate {
	return bundle.Fate{
		Reason: "shadow",
		Status: bundle.Lossy,
		How:    "`authz/rules.json`",
		Note: "A rule in shadow refuses no call on either gateway. The exported gateway doesn't record owners for " +
			"it, and doesn't count the calls that it would have refused.",
		Remedy: "Enforce the rule before the export, or add it below rules in gateway/gateway.yaml.",
	}
}

func offRule() bundle.Fate {
	return bundle.Fate{
		Reason: "off",
		Status: bundle.Exact,
		How:    "left out",
		Note:   "The rule is off on both gateways.",
	}
}
