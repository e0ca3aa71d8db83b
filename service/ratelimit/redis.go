package ratelimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"postern/core/policy"
	"postern/core/snapshot"
)

// redisPause is how long Redis is not used after it has failed a call.
const redisPause = 500 * time.Millisecond

// RedisOptions configure a Redis limiter.
type RedisOptions struct {
	URL  string        // redis:// or rediss://
	Open bool          // while Redis is down, each node counts for itself; otherwise calls are refused
	Wait time.Duration // how long a call waits for Redis; 0: 250 ms
	Log  *slog.Logger

	Trace bool // commands are recorded as spans
}

// outlives is how much longer than its window a counter stays in Redis, so that replicas
// whose clocks differ by up to that use the same one.
const outlives = time.Minute

// ignoredDrift is how far Redis's clock may be off this process's before windows go by it.
const ignoredDrift = time.Second

// drift is how far Redis's clock is ahead of this process's. The measurement is off by up to half the time of the
// answer (RFC 5905, section 8).
type drift struct{ ahead, within time.Duration }

// agrees reports whether two measurements can be of the same clocks.
func (d drift) agrees(o drift) bool { return (d.ahead - o.ahead).Abs() <= d.within+o.within }

// Redis counts for several nodes together, in Redis 6 or newer, on one server or in a cluster. Create one with
// NewRedis. It is safe for concurrent use.
type Redis struct {
	servers *deployment
	local   *Local // counts while Redis is down; nil: calls are refused then
	log     *slog.Logger
	wait    time.Duration
	now     func() time.Time
	drift   atomic.Pointer[drift] // nil until the clocks are compared
	warned  atomic.Bool           // that the clock is off
	pause   atomic.Int64          // Unix nanoseconds until which Redis is not used
	down    atomic.Bool
	trying  sync.Mutex   // held by the call that asks Redis while it is down
	failed  atomic.Int64 // calls that were not counted in Redis
}

// NewRedis returns a limiter that connects with the first call. It fails if the URL is not
// valid.
func NewRedis(o RedisOptions) (*Redis, error) {
	quiet()
	options, err := redis.ParseURL(o.URL)
	if err != nil {
		// err is not wrapped: it contains the password.
		return nil, errors.New("the Redis URL isn't valid: use a URL such as redis://host:6379/0")
	}
	wait := cmp.Or(o.Wait, 250*time.Millisecond)
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = wait, wait, wait
	options.PoolTimeout, options.MaxRetries, options.DialerRetries = wait, -1, 1
	options.ContextTimeoutEnabled = true
	r := &Redis{servers: newDeployment(options, o.Trace), log: o.Log, wait: wait, now: time.Now}
	if o.Open {
		r.local = NewLocal()
	}
	return r, nil
}

// quiet keeps the library from writing to standard error, in the whole process. Its
// failures are returned as errors too.
var quiet = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Close ends the connections.
func (r *Redis) Close() error { return r.servers.close() }

// Take implements policy.Limiter. Its error means that Redis is down, and that calls are
// refused until it is back. It moves t.Now to Redis's clock, where this one is off: all replicas count
// in the same windows.
func (r *Redis) Take(ctx context.Context, t *policy.Tally) error {
	now := t.Now
	err := r.ask(ctx, t, now)
	if err == nil {
		return nil
	}
	t.Now = r.shared(now)
	r.failed.Add(1)
	if r.local == nil {
		return err
	}
	return r.local.Take(ctx, t)
}

// ask counts a call in Redis. After a failure, one call in redisPause tries whether Redis is back:
// each of them may have to wait.
func (r *Redis) ask(ctx context.Context, t *policy.Tally, now time.Time) error {
	if r.now().UnixNano() < r.pause.Load() {
		return errPaused
	}
	tries := r.down.Load()
	if tries {
		if !r.trying.TryLock() {
			return errPaused
		}
		defer r.trying.Unlock()
	}
	err := r.take(ctx, t, now)
	if err == nil {
		// A call that was sent before the failure of another one proves nothing.
		if tries && r.down.CompareAndSwap(true, false) {
			r.log.Info("Redis is counting calls again")
		}
		return nil
	}
	r.pause.Store(r.now().Add(redisPause).UnixNano())
	if r.down.CompareAndSwap(false, true) {
		r.log.Error("Redis isn't counting calls", "error", err, "effect", r.effect())
	}
	return err
}

// RedisStats are the measurements of a Redis limiter.
type RedisStats struct {
	Up          bool  // Redis counted the last call
	Failures    int64 // calls that it did not count
	Conns, Idle int   // connections, and those of them that are not in use
}

// Stats returns the measurements.
func (r *Redis) Stats() RedisStats {
	pool := r.servers.client().PoolStats()
	return RedisStats{
		Up:       !r.down.Load(),
		Failures: r.failed.Load(),
		Conns:    int(pool.TotalConns),
		Idle:     int(pool.IdleConns),
	}
}

