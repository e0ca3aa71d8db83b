package client

import "time"

// WithFirstEventWithin returns a copy of the client that waits so long for a stream to begin.
func (c *Client) WithFirstEventWithin(d time.Duration) *Client {
	out := *c
	out.firstEvent = d
	return &out
}
