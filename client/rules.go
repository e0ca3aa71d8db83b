package client

import (
	"context"
	"net/http"
	"time"
)

// Rules are what the routes of a version require of callers.
type Rules struct {
	Default         string `json:"default"` // allow or deny
	Mode            string `json:"mode"`    // off, shadow or enforce
	ReadWriteScopes bool   `json:"read_write_scopes"`
	Rules           []Rule `json:"rules"`
	ETag            string `json:"etag,omitempty"` // for If-Match

	Warnings []Warning `json:"warnings,omitempty"` // groups that do not exist; in responses to changes also key types
}

// Rule is what one route requires.
type Rule struct {
	ID      string   `json:"id,omitempty"` // empty: a new one
	Methods []string `json:"methods"`
	Path    string   `json:"path"`
	Scopes  []string `json:"scopes,omitempty"`
	Groups  []string `json:"groups,omitempty"`
	Role    string   `json:"role,omitempty"`
	Mode    string   `json:"mode,omitempty"` // empty: that of the list

	Owner    string `json:"owner,omitempty"`    // the caller owns this object, such as order:{id}
	Remember string `json:"remember,omitempty"` // the caller owns it after a 2xx answer, such as order:{response.id}
	Forget   string `json:"forget,omitempty"`   // has no owner after a 2xx answer
}

// ShadowRefusal counts the calls of the last 30 days that a rule in shadow would have refused.
type ShadowRefusal struct {
	Rule   string    `json:"rule"`
	Code   string    `json:"code"`
	Calls  int64     `json:"calls"`
	LastAt time.Time `json:"last_at"`
}

// Rules returns what the routes of a version require.
func (c *Client) Rules(ctx context.Context, project, version string) (Rules, error) {
	return call[Rules](ctx, c, http.MethodGet, nil, "api", "v1", "projects", project, "versions", version, "rules")
}

// SetRules replaces what the routes of a version require. With an ETag it is refused as stale unless
// that is still theirs.
func (c *Client) SetRules(ctx context.Context, project, version string, in Rules) (Rules, error) {
	c, in.ETag, in.Warnings = c.IfMatch(in.ETag), "", nil
	return call[Rules](ctx, c, http.MethodPut, in, "api", "v1", "projects", project, "versions", version, "rules")
}

// ShadowRefusals lists what rules of a version in shadow would have refused.
func (c *Client) ShadowRefusals(ctx context.Context, project, version string) ([]ShadowRefusal, error) {
	type page struct {
		Items []ShadowRefusal `json:"items"`
	}
	found, err := call[page](ctx, c, http.MethodGet, nil, "api", "v1", "projects", project, "versions",
		version, "rules", "shadow")
	return found.Items, err
}

// RelationMiss counts the answers of the last 30 days in which a rule found no object to remember or forget.
type RelationMiss struct {
	Rule   string    `json:"rule"`   // id
	Reason string    `json:"reason"` // such as no_value
	Calls  int64     `json:"calls"`
	LastAt time.Time `json:"last_at"`
}

// RelationMisses lists what rules of a version could not remember or forget.
func (c *Client) RelationMisses(ctx context.Context, project, version string) ([]RelationMiss, error) {
	type page struct {
		Items []RelationMiss `json:"items"`
	}
	found, err := call[page](ctx, c, http.MethodGet, nil, "api", "v1", "projects", project, "versions", version,
		"rules", "missed")
	return found.Items, err
}
