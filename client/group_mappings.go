package client

import (
	"context"
	"net/http"
)

// GroupMappings are the rules by which a provider's claims put the users who sign in with it
// into groups.
type GroupMappings struct {
	Mappings []GroupMapping `json:"mappings"`
	ETag     string         `json:"etag,omitempty"` // for If-Match
}

// GroupMapping is one rule.
type GroupMapping struct {
	Claim     string `json:"claim"` // a path, such as realm_access.roles
	Value     string `json:"value"`
	Match     string `json:"match,omitempty"`      // exact or prefix
	Group     string `json:"group"`                // id; in a request a name will do
	GroupName string `json:"group_name,omitempty"` // not in requests
}

// GroupMappings returns the rules of a provider.
func (c *Client) GroupMappings(ctx context.Context, provider string) (GroupMappings, error) {
	return call[GroupMappings](ctx, c, http.MethodGet, nil, "api", "v1", "providers", provider, "group-mappings")
}

// SetGroupMappings replaces the rules of a provider. With an ETag it is refused as stale
// unless that is still theirs.
func (c *Client) SetGroupMappings(ctx context.Context, provider string, in GroupMappings) (GroupMappings, error) {
	c, in.ETag = c.IfMatch(in.ETag), ""
	list := make([]GroupMapping, 0, len(in.Mappings))
	for _, one := range in.Mappings {
		one.GroupName = ""
		list = append(list, one)
	}
	in.Mappings = list
	return call[GroupMappings](ctx, c, http.MethodPut, in, "api", "v1", "providers", provider, "group-mappings")
}
