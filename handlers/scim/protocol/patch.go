package protocol

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

const maxOperations = 1000

// operation is one operation of a patch (RFC 7644, 3.5.2). Its members' names are decoded
// in any case.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

func parsePatch(raw []byte) ([]operation, error) {
	var patch struct {
		Operations []operation `json:"Operations"`
	}
	if err := json.Unmarshal(raw, &patch); err != nil {
		return nil, invalid("invalidSyntax", "The body is not a PatchOp in JSON.")
	}
	if len(patch.Operations) == 0 || len(patch.Operations) > maxOperations {
		return nil, invalid("invalidSyntax", "Operations has to hold 1 to 1000 operations.")
	}
	for i := range patch.Operations {
		o := &patch.Operations[i]
		if o.Op = strings.ToLower(o.Op); o.Op != "add" && o.Op != "replace" && o.Op != "remove" {
			return nil, invalid("invalidSyntax", "op is add, replace or remove.")
		}
		if o.Op == "remove" && o.Path == "" {
			return nil, invalid("noTarget", "remove needs a path.")
		}
		if o.Op != "remove" && len(o.Value) == 0 {
			return nil, invalid("invalidValue", o.Op+" needs a value.")
		}
	}
	return patch.Operations, nil
}

// ParseUserPatch returns the changes of a user in a PATCH body.
func ParseUserPatch(raw []byte) (UserChange, error) {
	var change UserChange
	operations, err := parsePatch(raw)
	if err != nil {
		return change, err
	}
	for _, o := range operations {
		if err != nil {
			break
		}
		switch {
		case o.Op == "remove":
			err = change.remove(bare(o.Path))
		case o.Path != "":
			err = change.set(bare(o.Path), o.Value)
		default:
			var members map[string]json.RawMessage
			if json.Unmarshal(o.Value, &members) != nil {
				return change, invalid("invalidValue", "Without a path, value is an object.")
			}
			err = change.setAll(members)
		}
	}
	return change, err
}

// setAll sets the attributes of an object. Entra ID uses paths as member names too.
func (c *UserChange) setAll(members map[string]json.RawMessage) error {
	for name, value := range members {
		if err := c.set(bare(name), value); err != nil {
			return err
		}
	}
	return nil
}

// work matches the paths of the address that is stored: the one of type work, or the
// primary one.
var work = regexp.MustCompile(`^emails\[(type eq "work"|primary eq "?true"?)\](\.value)?$`)

// texts has the attributes whose values are strings.
func (c *UserChange) texts() map[string]**string {
	return map[string]**string{
		"username":        &c.UserName,
		"externalid":      &c.ExternalID,
		"displayname":     &c.display,
		"name.formatted":  &c.formatted,
		"name.givenname":  &c.given,
		"name.familyname": &c.family,
		"emails.value":    &c.Email,
	}
}

func (c *UserChange) set(attribute string, value json.RawMessage) error {
	if into, ok := c.texts()[attribute]; ok {
		content, err := text(value)
		*into = &content
		return err
	}
	switch {
	case attribute == "active":
		active, err := flag(value)
		c.Active = &active
		return err
	case attribute == "name":
		var parts map[string]json.RawMessage
		if json.Unmarshal(value, &parts) != nil {
			return invalid("invalidValue", "name is an object.")
		}
		for name, part := range parts {
			if err := c.set("name."+bare(name), part); err != nil {
				return err
			}
		}
	case attribute == "emails":
		return c.setEmails(value)
	case work.MatchString(attribute):
		return c.setWork(value)
	}
	return nil // an attribute that is not kept
}

func (c *UserChange) setEmails(value json.RawMessage) error {
	var list []struct {
		Value   string          `json:"value"`
		Type    string          `json:"type"`
		Primary json.RawMessage `json:"primary"`
	}
	if json.Unmarshal(value, &list) != nil {
		return invalid("invalidValue", "emails is a list of objects.")
	}
	best := -1
	for i, one := range list {
		primary, err := flag(one.Primary)
		if err == nil && primary {
			best = i
			break
		}
		if best < 0 || strings.EqualFold(one.Type, "work") {
			best = i
		}
	}
	if best >= 0 {
		c.Email = &list[best].Value
	}
	return nil
}

