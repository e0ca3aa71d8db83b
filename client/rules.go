package client

import (
	"context"
	"net/http"
	"time"
)

// ShadowRefusal counts the calls of the last 30 days that a rule in shadow would have refused.
type ShadowRefusal struct {
	Rule   string    `json:"rule"`
	Code   string    `json:"code"`
	Calls  int64     `json:"calls"`
	LastAt time.Time `json:"last_at"`
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