var errPaused = errors.New("ratelimit: Redis was down a moment ago")

// ForConnection returns r: it caches nothing between calls.
func (r *Redis) ForConnection() policy.Limiter { return r }

func (r *Redis) effect() string {
	if r.local == nil {
		return "calls with limits are refused"
	}
	return "each node counts on its own"
}

// takeScript counts in all keys or in none. ARGV has the limits of the keys, then their
// lifetimes in seconds. It returns the counts, then 1 if a limit was reached, and at the end
// Redis's clock in microseconds.
var takeScript = redis.NewScript(`
local refused, counts = 0, {}
for i, key in ipairs(KEYS) do
  counts[i] = tonumber(redis.call('GET', key) or '0')
  if counts[i] >= tonumber(ARGV[i]) then refused = 1 end
end
if refused == 0 then
  for i, key in ipairs(KEYS) do
    counts[i] = redis.call('INCR', key)
    if counts[i] == 1 then redis.call('EXPIRE', key, ARGV[#KEYS + i]) end
  end
end
counts[#KEYS + 1] = refused
local time = redis.call('TIME')
counts[#KEYS + 2] = time[1] * 1000000 + time[2]
return counts
`)

func (r *Redis) take(ctx context.Context, t *policy.Tally, now time.Time) error {
	ctx, stop := context.WithTimeout(ctx, r.wait)
	defer stop()
	if r.drift.Load() == nil {
		sent := r.now()
		theirs, err := r.servers.client().Time(ctx).Result()
		if err != nil {
			return fmt.Errorf("ratelimit: ask Redis for the time: %w", err)
		}
		r.compare(sent, theirs)
	}
	t.Now = r.shared(now)
	keys, limits, ages := windowsOf(t)
	if len(keys) == 0 {
		return nil
	}
	sent := r.now()
	count := func() ([]int64, error) {
		return takeScript.Run(ctx, r.servers.client(), keys, append(limits, ages...)...).Int64Slice()
	}
	counts, err := count()
	if r.servers.follow(err) {
		sent = r.now()
		counts, err = count()
	}
	if err != nil {
		return fmt.Errorf("ratelimit: count in Redis: %w", err)
	}
	if len(counts) != len(keys)+2 {
		return fmt.Errorf("ratelimit: Redis returned %d counts for %d windows", len(counts), len(keys))
	}
	t.Refused = counts[len(keys)] == 1
	r.compare(sent, time.UnixMicro(counts[len(keys)+1]))
	i := 0
	for s := range t.Shares() {
		share := &t.Shares()[s]
		for w, limit := range share.Limits {
			if limit > 0 {
				share.Left[w] = max(0, limit-counts[i])
				i++
			}
		}
	}
	return nil
}

// compare notes how far this clock is off Redis's, which was theirs in an answer to what was sent then. If measurements
// agree, it keeps the closest one, because each slow answer would move the windows.
func (r *Redis) compare(sent, theirs time.Time) {
	half := r.now().Sub(sent) / 2
	measured := drift{ahead: theirs.Sub(sent.Add(half)), within: half}
	known := r.drift.Load()
	if known != nil && measured.within >= known.within && measured.agrees(*known) {
		return
	}
	r.drift.Store(&measured)
	if measured.ahead.Abs() > ignoredDrift && !r.warned.Swap(true) {
		r.log.Warn("this clock differs from the Redis clock, which limits use", "ahead", -measured.ahead)
	}
}

// shared returns a time of this clock on the one that replicas share.
func (r *Redis) shared(now time.Time) time.Time {
	known := r.drift.Load()
	if known == nil || known.ahead.Abs() <= ignoredDrift {
		return now
	}
	return now.Add(known.ahead)
}

// windowsOf returns the keys of a tally's windows with their limits and lifetimes. The
// braces keep a project's keys on one node of a cluster (Redis Cluster specification, hash
// tags). Subjects come last because they can contain any character.
func windowsOf(t *policy.Tally) (keys []string, limits, ages []any) {
	for i := range t.Shares() {
		share := &t.Shares()[i]
		for w, limit := range share.Limits {
			if limit == 0 {
				continue
			}
			window := snapshot.Window(w)
			start, end := policy.WindowBounds(window, t.Now)
			keys = append(keys, strings.Join([]string{
				"postern",
				"{" + share.Project + "}",
				window.String(),
				strconv.FormatInt(start, 10),
				share.By.String(),
				share.Subject,
			}, ":"))
			limits = append(limits, limit)
			ages = append(ages, end-t.Now.Unix()+int64(outlives/time.Second))
		}
	}
	return keys, limits, ages
}
