package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"time"

	"postern/core/contract"
)

// Followed is an event of FollowRequests: a request, or the number of missed ones.
type Followed struct {
	Request *contract.Request
	Missed  int64
}

// FollowRequests iterates over the calls of a project that the list selects, as they happen. It starts after
// the call with the given id, now if the id is "", or at the oldest call in the log if the id
// is not in the log. It opens a new stream when the server ends one, and ends
// after the first error or with the context.
func (c *Client) FollowRequests(
	ctx context.Context, list contract.RequestList, after string,
) iter.Seq2[Followed, error] {
	return func(yield func(Followed, error) bool) {
		for ctx.Err() == nil {
			goOn, err := c.followOnce(ctx, list, &after, yield)
			if err != nil && ctx.Err() == nil {
				yield(Followed{}, err)
				return
			}
			if !goOn {
				return
			}
			select { // a server may end every stream at once
			case <-ctx.Done():
			case <-time.After(askAgain):
			}
		}
	}
}

// askAgain is the pause before the next stream is opened.
const askAgain = time.Second

// followOnce reads one stream to its end and stores the last id in after.
func (c *Client) followOnce(
	ctx context.Context, list contract.RequestList, after *string, yield func(Followed, error) bool,
) (goOn bool, err error) {
	r := requestOf(contract.ListRequests.Path, list)
	response, err := c.stream(ctx, *after, r.values, r.segments...)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	for e := range eventsOf(response.Body) {
		f, err := readEvent(e.name, e.data)
		if err != nil {
			return false, err
		}
		if e.id != "" {
			*after = e.id
		}
		if !yield(f, nil) {
			return false, nil
		}
	}
	return true, nil // the connection was cut or the stream has ended: open another
}

func readEvent(event, data string) (Followed, error) {
	var f Followed
	var err error
	if event == "missed" {
		f.Missed, err = strconv.ParseInt(data, 10, 64)
	} else {
		err = json.Unmarshal([]byte(data), &f.Request)
	}
	if err != nil {
		return f, fmt.Errorf("client: read an event: %w", err)
	}
	return f, nil
}
