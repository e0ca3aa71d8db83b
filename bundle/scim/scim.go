// Package scim writes the users and groups of a tenant for other systems: as SCIM resources (RFC 7643) in lists and
// bulk requests (RFC 7644), and with a script that sends them to a receiver. It owns the form of resources and leaves
// the documents that they are built from to package bundle.
//
// A receiver assigns its own ID to every resource. It keeps ours as externalId, by which the script finds existing
// resources. External IDs set by a provisioning system aren't used for that, because two users can have the same.
package scim

import (
	"context"
	_ "embed" // the script
	"io"
	"iter"
	"time"

	"postern/bundle/jsonfile"
	"postern/core/snapshot"
)

// The schemas of RFC 7643 (4.1, 4.2) and messages of RFC 7644 (3.4.2, 3.7).
const (
	userSchema  = "urn:ietf:params:scim:schemas:core:2.0:User"
	groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group"
	listSchema  = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
	bulkSchema  = "urn:ietf:params:scim:api:messages:2.0:BulkRequest"
)

// Script is push.sh, which sends users.json and groups.json to a receiver. It depends on the
// lines of both files: each resource begins one, and so does each member of a group.
//
//go:embed push.sh
var Script string

// Source is a tenant with its users and groups.
type Source struct {
	Tenant snapshot.Tenant // it has a Directory
	// Users streams the users in ascending order of IDs, as many as the Directory says.
	Users func(context.Context) iter.Seq2[*snapshot.User, error]
}

// meta is the metadata of a resource (RFC 7643, 3.1).
type meta struct {
	ResourceType string `json:"resourceType"`
	Created      string `json:"created"`
	LastModified string `json:"lastModified"`
	Location     string `json:"location"` // relative to the receiver's base URL
}

// user is a User resource. A receiver sets ID and Meta itself, so a request has neither. The script relies on the
// order: members that a receiver sets come before ExternalID.
type user struct {
	Schemas     []string `json:"schemas"`
	ID          string   `json:"id,omitempty"`
	Meta        *meta    `json:"meta,omitempty"`
	ExternalID  string   `json:"externalId"`
	UserName    string   `json:"userName"`
	DisplayName string   `json:"displayName,omitempty"`
	Name        *name    `json:"name,omitempty"`
	NickName    string   `json:"nickName,omitempty"`
	ProfileURL  string   `json:"profileUrl,omitempty"`
	Locale      string   `json:"locale,omitempty"`
	TimeZone    string   `json:"timezone,omitempty"`
	Emails      []email  `json:"emails,omitempty"`
	Active      bool     `json:"active"`
}

type name struct {
	Formatted  string `json:"formatted,omitempty"`
	GivenName  string `json:"givenName,omitempty"`
	FamilyName string `json:"familyName,omitempty"`
	MiddleName string `json:"middleName,omitempty"`
}

type email struct {
	Value   string `json:"value"`
	Type    string `json:"type"`
	Primary bool   `json:"primary"`
}

// group is a Group resource. The same applies as for user.
type group struct {
	Schemas     []string `json:"schemas"`
	ID          string   `json:"id,omitempty"`
	Meta        *meta    `json:"meta,omitempty"`
	ExternalID  string   `json:"externalId"`
	DisplayName string   `json:"displayName"`
	Members     []member `json:"members,omitempty"`
}

type member struct {
	Value   string `json:"value"`
	Ref     string `json:"$ref,omitempty"`
	Type    string `json:"type"`
	Display string `json:"display,omitempty"`
}

func metaOf(kind, location string, created, modified time.Time) *meta {
	return &meta{
		ResourceType: kind,
		Created:      created.UTC().Format(time.RFC3339Nano),
		LastModified: modified.UTC().Format(time.RFC3339Nano),
		Location:     location,
	}
}

// newUser returns a user as a request creates them. A user without a user name gets their ID as one, because two can
// have the same address.
func newUser(u *snapshot.User) user {
	out := user{
		Schemas:     []string{userSchema},
		ExternalID:  u.ID,
		UserName:    u.UserName,
		DisplayName: u.Name,
		Active:      u.State != "frozen",
	}
	if out.UserName == "" {
		out.UserName = u.ID
	}
	stated := jsonfile.Texts(u.Profile)
	whole := name{u.Name, stated["given_name"], stated["family_name"], stated["middle_name"]}
	if whole != (name{}) {
		out.Name = &whole
	}
	out.NickName, out.ProfileURL = stated["nickname"], stated["profile"]
	out.Locale, out.TimeZone = stated["locale"], stated["zoneinfo"]
	if u.Email != "" {
		out.Emails = []email{{Value: u.Email, Type: "work", Primary: true}}
	}
	return out
}

// newGroup returns a group without members as a request creates it.
func newGroup(g *snapshot.Group) group {
	return group{Schemas: []string{groupSchema}, ExternalID: g.ID, DisplayName: displayName(g)}
}

func displayName(g *snapshot.Group) string {
	if g.DisplayName != "" {
		return g.DisplayName
	}
	return g.Name
}

func userMember(id, display string) member {
	return member{Value: id, Ref: "Users/" + id, Type: "User", Display: display}
}

func groupMember(g *snapshot.Group) member {
	return member{Value: g.ID, Ref: "Groups/" + g.ID, Type: "Group", Display: displayName(g)}
}

// WriteUsers writes the list of users.
func (s Source) WriteUsers(ctx context.Context, w io.Writer) error {
	out := jsonfile.NewStream(w)
	beginList(out, s.Tenant.Directory.Users)
	for u, err := range s.Users(ctx) {
		if err != nil {
			return err
		}
		one := newUser(u)
		one.ID, one.Meta = u.ID, metaOf("User", "Users/"+u.ID, u.CreatedAt, u.UpdatedAt)
		out.Next("    ")
		out.Value(one)
	}
	out.Raw("\n  ]\n}\n")
	return out.Close()
}

// beginList begins a ListResponse with everything on one page.
func beginList(out *jsonfile.Stream, total int64) {
	out.Raw("{\n  \"schemas\": ")
	out.Value([]string{listSchema})
	out.Raw(",\n  \"totalResults\": ")
	out.Value(total)
	out.Raw(",\n  \"startIndex\": 1,\n  \"itemsPerPage\": ")
	out.Value(total)
	out.Raw(",\n  \"Resources\": ")
	out.Open("[")
}
