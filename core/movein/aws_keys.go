package movein

import (
	"cmp"
	"slices"

	"postern/core/awsfile"
	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/keyfile"
)

// planGroups gives each usage plan a group: its keys are the owners in it.
func (p *awsPlanner) planGroups() {
	names := taken{awsClosed: 2, awsKeys: 2}
	for _, e := range p.files.Plans {
		if id := e.Value.Get("id").Text; id != "" {
			p.groups[id] = names.unique(groupName(e.Name), maxGroup)
		}
	}
}

// groupsOf returns the groups of the usage plans whose keys a stage of an API accepts.
func (p *awsPlanner) groupsOf(a *api) (groups []string) {
	for _, e := range p.files.Plans {
		for _, stage := range e.Value.Get("apiStages").Items {
			if stage.Get("stage").Text != a.Export.Stage || stage.Get("apiId").Text != cmp.Or(a.ID, p.onlyID()) {
				continue
			}
			p.use(e)
			group := p.groups[e.Value.Get("id").Text]
			p.addGroup(group, e.Name)
			if !slices.Contains(groups, group) {
				groups = append(groups, group)
			}
			if hasThrottleOfMethod(stage) {
				p.say(e, "usage_plan.methods")
			}
		}
	}
	slices.Sort(groups)
	return groups
}

// onlyID returns the ID of the API that all usage plans are for, "" if they are for several: an export with custom
// domain names only doesn't have its ID.
func (p *awsPlanner) onlyID() string {
	id := ""
	for _, e := range p.files.Plans {
		for _, stage := range e.Value.Get("apiStages").Items {
			own := stage.Get("apiId").Text
			if id != "" && own != id {
				return ""
			}
			id = own
		}
	}
	if len(p.files.Exports) > 1 {
		return ""
	}
	return id
}

func hasThrottleOfMethod(stage configfile.Value) bool { return len(stage.Get("throttle").Members) > 0 }

// awsKey is an API key of the files.
type awsKey struct {
	entity *awsfile.Entity
	id     string
}

// planKeys makes an owner of each API key.
func (p *awsPlanner) planKeys() {
	var keys []awsKey
	known := map[string]bool{}
	for _, e := range p.files.Keys {
		one := awsKey{e, e.Value.Get("id").Text}
		known[one.id] = true
		keys = append(keys, one)
	}
	for _, member := range p.files.PlanKeys { // they have values too
		if id := member.Value.Get("id").Text; !known[id] {
			known[id] = true
			keys = append(keys, awsKey{member.Entity, id})
		}
	}
	seen := map[[32]byte]bool{}
	for _, one := range keys {
		p.planKey(one, seen)
	}
	for _, member := range p.files.PlanKeys {
		if member.Plan == "" {
			p.say(member.Entity, "usage_plan_key.no_plan")
		}
	}
}

func (p *awsPlanner) planKey(one awsKey, seen map[[32]byte]bool) {
	e := one.entity
	found, reason := p.plan.takeKey(e.Value.Get("value"), seen)
	if reason != "" {
		for _, name := range e.Value.Get("value").Unfilled() {
			p.needed[name] = true
		}
		p.say(e, "api_key."+reason)
	}
	if reason != "" && reason != weakAllowed {
		return
	}
	name := cmp.Or(e.Value.Get("name").Text, one.id, "key")
	if len(name) >= len(userPrefix) && name[:len(userPrefix)] == userPrefix {
		name = "key-" + name
	}
	o := contract.PlannedOwner{
		Name: p.owners.unique(name, maxOwner), Groups: []string{}, AllowedCIDRs: []string{}, Limits: contract.Limits{},
		Keys: 1,
	}
	key := Key{
		SHA256: found.SHA256, Last4: found.Last4, CredentialID: one.id, State: contract.KeyActive, Pointer: e.Pointer,
		Line: e.Line,
	}
	plans := p.plansOf(one.id)
	for _, plan := range plans {
		p.addLimits(plan, &o)
		if group := p.groups[plan.Value.Get("id").Text]; p.isGroup(group) {
			o.Groups = append(o.Groups, group)
		}
	}
	if p.isGroup(awsKeys) {
		o.Groups = append(o.Groups, awsKeys)
	}
	if len(plans) > 1 && len(o.Limits) > 0 {
		p.say(e, "api_key.plans")
	}
	switch enabled := e.Value.Get("enabled"); {
	case enabled.IsSet() && !enabled.Bool(false):
		o.Frozen = true
		p.say(e, "api_key.disabled")
	case len(plans) == 0:
		o.Frozen = true
		p.say(e, "api_key.no_plan")
	case slices.ContainsFunc(plans, func(plan *awsfile.Entity) bool { return isZero(plan.Value) }):
		o.Frozen = true
		p.say(e, "api_key.zero")
	}
	if o.Frozen {
		key.State = contract.KeyFrozen
		p.plan.Keys.Frozen++
	}
	p.plan.Keys.Imported++
	p.use(e)
	p.plan.Owners, p.plan.OwnerKeys = append(p.plan.Owners, o), append(p.plan.OwnerKeys, []Key{key})
}

func (p *awsPlanner) isGroup(name string) bool {
	return slices.ContainsFunc(p.plan.Groups, func(one contract.NewGroup) bool { return one.Name == name })
}

// plansOf returns the usage plans of a key.
func (p *awsPlanner) plansOf(key string) (plans []*awsfile.Entity) {
	for _, member := range p.files.PlanKeys {
		if member.Value.Get("id").Text != key || key == "" || member.Plan == "" {
			continue
		}
		p.use(member.Entity)
		for _, plan := range p.files.Plans {
			if plan.Value.Get("id").Text == member.Plan {
				plans = append(plans, plan)
			}
		}
	}
	return plans
}

// addLimits gives an owner the limits of a usage plan. Of several plans, the stricter ones count.
func (p *awsPlanner) addLimits(plan *awsfile.Entity, o *contract.PlannedOwner) {
	v := plan.Value
	u := keyfile.UsagePlan{
		Rate: v.Get("throttle", "rateLimit").Float(0), Quota: int64(v.Get("quota", "limit").Float(0)),
		Period: v.Get("quota", "period").Text,
	}
	limits, weekly := u.Limits()
	for window, n := range limits {
		if own, limited := o.Limits[window]; !limited || n < own {
			o.Limits[window] = n
		}
	}
	if u.Rate > 0 {
		p.say(plan, "usage_plan.rate")
	}
	if weekly {
		p.say(plan, "usage_plan.week")
	}
	if v.Get("quota", "offset").Float(0) != 0 {
		p.say(plan, "usage_plan.offset")
	}
}

// isZero reports whether a usage plan lets no call through.
func isZero(plan configfile.Value) bool {
	rate, quota := plan.Get("throttle", "rateLimit"), plan.Get("quota", "limit")
	return rate.IsSet() && rate.Float(-1) == 0 || quota.IsSet() && quota.Float(-1) == 0
}
