package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"postern/core/contract"
)

// Import is what the import of a zip did or, in a dry run, would do.
type Import struct {
	State   string           `json:"state"` // done or dry_run
	Project contract.Project `json:"project"`
	Made    Made             `json:"made"`
	LeftOut []LeftOut        `json:"left_out"`
	SHA256  string           `json:"sha256"`
	Signed  bool             `json:"signed"`
}

// Made counts what an import makes.
type Made struct {
	Versions     int64 `json:"versions"`
	Environments int64 `json:"environments"`
	KeyTypes     int64 `json:"key_types"`
	Tenants      int64 `json:"tenants"`
	AppClients   int64 `json:"app_clients"`
	Providers    int64 `json:"providers"`
	Groups       int64 `json:"groups"`
	Users        int64 `json:"users"`
	Keys         int64 `json:"keys"`
	Relations    int64 `json:"relations"`
}

// LeftOut is something that the new project does not have as the exported one had it.
type LeftOut struct {
	Code    string `json:"code"`
	Subject string `json:"subject,omitempty"`
	Detail  string `json:"detail"`
}

// NewImport says how to import a zip.
type NewImport struct {
	Name   string // of the project; "": the one in the zip
	Team   string // id; "": the caller's first
	SHA256 string // that the zip must have; "": any
	DryRun bool
}

// Import sends a zip to make a project of it. The answer of a large one takes minutes.
func (c *Client) Import(ctx context.Context, zip io.ReaderAt, size int64, in NewImport) (Import, error) {
	query := url.Values{}
	for name, value := range map[string]string{"name": in.Name, "team": in.Team, "sha256": in.SHA256} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if in.DryRun {
		query.Set("dry_run", "true")
	}
	address := c.base + "/api/v1/imports?" + query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, io.NewSectionReader(zip, 0, size))
	if err != nil {
		return Import{}, err
	}
	request.ContentLength = size
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(zip, 0, size)), nil }
	request.Header.Set("Accept", "application/json, application/problem+json")
	request.Header.Set("Content-Type", "application/zip")
	response, err := c.patient().sendAuthorized(request) //nolint:bodyclose // decoded closes it
	if err != nil {
		return Import{}, err
	}
	return decoded[Import](c, response)
}

// patient returns a copy of the client that waits for an answer as long as its caller does.
func (c *Client) patient() *Client {
	out, waits := *c, *c.http
	transport := c.http.Transport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 0
	waits.Transport = transport
	out.http = &waits
	return &out
}
