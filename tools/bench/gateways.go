package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"postern/client"
	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
	"postern/service/serving"
)

// follower is the part of a gateway that follows the database: its feed and table of keys.
type follower struct {
	feed *serving.Feed
	keys *keys.Table
	team string
}

// place is where some of the gateways are, and how long revocations took to get there.
type place struct {
	name      string
	delay     time.Duration // one way to the database
	noticed   bool          // by the database's notices; else they only poll, as on a read replica
	followers []follower
	took      []time.Duration
}

// revocationsPerSecond is how often a key is revoked, through the API of a replica at the
// database.
const revocationsPerSecond = 20

// gatewaysIn follows one PostgreSQL with s.gateways gateways in three places, revokes keys, and
// prints when the gateways refuse them and what all of this costs the database.
func gatewaysIn(ctx context.Context, s settings, binary, dir, target string) error {
	if s.database == "" {
		return errors.New("-gateways needs -database: gateways of several machines share PostgreSQL only")
	}
	if err := os.Setenv("POSTERN_DATABASE_URL", s.database); err != nil { // not as an argument: it has a password
		return err
	}
	data := filepath.Join(dir, "data")
	server, err := startPostern(ctx, binary, data)
	if err != nil {
		return err
	}
	defer func() { server.stop() }()
	api, minted, err := revocable(ctx, s, server, target)
	if err != nil {
		return err
	}
	progress("starting %d gateways", s.gateways)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	places, done, err := startFollowers(ctx, s)
	if err != nil {
		return err
	}
	defer func() { stop(); done() }()
	load, err := newDatabaseLoad(ctx, s.database)
	if err != nil {
		return err
	}
	defer load.close()

	const idleFor = 10 * time.Second
	progress("measuring the database for %s without changes", idleFor)
	idle, err := load.during(ctx, func() error { return sleep(ctx, idleFor) })
	if err != nil {
		return err
	}
	progress("revoking %d keys, %d a second", len(minted), revocationsPerSecond)
	busy, err := load.during(ctx, func() error { return revokeAll(ctx, api, minted, places) })
	if err != nil {
		return err
	}
	fmt.Printf("\n%-44s %9s %9s %9s %9s\n", "from a revocation's answer until refused", "gateways", "p50 ms", "p99 ms",
		"max ms")
	for _, p := range places {
		printPlace(p)
	}
	fmt.Printf("\n%-44s %12s %12s %12s\n", "PostgreSQL", "statements/s", "CPU %", "connections")
	idle.print("no changes")
	busy.print(fmt.Sprintf("%d changes a second", revocationsPerSecond))
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// revocable creates a project with s.keys keys and returns those that will be revoked.
func revocable(
	ctx context.Context, s settings, server *postern, target string,
) (*client.Client, []contract.KeyWithSecret, error) {
	made, err := server.createProject(ctx, "bench", target)
	if err != nil {
		return nil, nil, err
	}
	stock, err := openStock(ctx, server.data, s.database)
	if err != nil {
		return nil, nil, err
	}
	err = stock.claim(ctx, made.name)
	if err == nil {
		progress("making %d keys", s.keys)
		_, err = stock.keys(ctx, made.name, s.keys, 1)
	}
	if err := errors.Join(err, stock.db.Close()); err != nil {
		return nil, nil, err
	}
	api, err := client.New(server.control, made.workspaceKey)
	if err != nil {
		return nil, nil, err
	}
	var out []contract.KeyWithSecret
	for i := range s.seconds * revocationsPerSecond {
		key, err := client.Do(ctx, api, contract.CreateKey, contract.NewKey{
			Owner: fmt.Sprintf("revoked-%d", i),
		}.In(made.name))
		if err != nil {
			return nil, nil, err
		}
		out = append(out, key)
	}
	return api, out, nil
}

// startFollowers spreads the gateways over the places. done waits until they have ended, after
// ctx has.
func startFollowers(ctx context.Context, s settings) (places []*place, done func(), err error) {
	const ocean = 40 * time.Millisecond
	places = []*place{
		{name: "next to the database", noticed: true},
		{name: fmt.Sprintf("%s away", 2*ocean), delay: ocean, noticed: true},
		{name: "polling, as on a read replica"},
	}
	var running sync.WaitGroup
	var opened []*models.DB
	done = func() {
		running.Wait()
		for _, db := range opened {
			_ = db.Close() // nothing of it is needed any more
		}
	}
	for i := range s.gateways {
		p := places[i%len(places)]
		address := s.database
		if p.delay > 0 {
			if address, err = farAway(ctx, s.database, p.delay); err != nil {
				return nil, done, err
			}
		}
		db, err := models.OpenWith(ctx, models.Options{DatabaseURL: address, MaxConns: models.MinConns})
		if err != nil {
			return nil, done, err
		}
		opened = append(opened, db)
		team, err := onlyTeam(ctx, db)
		if err != nil {
			return nil, done, err
		}
		table := keys.NewTable()
		f := &serving.Feed{
			DB: db, Keys: table, Log: slog.New(slog.DiscardHandler),
			Publish: func([]*snapshot.Project) error { return nil },
		}
		if err := f.Load(ctx); err != nil {
			return nil, done, err
		}
		p.followers = append(p.followers, follower{feed: f, keys: table, team: team})
		running.Go(func() {
			if p.noticed {
				f.Run(ctx)
				return
			}
			for sleep(ctx, serving.PollEvery) == nil {
				_ = f.Sync(ctx) // an error shows as a revocation that is never seen
			}
		})
	}
	return places, done, nil
}

// onlyTeam returns the team of the projects, which have one.
func onlyTeam(ctx context.Context, db *models.DB) (string, error) {
	ids, err := db.Read(ctx).AllProjectIDs()
	if err != nil || len(ids) == 0 {
		return "", err
	}
	project, err := db.Read(ctx).ProjectByID(ids[0])
	return project.TeamID, err
}

// revokeAll revokes the keys one after the other and notes for each gateway when it has heard.
func revokeAll(ctx context.Context, api *client.Client, all []contract.KeyWithSecret, places []*place) error {
	ticks := time.NewTicker(time.Second / revocationsPerSecond)
	defer ticks.Stop()
	var waiting sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for _, key := range all {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
		if _, err := client.Do(ctx, api, contract.RevokeKey, key.Path()); err != nil {
			return err
		}
		answered := time.Now()
		waiting.Go(func() {
			took, err := heard(ctx, policy.HashKey(key.Secret.Reveal()), answered, places)
			mu.Lock()
			defer mu.Unlock()
			failed = cmp.Or(failed, err)
			for i, p := range places {
				p.took = append(p.took, took[i]...)
			}
		})
	}
	waiting.Wait()
	return failed
}

// heard waits until no gateway takes the key any more, and returns for each place how long
// after its revocation's answer that was.
func heard(
	ctx context.Context, hash [32]byte, answered time.Time, places []*place,
) (took [][]time.Duration, err error) {
	took = make([][]time.Duration, len(places))
	left := make([][]follower, len(places))
	total := 0
	for i, p := range places {
		left[i] = slices.Clone(p.followers)
		total += len(left[i])
	}
	for total > 0 {
		for i := range left {
			left[i] = slices.DeleteFunc(left[i], func(f follower) bool {
				var key snapshot.Key
				if found, _ := f.keys.Lookup(f.team, hash, &key); found && key.State == snapshot.KeyActive {
					return false
				}
				took[i] = append(took[i], time.Since(answered))
				total--
				return true
			})
		}
		if time.Since(answered) > time.Minute {
			return took, fmt.Errorf("%d gateways still take a revoked key after a minute", total)
		}
		if err := sleep(ctx, 2*time.Millisecond); err != nil {
			return took, err
		}
	}
	return took, nil
}

func printPlace(p *place) {
	slices.Sort(p.took)
	at := func(share float64) float64 {
		if len(p.took) == 0 {
			return math.NaN()
		}
		return float64(p.took[int(share*float64(len(p.took)-1))]) / float64(time.Millisecond)
	}
	fmt.Printf("%-44s %9d %9.0f %9.0f %9.0f\n", p.name, len(p.followers), at(0.5), at(0.99), at(1))
}
