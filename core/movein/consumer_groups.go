package movein

import (
	"slices"

	"postern/core/configfile"
	"postern/core/kongfile"
)

// consumerGroups are the consumer groups of a file, whose plugins apply to the calls of their members.
type consumerGroups struct {
	byName  map[string]*kongfile.Entity             // and by ID
	members map[*kongfile.Entity][]*kongfile.Entity // the groups of a consumer that don't list themselves at it
	plugins map[*kongfile.Entity]string             // a plugin of the group that is on and isn't harmless
}

// The lists of entities in which files have the members and the plugins of groups, apart from the nested ones.
const (
	groupMembers = kongfile.Type("consumer_group_consumers")
	groupPlugins = kongfile.Type("consumer_group_plugins")
)

func (p *planner) readConsumerGroups() {
	g := &p.consumerGroups
	g.byName, g.plugins = map[string]*kongfile.Entity{}, map[*kongfile.Entity]string{}
	g.members = map[*kongfile.Entity][]*kongfile.Entity{}
	all := p.file.Of(kongfile.ConsumerGroup)
	for _, e := range all {
		for _, name := range []string{e.Value.Get("name").Text, e.ID()} {
			if name != "" {
				g.byName[name] = e
			}
		}
	}
	for _, e := range slices.Concat(p.file.Of(kongfile.Plugin), p.file.Of(groupPlugins)) {
		if e.Group != nil && e.IsOn() && !slices.Contains(harmless, e.PluginName()) {
			g.plugins[e.Group] = e.PluginName()
		}
	}
	for _, e := range p.file.Of(groupMembers) {
		if e.Group != nil && e.Consumer != nil {
			g.members[e.Consumer] = append(g.members[e.Consumer], e.Group)
		}
	}
	if !slices.ContainsFunc(all, func(e *kongfile.Entity) bool { return e.Value.Get("consumers").IsSet() }) {
		return
	}
	consumers := map[string][]*kongfile.Entity{}
	for _, e := range p.file.Of(kongfile.Consumer) {
		for _, name := range []string{e.ID(), e.Value.Get("username").Text, e.Value.Get("custom_id").Text} {
			consumers[name] = append(consumers[name], e)
		}
	}
	for _, group := range all {
		for _, name := range namesIn(group.Value.Get("consumers"), "id", "username", "custom_id") {
			for _, e := range consumers[name] {
				g.members[e] = append(g.members[e], group)
			}
		}
	}
}

// namesIn returns the names in a list of references: texts, or objects with one of the members.
func namesIn(list configfile.Value, members ...string) (out []string) {
	for _, item := range append(slices.Clone(list.Items), configfile.Value{Text: list.Text}) {
		for _, text := range []string{item.Text, firstOf(item, members)} {
			if text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

func firstOf(v configfile.Value, members []string) string {
	for _, name := range members {
		if text := v.Get(name).Text; text != "" {
			return text
		}
	}
	return ""
}

// groupReasons returns why the consumer groups of a consumer freeze its keys.
func (p *planner) groupReasons(c *kongfile.Entity) (reasons []string) {
	groups := slices.Clone(p.consumerGroups.members[c])
	listed := c.Value.Get("groups")
	names := namesIn(listed, "id", "name")
	for _, name := range names {
		if group := p.consumerGroups.byName[name]; group != nil {
			groups = append(groups, group)
			continue
		}
		p.say(c, "consumer.group_missing")
		reasons = append(reasons, "its consumer group "+name+" isn't in the file")
	}
	if listed.IsSet() && len(names) == 0 && len(listed.Items)+len(listed.Members) > 0 {
		p.say(c, "consumer.group_missing")
		reasons = append(reasons, "its consumer groups are invalid")
	}
	if len(groups) > 0 {
		p.say(c, "consumer.groups")
	}
	for _, group := range groups {
		if plugin := p.consumerGroups.plugins[group]; plugin != "" {
			p.say(c, "consumer.group_plugin", group.Name())
			reasons = append(reasons,
				"the plugin "+plugin+" of its consumer group "+group.Name()+" can't be imported")
		}
	}
	slices.Sort(reasons)
	return slices.Compact(reasons)
}
