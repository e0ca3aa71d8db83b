package client

import (
	"context"
	"net/http"
	"net/url"
)

// Question is a call that is explained; empty fields have defaults.
type Question struct{ Version, Environment, Method, Path, Key, User, Scopes string }

// Explanation is what the gateway decides about a call.
type Explanation struct {
	Decision  string `json:"decision"` // allow or deny
	Status    int    `json:"status"`
	Code      string `json:"code,omitempty"`
	Steps     []Step `json:"steps"`
	DecidedBy string `json:"decided_by"`
	OnExport  struct {
		Status int    `json:"status"`
		Code   string `json:"code,omitempty"`
	} `json:"on_export"`
}

// Step is one step of a decision.
type Step struct {
	Step    string `json:"step"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
}

// Explain returns what the gateway decides about a call, and what the exported one would.
func (c *Client) Explain(ctx context.Context, project string, q Question) (Explanation, error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"version": q.Version, "environment": q.Environment, "method": q.Method, "path": q.Path, "key": q.Key,
		"user": q.User, "scopes": q.Scopes,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return exchange[Explanation](ctx, c, http.MethodGet, nil, "?"+query.Encode(),
		[]string{"api", "v1", "projects", project, "explain"})
}