// setWork sets the address from a string or an object with it.
func (c *UserChange) setWork(value json.RawMessage) error {
	var one struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(value, &one) == nil {
		c.Email = &one.Value
		return nil
	}
	content, err := text(value)
	c.Email = &content
	return err
}

func (c *UserChange) remove(attribute string) error {
	switch attribute {
	case "username", "active":
		return invalid("mutability", attribute+" cannot be removed; replace it.")
	case "emails":
		c.Email = new(string)
		return nil
	case "name":
		c.given, c.family = new(string), new(string)
		return nil
	}
	if work.MatchString(attribute) {
		c.Email = new(string)
		return nil
	}
	if into, ok := c.texts()[attribute]; ok {
		*into = new(string)
	}
	return nil
}

// ParseGroupPatch returns the changes of a group in a PATCH body.
func ParseGroupPatch(raw []byte) (GroupChange, error) {
	var change GroupChange
	operations, err := parsePatch(raw)
	if err != nil {
		return change, err
	}
	for _, o := range operations {
		if err != nil {
			break
		}
		if o.Path != "" {
			err = change.apply(o.Op, o.Path, o.Value)
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(o.Value, &members) != nil {
			return change, invalid("invalidValue", "Without a path, value is an object.")
		}
		for name, value := range members {
			if err == nil {
				err = change.apply(o.Op, name, value)
			}
		}
	}
	return change, err
}

// oneMember matches the path that Okta removes a member with: members[value eq "usr_…"].
// It is matched before the path is lowered, because ids are case-sensitive.
var oneMember = regexp.MustCompile(`(?i)^members\[\s*value\s+eq\s+"([^"]*)"\s*\]$`)

func (c *GroupChange) apply(op, path string, value json.RawMessage) error {
	if one := oneMember.FindStringSubmatch(strings.TrimSpace(path)); one != nil {
		if op != "remove" {
			return invalid("invalidPath", "A member can be removed by that path; add one with the path members.")
		}
		c.leave(one[1])
		return nil
	}
	switch attribute := bare(path); attribute {
	case "displayname", "externalid":
		into := &c.DisplayName
		if attribute == "externalid" {
			into = &c.ExternalID
		}
		if op == "remove" {
			if attribute == "displayname" {
				return invalid("mutability", "displayName cannot be removed; replace it.")
			}
			value = json.RawMessage(`""`)
		}
		content, err := text(value)
		*into = &content
		return err
	case "members":
		return c.members(op, value)
	}
	return nil // an attribute that is not kept
}

func (c *GroupChange) members(op string, value json.RawMessage) error {
	ids, err := references(value)
	switch {
	case err != nil:
		return err
	case op == "replace", op == "remove" && len(ids) == 0:
		c.Clear, c.Add, c.Remove = true, nil, nil
	}
	for _, id := range ids {
		if op == "remove" {
			c.leave(id)
			continue
		}
		c.Remove = slices.DeleteFunc(c.Remove, func(other string) bool { return other == id })
		c.Add = append(c.Add, id)
	}
	return nil
}

func (c *GroupChange) leave(id string) {
	c.Add = slices.DeleteFunc(c.Add, func(other string) bool { return other == id })
	c.Remove = append(c.Remove, id)
}

// references returns the ids of members in a list or a single object.
func references(value json.RawMessage) ([]string, error) {
	if len(value) == 0 || string(value) == "null" {
		return nil, nil
	}
	var list []Reference
	if json.Unmarshal(value, &list) != nil {
		var one Reference
		if json.Unmarshal(value, &one) != nil {
			return nil, invalid("invalidValue", `members is a list such as [{"value": "usr_…"}].`)
		}
		list = []Reference{one}
	}
	var ids []string
	for _, one := range list {
		if one.Value == "" {
			return nil, invalid("invalidValue", "Each member has its id as value.")
		}
		ids = append(ids, one.Value)
	}
	return ids, nil
}
