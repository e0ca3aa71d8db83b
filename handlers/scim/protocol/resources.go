package protocol

import (
	"encoding/json"
	"strings"
	"time"
)

// Meta is the metadata of a resource (RFC 7643, 3.1).
type Meta struct {
	ResourceType string    `json:"resourceType"`
	Created      time.Time `json:"created,omitzero"`
	LastModified time.Time `json:"lastModified,omitzero"`
	Location     string    `json:"location"`
	Version      string    `json:"version,omitempty"`
}

// Reference names another resource.
type Reference struct {
	Value   string `json:"value"`
	Ref     string `json:"$ref,omitempty"`
	Display string `json:"display,omitempty"`
	Type    string `json:"type,omitempty"` // of members: User or Group; of groups: direct or indirect
}

// User is a user (RFC 7643, 4.1).
type User struct {
	Schemas     []string    `json:"schemas"`
	ID          string      `json:"id"`
	ExternalID  string      `json:"externalId,omitempty"`
	UserName    string      `json:"userName"`
	Name        *Name       `json:"name,omitempty"`
	DisplayName string      `json:"displayName,omitempty"`
	Emails      []Email     `json:"emails,omitempty"`
	Active      bool        `json:"active"`
	Groups      []Reference `json:"groups,omitempty"`
	Meta        Meta        `json:"meta"`
}

// Name is the name of a user (RFC 7643, 4.1.1).
type Name struct {
	Formatted  string `json:"formatted,omitempty"`
	GivenName  string `json:"givenName,omitempty"`
	FamilyName string `json:"familyName,omitempty"`
}

// Email is an e-mail address of a user.
type Email struct {
	Value   string `json:"value"`
	Type    string `json:"type,omitempty"`
	Primary bool   `json:"primary,omitempty"`
}

// NameOf splits a name, which is stored as one text: the last word is the family name.
func NameOf(formatted string) *Name {
	if formatted == "" {
		return nil
	}
	out := &Name{Formatted: formatted, GivenName: formatted}
	if i := strings.LastIndexByte(formatted, ' '); i > 0 {
		out.GivenName, out.FamilyName = formatted[:i], formatted[i+1:]
	}
	return out
}

// Group is a group (RFC 7643, 4.2).
type Group struct {
	Schemas     []string    `json:"schemas"`
	ID          string      `json:"id"`
	ExternalID  string      `json:"externalId,omitempty"`
	DisplayName string      `json:"displayName"`
	Members     []Reference `json:"members,omitempty"`
	Meta        Meta        `json:"meta"`
}

// UserChange is the change of a user in a request. A nil field is unchanged.
type UserChange struct {
	UserName, ExternalID, Email *string
	Active                      *bool

	display, formatted, given, family *string
}

// Name returns the name to store as one text, or nil if the request does not change it.
// displayName takes precedence over the parts of name, and those over name.formatted.
// before is the stored name.
func (c UserChange) Name(before string) *string {
	switch {
	case c.display != nil && *c.display != "":
		return c.display
	case c.given == nil && c.family == nil && c.formatted != nil && *c.formatted != "":
		return c.formatted
	case c.given == nil && c.family == nil:
		if c.display != nil {
			return c.display
		}
		return c.formatted
	}
	was := NameOf(before)
	if was == nil {
		was = &Name{}
	}
	if c.given != nil {
		was.GivenName = *c.given
	}
	if c.family != nil {
		was.FamilyName = *c.family
	}
	joined := strings.TrimSpace(was.GivenName + " " + was.FamilyName)
	return &joined
}

// ParseUser returns the user in the body of a POST or PUT. Absent attributes become empty,
// except active.
func ParseUser(raw []byte) (UserChange, error) {
	empty := ""
	change := UserChange{ExternalID: &empty, display: &empty}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return change, invalid("invalidSyntax", "The body is not a JSON object.")
	}
	if err := change.setAll(members); err != nil {
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

// GroupChange is the change of a group and its members in a request.
type GroupChange struct {
	DisplayName, ExternalID *string
	Clear                   bool // everything that is in it leaves first
	Add, Remove             []string
}

// ParseGroup returns the group in the body of a POST or PUT.
func ParseGroup(raw []byte) (GroupChange, error) {
	empty := ""
	change := GroupChange{ExternalID: &empty, Clear: true}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return change, invalid("invalidSyntax", "The body is not a JSON object.")
	}
	for name, value := range members {
		if err := change.apply("replace", bare(name), value); err != nil {
			return change, err
		}
	}
	if change.DisplayName == nil || *change.DisplayName == "" {
		return change, invalid("invalidValue", "displayName is required.")
	}
	return change, nil
}
