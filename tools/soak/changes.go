package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"
)

// apiKey is what the API says about a key.
type apiKey struct {
	ID          string     `json:"id"`
	Owner       string     `json:"owner"`
	State       string     `json:"state"`
	Last4       string     `json:"last4"`
	GraceEndsAt *time.Time `json:"grace_ends_at"`
	Key         string     `json:"key"`
}

// changer creates keys and changes them, and keeps the model informed.
type changer struct {
	api     *api
	project string
	model   *model
	target  int // as many keys are kept alive

	created atomic.Int64 // numbers the owners
	done    atomic.Int64 // changes
	counts  counts
}

// missed counts a change that was left out, because all before it waited for an answer.
func (c *changer) missed() { c.counts.add("left out") }

// once carries out one change, chosen at random so that the number of live keys stays
// about the same.
func (c *changer) once(ctx context.Context) error {
	defer c.done.Add(1)
	c.model.mu.Lock()
	live := len(c.model.live)
	c.model.mu.Unlock()
	if live < c.target/2 || live < c.target*2 && rand.IntN(100) < 30 {
		return c.create(ctx)
	}
	k := c.model.choose()
	if k == nil {
		return nil
	}
	n := rand.IntN(100)
	switch {
	case k.current == nil, live > c.target && n < 30:
		return c.change(ctx, k, "revoke", refused, "revoked")
	case k.state == "frozen":
		return c.change(ctx, k, "unfreeze", admitted, "active")
	case n < 60:
		return c.change(ctx, k, "freeze", frozen, "frozen")
	case n < 80:
		return c.rotate(ctx, k, 0)
	default:
		return c.rotate(ctx, k, 2*time.Second)
	}
}

func (c *changer) create(ctx context.Context) error {
	owner := fmt.Sprintf("app-%d", c.created.Add(1))
	var made apiKey
	sent := time.Now()
	in := map[string]string{"owner": owner}
	err := c.api.do(ctx, http.MethodPost, "/api/v1/projects/"+c.project+"/keys", in, &made)
	if errors.Is(err, errAnswerLost) {
		c.counts.add("answer lost")
		return nil
	}
	if err != nil {
		return err
	}
	c.model.add(made.ID, owner, made.Key, sent, time.Now())
	c.counts.add("create")
	return nil
}

// change freezes, unfreezes or revokes a key. Each is carried out at most once more when
// its answer is lost, to the same effect.
func (c *changer) change(ctx context.Context, k *key, how string, to verdict, state string) error {
	c.model.begin(k, to, time.Now(), 0)
	var now apiKey
	err := c.api.do(ctx, http.MethodPost, "/api/v1/keys/"+k.id+"/"+how, nil, &now)
	if errors.Is(err, errAnswerLost) {
		c.counts.add("answer lost")
		now.State, err = state, nil
	}
	if err == nil && now.State != state {
		err = fmt.Errorf("%s of key %s was answered with the state %s", how, k.id, now.State)
	}
	if err != nil {
		return err // the change stays under way
	}
	c.model.end(k, state)
	c.counts.add(how)
	return nil
}

func (c *changer) rotate(ctx context.Context, k *key, grace time.Duration) error {
	sent := time.Now()
	c.model.begin(k, refused, sent, grace)
	var now apiKey
	in := map[string]int{"grace_seconds": int(grace / time.Second)}
	err := c.api.do(ctx, http.MethodPost, "/api/v1/keys/"+k.id+"/rotate", in, &now)
	var ends time.Time
	switch {
	case errors.Is(err, errAnswerLost):
		c.counts.add("answer lost")
		now = apiKey{}
		if grace > 0 {
			ends = time.Now().Add(grace) // at the latest
		}
	case err != nil:
		return err
	case now.GraceEndsAt != nil:
		ends = *now.GraceEndsAt
	}
	c.model.rotated(k, now, sent, ends)
	c.counts.add("rotate")
	return nil
}
