package protocol

import (
	"encoding/json"
	"strings"

	"postern/core/filelimits"
)

// GroupChange is the change of a group and its members in a request.
type GroupChange struct {
	DisplayName, ExternalID *string
	Clear                   bool // everything that is in it leaves first
	Add, Remove             []string
	Unkept                  []string // attributes in the request that are not stored
}

// groupEdit collects the changes of a request in their order.
type groupEdit struct {
	GroupChange
	joins   map[string]bool // by id of the members that the request names: whether they join or leave
	order   []string        // of the ids
	members func() ([]Reference, error)
	steps   int64
}

// ParseGroup returns the group in the body of a POST or PUT.
func ParseGroup(raw []byte) (GroupChange, error) {
	edit := groupEdit{GroupChange: GroupChange{ExternalID: new(string), Clear: true}, joins: map[string]bool{}}
	if err := parseResource(raw, groupKind, &edit); err != nil {
		return edit.GroupChange, err
	}
	if edit.DisplayName == nil || *edit.DisplayName == "" {
		return edit.GroupChange, invalid("invalidValue", "displayName is required.")
	}
	return edit.result(), nil
}

// ParseGroupPatch returns the changes of a group in a PATCH body. members returns who is in the group; it is called
// for filters that the path alone does not answer.
func ParseGroupPatch(raw []byte, members func() ([]Reference, error)) (GroupChange, error) {
	edit := groupEdit{joins: map[string]bool{}, members: members}
	err := applyPatch(raw, groupKind, &edit)
	return edit.result(), err
}

func (g *groupEdit) result() GroupChange {
	for _, id := range g.order {
		if g.joins[id] {
			g.Add = append(g.Add, id)
		} else {
			g.Remove = append(g.Remove, id)
		}
	}
	return g.GroupChange
}

func (g *groupEdit) unkept(name string) { g.Unkept = noted(g.Unkept, name) }

func (g *groupEdit) apply(op string, p path, value json.RawMessage) error {
	if p.attribute == "members" {
		return g.applyMembers(op, p, value)
	}
	into := &g.DisplayName
	if p.attribute == "externalid" {
		into = &g.ExternalID
	}
	if op == "remove" {
		if p.attribute == "displayname" {
			return invalid("mutability", "displayName can't be removed. Replace it.")
		}
		value = json.RawMessage(`""`)
	}
	content, err := text(value)
	*into = &content
	return err
}

func (g *groupEdit) applyMembers(op string, p path, value json.RawMessage) error {
	switch {
	case p.part != "":
		return invalid("mutability", "You can't change parts of a member. Add or remove the whole member.")
	case p.filter != nil && op != "remove":
		return invalid("invalidPath", "You can only remove a member with this path. To add a member, use the path "+
			"members.")
	case p.filter != nil:
		return g.removeMatching(p.filter)
	}
	ids, err := references(value)
	switch {
	case err != nil:
		return err
	case op == "replace", op == "remove" && len(value) == 0: // not an empty list (RFC 7644, 3.5.2.2)
		g.Clear, g.order = true, nil
		clear(g.joins)
	}
	for _, id := range ids {
		g.note(id, op != "remove")
	}
	return nil
}

func (g *groupEdit) note(id string, joins bool) {
	if _, known := g.joins[id]; !known {
		g.order = append(g.order, id)
	}
	g.joins[id] = joins
}

// removeMatching removes the members that match a filter. Members that it names by id may have left already:
// provisioning systems repeat a removal.
func (g *groupEdit) removeMatching(f *filter) error {
	if ids, ok := f.ids(nil); ok {
		for _, id := range ids {
			g.note(id, false)
		}
		return nil
	}
	matched, size := false, f.size()
	match := func(id, display string) error {
		if g.steps += size; g.steps > filelimits.SCIMComparisons.Most {
			return invalid("tooMany", filelimits.SCIMComparisons.Sentence())
		}
		kind := "User"
		if strings.HasPrefix(id, "grp_") {
			kind = "Group"
		}
		if f.matches(value{"value": id, "display": display, "type": kind}) {
			g.note(id, false)
			matched = true
		}
		return nil
	}
	for _, id := range g.order {
		if g.joins[id] {
			if err := match(id, ""); err != nil {
				return err
			}
		}
	}
	var now []Reference
	if !g.Clear {
		var err error
		if now, err = g.members(); err != nil {
			return err
		}
	}
	for _, one := range now {
		if _, named := g.joins[one.Value]; named {
			continue
		}
		if err := match(one.Value, one.Display); err != nil {
			return err
		}
	}
	if !matched {
		return invalid("noTarget", "None of the members matches the filter in the path.")
	}
	return nil
}

// size returns how many comparisons a filter makes.
func (f *filter) size() int64 {
	if len(f.of) == 0 {
		return 1
	}
	n := int64(0)
	for _, inner := range f.of {
		n += inner.size()
	}
	return n
}

// ids adds the ids that a filter names to out, if it does nothing else.
func (f *filter) ids(out []string) ([]string, bool) {
	id, isText := f.value.(string)
	switch {
	case f.op == "eq" && f.path.attribute == "value" && isText && id != "":
		return append(out, id), true
	case f.op != "or":
		return nil, false
	}
	for _, inner := range f.of {
		named, ok := inner.ids(out)
		if !ok {
			return nil, false
		}
		out = named
	}
	return out, true
}

// references returns the ids of members in a list or a single object.
func references(value json.RawMessage) ([]string, error) {
	if len(value) == 0 || string(value) == "null" {
		return nil, nil
	}
	var list []Reference
	if unmarshalKnown(value, &list) != nil {
		var one Reference
		if unmarshalKnown(value, &one) != nil {
			return nil, invalid("invalidValue", `members must be a list such as [{"value": "usr_…"}].`)
		}
		list = []Reference{one}
	}
	var ids []string
	for _, one := range list {
		if one.Value == "" {
			return nil, invalid("invalidValue", "Each member must have its id as value.")
		}
		ids = append(ids, one.Value)
	}
	return ids, nil
}
