package client

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
)

type page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

func pagesOf[T any](ctx context.Context, c *Client, filter url.Values, segments ...string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := maps.Clone(filter)
		query.Set("limit", "200")
		for {
			p, err := exchange[page[T]](ctx, c, http.MethodGet, nil, "?"+query.Encode(), segments)
			if err != nil {
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
