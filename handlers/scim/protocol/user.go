package protocol

import (
	"encoding/json"
	"strings"
)

// UserChange is the change of a user in a request. A nil field is unchanged.
type UserChange struct {
	UserName, ExternalID, Email *string
	Active                      *bool
	Unkept                      []string // attributes in the request that are not stored

	display, formatted, given, family *string
	whole                             bool   // absent attributes are removed
	before                            string // the address that is stored
}

// Name returns the name to store. Formatted is the text that people see: displayName takes precedence over the parts
// of name, and those over name.formatted. The parts are kept as they were sent. A text that was made of the parts
// follows them. before is the stored name.
func (c UserChange) Name(before Name) Name {
	if c.whole {
		before = Name{}
	}
	after := before
	if c.given != nil {
		after.GivenName = *c.given
	}
	if c.family != nil {
		after.FamilyName = *c.family
	}
	switch {
	case c.display != nil && *c.display != "":
		after.Formatted = *c.display
	case c.given != nil || c.family != nil:
		isComplete := after.GivenName != "" && after.FamilyName != ""
		if before.Formatted == "" || before.Formatted == before.joined() || before.joined() == "" && isComplete {
			after.Formatted = after.joined()
		}
	case c.formatted != nil && *c.formatted != "":
		after.Formatted = *c.formatted
	case c.display != nil || c.formatted != nil:
		after.Formatted = ""
	}
	return after
}

// ParseUser returns the user in the body of a POST or PUT. Absent attributes become empty,
// except active.
func ParseUser(raw []byte) (UserChange, error) {
	empty := ""
	change := UserChange{ExternalID: &empty, whole: true}
	if err := parseResource(raw, userKind, &change); err != nil {
		return change, err
	}
	if change.UserName == nil || *change.UserName == "" {
		return change, invalid("invalidValue", "userName is required.")
	}
	if change.Email == nil || *change.Email == "" {
		change.Email = &empty
		if strings.Contains(*change.UserName, "@") { // Entra ID and Okta name users by their address
			change.Email = change.UserName
		}
	}
	return change, nil
}

// ParseUserPatch returns the changes of a user in a PATCH body. address is the one that is stored, or "".
func ParseUserPatch(raw []byte, address string) (UserChange, error) {
	change := UserChange{before: address}
	err := applyPatch(raw, userKind, &change)
	return change, err
}

// texts has the attributes whose values are strings.
func (c *UserChange) texts() map[string]**string {
	return map[string]**string{
		"username":        &c.UserName,
		"externalid":      &c.ExternalID,
		"displayname":     &c.display,
		"name.formatted":  &c.formatted,
		"name.givenname":  &c.given,
		"name.familyname": &c.family,
	}
}

func (c *UserChange) unkept(name string) { c.Unkept = noted(c.Unkept, name) }

func (c *UserChange) apply(op string, p path, value json.RawMessage) error {
	if op == "remove" {
		if len(value) > 0 && string(value) != "null" {
			return invalid("invalidValue", "Don't send a value with remove here. Select values with a filter in the "+
				`path, such as emails[value eq "ana@example.com"].`)
		}
		return c.remove(p)
	}
	if into, ok := c.texts()[p.String()]; ok {
		content, err := text(value)
		*into = &content
		return err
	}
	switch {
	case p.attribute == "active":
		active, err := flag(value)
		c.Active = &active
		return err
	case p.attribute == "name":
		var parts map[string]json.RawMessage
		if json.Unmarshal(value, &parts) != nil {
			return invalid("invalidValue", "name must be an object.")
		}
		inner := map[string]json.RawMessage{}
		for part, of := range parts {
			inner["name."+part] = of
		}
		return applyAll(op, inner, userKind, c)
	case p.filter == nil && p.part == "":
		return c.setEmails(value)
	}
	return c.setAddress(p, value)
}

// email is an email address in a request.
type email struct {
	Value   *string         `json:"value"`
	Type    *string         `json:"type"`
	Primary json.RawMessage `json:"primary"`
	Display json.RawMessage `json:"display"`
	Ref     json.RawMessage `json:"$ref"`
}

// setEmails chooses the address that is kept: the primary one, that of work, or the first.
func (c *UserChange) setEmails(value json.RawMessage) error {
	var list []email
	if unmarshalKnown(value, &list) != nil {
		var one email
		if unmarshalKnown(value, &one) != nil {
			return invalid("invalidValue", "emails must be a list of objects with value, type and primary.")
		}
		list = []email{one}
	}
	best := -1
	for i, one := range list {
		primary, err := flag(one.Primary)
		if err == nil && primary {
			best = i
			break
		}
		if best < 0 || one.Type != nil && strings.EqualFold(*one.Type, "work") {
			best = i
		}
	}
	if len(list) > 1 {
		c.unkept("all emails but one")
	}
	if best >= 0 {
		c.Email = new(string)
		if list[best].Value != nil {
			c.Email = list[best].Value
		}
	}
	return nil
}

// address returns the address as it is after the operations so far.
func (c *UserChange) address() string {
	if c.Email != nil {
		return *c.Email
	}
	return c.before
}

// setAddress sets the address that a filter in the path matches, or a part of it. One that is not there yet is
// created, as Entra ID expects, if it then matches.
func (c *UserChange) setAddress(p path, value json.RawMessage) error {
	var sent email
	switch p.part {
	case "":
		if unmarshalKnown(value, &sent) == nil {
			break
		}
		fallthrough // Entra ID may send the address alone
	case "value":
		content, err := text(value)
		if err != nil {
			return err
		}
		sent.Value = &content
	case "type":
		content, err := text(value)
		if err != nil {
			return err
		}
		sent.Type = &content
	case "primary":
		sent.Primary = value
	}
	if sent.Type != nil && !strings.EqualFold(*sent.Type, "work") {
		return invalid("mutability", "A user has only one address, and its type is work.")
	}
	if sent.Primary != nil && string(sent.Primary) != "null" {
		if primary, err := flag(sent.Primary); err != nil || !primary {
			return invalid("mutability", "A user has only one address, and it is primary.")
		}
	}
	address := c.address()
	if address == "" && sent.Value != nil {
		address = *sent.Value
	}
	if p.filter != nil && !p.filter.matches(theAddress(address)) {
		return noTarget("emails")
	}
	if sent.Value != nil {
		c.Email = sent.Value
	}
	return nil
}

func noTarget(attribute string) error {
	return invalid("noTarget", "None of the "+attribute+" matches the filter in the path. A user has only one "+
		"address, which is primary and of type work.")
}

func (c *UserChange) remove(p path) error {
	switch p.attribute {
	case "username", "active":
		return invalid("mutability", p.attribute+" can't be removed. Replace it.")
	case "emails":
		if p.filter != nil && !p.filter.matches(theAddress(c.address())) {
			return noTarget("emails")
		}
		if p.part != "" && p.part != "value" {
			return invalid("mutability", "A user has only one address, which is primary and of type work.")
		}
		c.Email = new(string)
		return nil
	}
	if p.String() == "name" {
		c.given, c.family = new(string), new(string)
		return nil
	}
	*c.texts()[p.String()] = new(string)
	return nil
}
