package protocol

import (
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

// Email is an email address of a user.
type Email struct {
	Value   string `json:"value"`
	Type    string `json:"type,omitempty"`
	Primary bool   `json:"primary,omitempty"`
}

// joined returns the parts as one text.
func (n Name) joined() string { return strings.TrimSpace(n.GivenName + " " + n.FamilyName) }

// Shown returns the name in the form of a resource, nil for none.
func (n Name) Shown() *Name {
	if n.Formatted == "" {
		n.Formatted = n.joined()
	}
	if n.Formatted == "" {
		return nil
	}
	return &n
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
