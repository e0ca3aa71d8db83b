package movein

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"postern/core/awsfile"
	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/keyfile"
)

// planGroups gives each usage plan a group: its keys are the owners in it. The name has the ID of the plan, since plans
// of other imports can have the same name, and their keys must not be let in.
func (p *awsPlanner) planGroups() {
	names := taken{awsClosed: 2, awsKeys: 2}
	for _, e := range p.files.Plans {
		if id := e.Value.Get("id").Text; id != "" {
			name, suffix := groupName(e.Name), groupName("-"+id)
			suffix = "-" + suffix[:min(len(suffix), maxGroup/2)]
			p.groups[id] = names.unique(name[:min(len(name), maxGroup-len(suffix))]+suffix, maxGroup)
		}
	}
}

// groupsOf returns the groups of the usage plans whose keys a stage of an API accepts.
func (p *awsPlanner) groupsOf(a *api) (groups []string) {
	id := cmp.Or(a.ID, p.onlyID())
	for _, e := range p.files.Plans {
		for _, stage := range e.Value.Get("apiStages").Items {
			if stage.Get("stage").Text != a.Stage || stage.Get("apiId").Text != id {
				continue
			}
			p.use(e)
			group := p.groups[e.Value.Get("id").Text]
			if group == "" {
				continue
			}
			if p.planAPIs[e] == nil {
				p.planAPIs[e] = map[string]bool{}
			}
			p.planAPIs[e][a.source()] = true
			p.addGroup(group, displayName(e.Name))
			groups = append(groups, group)
			if hasThrottleOfMethod(stage) {
				p.say(e, "usage_plan.methods")
			}
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
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
	plans  []*awsfile.Entity
	frozen string // code of why it is imported frozen, "" if it isn't
}

// planKeys makes an owner of each API key.
func (p *awsPlanner) planKeys() {
	members := p.planMembers()
	disabled := map[string]bool{} // IDs: a key that one of the files has as disabled isn't valid
	known := map[string]bool{}
	for _, e := range p.files.Keys {
		id, enabled := e.Value.Get("id").Text, e.Value.Get("enabled")
		known[id] = true
		disabled[id] = disabled[id] || enabled.IsSet() && !enabled.Bool(false)
	}
	var keys []awsKey
	for _, e := range p.files.Keys {
		one := awsKey{entity: e, id: e.Value.Get("id").Text}
		switch {
		case disabled[one.id]:
			one.frozen = "api_key.disabled"
		case !e.Value.Get("enabled").IsSet():
			one.frozen = "api_key.unknown"
		}
		keys = append(keys, one)
	}
	for _, member := range p.files.PlanKeys { // they have values too, but don't say whether they are disabled
		if id := member.Value.Get("id").Text; !known[id] {
			known[id] = true
			keys = append(keys, awsKey{entity: member.Entity, id: id, frozen: "api_key.unknown"})
		}
	}
	seen := map[[32]byte]bool{}
	for _, one := range keys {
		one.plans = members[one.id]
		p.planKey(one, seen)
	}
}

// planMembers returns the usage plans of keys by their IDs.
func (p *awsPlanner) planMembers() map[string][]*awsfile.Entity {
	plans := map[string]*awsfile.Entity{}
	for _, e := range p.files.Plans {
		if id := e.Value.Get("id").Text; plans[id] == nil {
			plans[id] = e
		}
	}
	members := map[string][]*awsfile.Entity{}
	for _, member := range p.files.PlanKeys {
		id, plan := member.Value.Get("id").Text, plans[member.Plan]
		switch {
		case member.Plan == "":
			p.say(member.Entity, "usage_plan_key.no_plan")
		case id != "" && plan != nil && !slices.Contains(members[id], plan):
			p.use(member.Entity)
			members[id] = append(members[id], plan)
		}
	}
	return members
}

// planKey makes the owner of a key. Its name has the ID of the key: several keys can have one name, and an owner's keys
// have the same groups.
func (p *awsPlanner) planKey(one awsKey, seen map[[32]byte]bool) {
	e := one.entity
	found, reason := p.plan.takeKey(e.Value.Get("value"), seen)
	if reason != "" {
		p.need(e.Value.Get("value"))
		p.say(e, "api_key."+reason)
	}
	if reason != "" && reason != weakAllowed {
		return
	}
	name := cmp.Or(e.Value.Get("name").Text, "key")
	if one.id != "" && name != one.id {
		name += "-" + one.id
	}
	if strings.HasPrefix(name, userPrefix) {
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
	for _, plan := range one.plans {
		p.addLimits(plan, &o)
		if group := p.groups[plan.Value.Get("id").Text]; p.hasGroup[group] {
			o.Groups = append(o.Groups, group)
		}
	}
	if len(one.plans) > 1 {
		p.say(e, "api_key.plans")
	}
	switch {
	case one.frozen != "":
	case len(one.plans) == 0:
		one.frozen = "api_key.no_plan"
	case slices.ContainsFunc(one.plans, func(plan *awsfile.Entity) bool { return isZero(plan.Value) }):
		one.frozen = "api_key.zero"
	}
	if one.frozen != "" {
		p.say(e, one.frozen)
		o.Frozen, key.State = true, contract.KeyFrozen
		p.plan.Keys.Frozen++
	}
	p.plan.Keys.Imported++
	p.use(e)
	p.plan.Owners, p.plan.OwnerKeys = append(p.plan.Owners, o), append(p.plan.OwnerKeys, []Key{key})
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

// isZero reports whether a usage plan lets no call through, or has a limit that can't be read.
func isZero(plan configfile.Value) bool {
	throttle, quota := plan.Get("throttle"), plan.Get("quota", "limit")
	rate, burst := throttle.Get("rateLimit"), throttle.Get("burstLimit")
	return rate.IsSet() && !(rate.Float(0) > 0) || burst.IsSet() && !(burst.Float(0) >= 1) ||
		quota.IsSet() && !(quota.Float(0) >= 1 && quota.Float(0) < math.MaxInt64)
}
