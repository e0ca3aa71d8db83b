package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// readBack compares every acknowledged change with what the API lists, and returns the
// keys for which it has something else. A key that is changed during the comparison is left out; at
// the end there is none.
func (r *run) readBack(ctx context.Context) (compared int, missing []string, err error) {
	began := time.Now()
	listed := map[string]apiKey{}
	for cursor := ""; ; {
		var page struct {
			Items      []apiKey `json:"items"`
			NextCursor string   `json:"next_cursor"`
		}
		path := "/api/v1/projects/" + r.changer.project + "/keys?limit=100&cursor=" + url.QueryEscape(cursor)
		if cursor == "" {
			path = strings.TrimSuffix(path, "&cursor=")
		}
		if err := r.api.do(ctx, "GET", path, nil, &page); err != nil {
			return 0, nil, err
		}
		for _, k := range page.Items {
			listed[k.ID] = k
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	for _, k := range r.model.keys {
		if k.busy || !k.changed.Before(began) {
			continue
		}
		compared++
		if why := k.differs(listed); why != "" {
			missing = append(missing, why)
		}
	}
	return compared, missing, nil
}

func (k *key) differs(listed map[string]apiKey) string {
	is, there := listed[k.id]
	switch {
	case !there:
		return fmt.Sprintf("key %s was created at %s and is not listed", k.id, clock(k.changed))
	case is.State != k.state:
		return fmt.Sprintf("key %s was %s at %s and is listed as %s", k.id, k.state, clock(k.changed), is.State)
	case is.Owner != k.owner:
		return fmt.Sprintf("key %s was created for %s and is listed for %s", k.id, k.owner, is.Owner)
	case k.current != nil && !strings.HasSuffix(k.current.text, is.Last4):
		return fmt.Sprintf("key %s was rotated at %s and is listed with its former secret", k.id, clock(k.changed))
	}
	return ""
}
