package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// UpstreamHeader is a header that calls to an environment carry to its upstream. Its value
// is never shown.
type UpstreamHeader struct {
	Name      string    `json:"name"`
	UpdatedAt time.Time `json:"updated_at"`
}

// UpstreamHeaders iterates over the headers of an environment, named by its id.
func (c *Client) UpstreamHeaders(ctx context.Context, project, environment string) iter.Seq2[UpstreamHeader, error] {
	return pages[UpstreamHeader](
		ctx, c, "api", "v1", "projects", project, "environments", environment, "upstream-headers",
	)
}

// SetUpstreamHeader sets a header of an environment, or replaces its value.
func (c *Client) SetUpstreamHeader(
	ctx context.Context, project, environment, name, value string,
) (UpstreamHeader, error) {
	in := map[string]string{"value": value}
	return call[UpstreamHeader](
		ctx, c, http.MethodPut, in, "api", "v1", "projects", project, "environments", environment, "upstream-headers",
		name,
	)
}

// RemoveUpstreamHeader removes a header of an environment.
func (c *Client) RemoveUpstreamHeader(ctx context.Context, project, environment, name string) error {
	return c.remove(
		ctx, "api", "v1", "projects", project, "environments", environment, "upstream-headers", name,
	)
}
