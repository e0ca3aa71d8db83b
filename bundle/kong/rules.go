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
	if requiresOwners(c.b.Project) {
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
		c.out.Value(m.TenantID + "/" + m.User) // apps of two tenants can have one name
		c.out.Raw(": ")
		c.out.Value(memberDoc{m.In, m.Admin})
	}
	c.out.Raw("\n      }")
}

// judgeRouteRule returns the place on Kong of a rule, or of the default for routes without a rule.
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

const editMembers = "To change a key owner's groups, edit `members` in gateway/gateway.yaml and restart the gateway."

func ruleFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "plugin",
			Status: bundle.Exact,
			How:    "the `postern-auth` plugin, `rules`",
			Note: "The plugin refuses the same calls with the same responses. Kong's `acl` plugin isn't used, " +
				"because it checks neither paths nor scopes, and its refusals don't have a code. Key owners keep the " +
				"groups that they had at the time of the export.",
			Remedy: editMembers,
		},
		{
			Reason: "acl",
			Status: bundle.Exact,
			How:    "the `postern-auth` plugin, `rules`, followed by the `acl` plugin of each route",
			Note: "The plugin refuses the same calls with the same responses. Every route in the version requires a " +
				"group, so Kong's `acl` plugin checks the caller's groups a second time. Key owners keep the groups " +
				"that they had at the time of the export.",
			Remedy: editMembers + " To require an additional group, also add it to `allow` in the `acl` plugin.",
		},
		{
			Reason: "no_roles",
			Status: bundle.Approximate,
			How:    "the `postern-auth` plugin, `rules`",
			Note: "Calls with keys, or with tokens issued before the export, are accepted or refused as before. " +
				"Group members " +
				"have no roles in the exported realm. At worst, a group admin who signs in to the realm is refused.",
			Remedy: "Before the export, put the admins into a separate group and require that group.",
		},
		{
			Reason: "token_groups",
			Status: bundle.Approximate,
			How:    "the `postern-auth` plugin, `rules`",
			Note: "Calls with keys are accepted or refused as before. For calls with tokens, Kong uses the groups in " +
				"the token; " +
				"the hosted gateway uses the directory. Tokens issued before the export contain at most 200 groups, " +
				"starting with the groups that rules name. At worst, the gateway refuses a user who joined the group " +
				"after the token was issued, or who is in more than 200 groups that rules name.",
			Remedy: "Have users sign in to the exported realm. Its tokens list all of a user's groups.",
		},
		{
			Reason: "owner",
			Title:  "Rules that require an owner",
			Status: bundle.Lossy,
			How:    "the `postern-auth` plugin, `rules`, with OpenFGA if it is running",
			Note: "The gateway asks OpenFGA who owns an object. Run start.sh with --authz to start OpenFGA. Without " +
				"OpenFGA, every call to this route gets 403 not_owner. With OpenFGA, the same callers are let " +
				"through. At worst, calls get 503 ownership_unavailable while OpenFGA isn't responding, and " +
				ownersLate,
			Remedy: "Start the gateway with ./start.sh --authz, or point OPENFGA_URL in gateway/.env to your own " +
				"OpenFGA.",
		},
		{
			Reason: "relations",
			Title:  "Rules that record owners",
			Status: bundle.Lossy,
			How:    "the `postern-auth` plugin, `rules`; owners in OpenFGA if it is running",
			Note: "The route requires the same scopes and groups. Owners are recorded and removed in OpenFGA, which " +
				"start.sh --authz starts. Without OpenFGA, they aren't recorded. At worst, " + ownersLate,
			Remedy: "Start the gateway with ./start.sh --authz, or point OPENFGA_URL in gateway/.env to your own " +
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
			How:    "the `postern-auth` plugin, `deny` and `read_write` in `rules`",
			Note: "Both gateways treat routes without a rule the same way, and keys need the `read` and `write` " +
				"scopes if the version requires them.",
		},
		{
			Reason: "open",
			Status: bundle.Exact,
			How:    "nothing is required",
			Note:   "Every caller that the access policy allows can still call routes without a rule.",
		},
		shadowRule(), offRule(),
	}
}

func shadowRule() bundle.Fate {
	return bundle.Fate{
		Reason: "shadow",
		Title:  "Rules in shadow mode",
		Status: bundle.Lossy,
		How:    "`authz/rules.json`",
		Note: "A rule in shadow mode doesn't refuse calls on either gateway. The exported gateway doesn't record " +
			"owners for the rule, and doesn't count the calls that the rule would have refused.",
		Remedy: "Enforce the rule before the export, or add it under `rules` in gateway/gateway.yaml.",
	}
}

func offRule() bundle.Fate {
	return bundle.Fate{
		Reason: "off",
		Title:  "Rules that are off",
		Status: bundle.Exact,
		How:    "left out",
		Note:   "The rule is off on both gateways.",
	}
}
