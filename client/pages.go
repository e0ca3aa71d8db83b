package client

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
)

type page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// largestPage is the number of items of the largest page.
const largestPage = 200

func pagesOf[T any](ctx context.Context, c *Client, filter url.Values, segments ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := maps.Clone(filter)
		query.Set("limit", strconv.Itoa(largestPage))
		for {
			var p page[T]
			if err := c.get(ctx, "?"+query.Encode(), segments, &p); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.NextCursor == nil {
				return
			}
			query.Set("cursor", *p.NextCursor)
		}
	}
}

// First returns the first items of a list, at most that many, and whether there are more; 0 returns all.
func First[In, Item any](
	ctx context.Context, c *Client, op *contract.Op[In, contract.List[Item]], in In, most int,
) (first contract.List[Item], more bool, err error) {
	r := requestOf(op.Path, in)
	paged := slices.ContainsFunc(op.Members(), func(m contract.Member) bool { return m.Name == "limit" })
	first.Items = []Item{}
	for {
		size := largestPage // which lists of one page take too
		if most > 0 && paged {
			size = min(size, most-len(first.Items))
		}
		r.values.Set("limit", strconv.Itoa(size))
		var p page[Item]
		if err := c.get(ctx, r.query(), r.segments, &p); err != nil {
			return first, false, err
		}
		first.Items, first.NextCursor = append(first.Items, p.Items...), p.NextCursor
		switch {
		case most > 0 && len(first.Items) > most:
			first.Items = first.Items[:most]
			return first, true, nil
		case p.NextCursor == nil || most > 0 && len(first.Items) == most:
			return first, p.NextCursor != nil, nil
		}
		r.values.Set("cursor", *p.NextCursor)
	}
}

// Listed has the members by which people recognize an item of a list, whatever it is a list of.
type Listed struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	DisplayName string  `json:"display_name"`
	Host        string  `json:"host"`
	Owner       string  `json:"owner"`
	Email       string  `json:"email"`
	URL         string  `json:"url"`
	Account     string  `json:"account"`
	User        string  `json:"user"`
	Project     *string `json:"project"`
	State       string  `json:"state"`

	EmailVerified bool       `json:"email_verified"`
	LastLoginAt   *time.Time `json:"last_login_at"`

	Projects  names      `json:"projects"`
	Methods   names      `json:"methods"`
	Path      string     `json:"path"`
	Format    string     `json:"format"`
	CreatedAt *time.Time `json:"created_at"`
}

// names are texts that items of some lists have. Those of others have something else in their place.
type names []string

// UnmarshalJSON implements json.Unmarshaler.
func (n *names) UnmarshalJSON(text []byte) error {
	var list []string
	if json.Unmarshal(text, &list) == nil {
		*n = list
	}
	return nil
}

// ListAt returns the first items of the list at a path of the API, whose segments are escaped with Segment.
func ListAt(ctx context.Context, c *Client, path string) ([]Listed, error) {
	segments, err := segmentsOf(path)
	if err != nil {
		return nil, err
	}
	query := "?limit=" + strconv.Itoa(largestPage)
	if strings.HasSuffix(path, "/rules") { // of a version, which has them all in one value
		query = ""
	}
	var p struct {
		page[Listed]
		Rules []Listed `json:"rules"`
	}
	err = c.get(ctx, query, segments, &p)
	return append(p.Items, p.Rules...), err
}

// Search yields the items that the server finds for a text in the list at a path of the API, whose segments are escaped
// with Segment. An empty text finds all.
func Search(ctx context.Context, c *Client, path, text string) iter.Seq2[Listed, error] {
	segments, err := segmentsOf(path)
	if err != nil {
		return func(yield func(Listed, error) bool) { yield(Listed{}, err) }
	}
	filter := url.Values{}
	if text != "" {
		filter.Set("q", text)
	}
	return pagesOf[Listed](ctx, c, filter, segments...)
}

// Check reads the resource at a path of the API, whose segments are escaped with Segment, and returns the server's
// error.
func Check(ctx context.Context, c *Client, path string) error {
	segments, err := segmentsOf(path)
	if err != nil {
		return err
	}
	response, err := c.send(ctx, http.MethodGet, nil, "", segments)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// segmentsOf returns the segments of a path, not escaped.
func segmentsOf(path string) (segments []string, err error) {
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		text, err := url.PathUnescape(segment)
		if err != nil {
			return nil, err
		}
		segments = append(segments, text)
	}
	return segments, nil
}

// Segment escapes a value as one segment of a path.
func Segment(value string) string { return url.PathEscape(value) }
