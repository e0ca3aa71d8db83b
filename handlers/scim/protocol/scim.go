// Package protocol parses and formats the messages of SCIM 2.0 (RFC 7643 and 7644), which
// Okta, Entra ID and others provision users and groups with.
//
// It owns resources, filters, patches and errors. It leaves routes to handlers/scim and users and groups to
// service/directory. It supports what those systems use: filters of lists are comparisons by eq joined by and.
// Attributes of the standard that /Schemas does not list are not stored, which answers say (Unkept); attributes of no
// schema are refused. If the systems deviate from the RFCs, it accepts both: names in any case, and booleans as
// strings.
package protocol

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The schemas (RFC 7643, 8; RFC 7644, 3.4.2, 3.5.2 and 3.12).
const (
	UserSchema  = "urn:ietf:params:scim:schemas:core:2.0:User"
	GroupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group"
	listSchema  = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
	errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error"

	// ContentType is the media type of answers.
	ContentType = "application/scim+json"
)

// Error is an error (RFC 7644, 3.12). Type is a scimType of its table 9, or "".
type Error struct {
	Status int
	Type   string
	Detail string
}

func (e *Error) Error() string { return e.Type + ": " + e.Detail }

// MarshalJSON implements json.Marshaler: status is a string in JSON.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Schemas []string `json:"schemas"`
		Status  string   `json:"status"`
		Type    string   `json:"scimType,omitempty"`
		Detail  string   `json:"detail"`
	}{[]string{errorSchema}, strconv.Itoa(e.Status), e.Type, e.Detail})
}

func invalid(kind, detail string) *Error {
	return &Error{Status: http.StatusBadRequest, Type: kind, Detail: detail}
}

// List is a page of resources (RFC 7644, 3.4.2).
type List struct {
	Schemas      []string `json:"schemas"`
	TotalResults int64    `json:"totalResults"`
	StartIndex   int      `json:"startIndex"` // of the first, from 1
	ItemsPerPage int      `json:"itemsPerPage"`
	Resources    []any    `json:"Resources"`
}

// NewList returns a page of resources. start is the index of the first one.
func NewList(resources []any, start int, total int64) List {
	if resources == nil {
		resources = []any{}
	}
	return List{
		Schemas:      []string{listSchema},
		TotalResults: total,
		StartIndex:   start,
		ItemsPerPage: len(resources),
		Resources:    resources,
	}
}

// bare returns an attribute in lowercase without the prefix of its schema.
func bare(attribute string) string {
	attribute = strings.ToLower(strings.TrimSpace(attribute))
	for _, schema := range []string{UserSchema, GroupSchema} {
		attribute = strings.TrimPrefix(attribute, strings.ToLower(schema)+":")
	}
	return attribute
}

// flag is a boolean that may be a string: Entra ID sends "True" and "False".
func flag(raw json.RawMessage) (bool, error) {
	text := strings.ToLower(strings.Trim(string(raw), `"`))
	if text != "true" && text != "false" {
		return false, invalid("invalidValue", "active must be true or false.")
	}
	return text == "true", nil
}

// unmarshalKnown decodes JSON, whose objects must not have members that the type lacks.
func unmarshalKnown(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// noted adds a name to a list that does not have it.
func noted(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

func text(raw json.RawMessage) (string, error) {
	var out *string
	if err := json.Unmarshal(raw, &out); err != nil {
		return "", invalid("invalidValue", "This attribute must be a string.")
	}
	if out == nil {
		return "", nil
	}
	return *out, nil
}
