package conformance

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// limitedProject has limits that a few calls use up, in windows so long that a
// test hardly ever sees one end.
func limitedProject(target string, limits snapshot.ProjectLimits) (*snapshot.Project, map[string]sample.Plain) {
	p, _ := sample.Fresh(target, sample.RequiresKeys())
	p.FallbackOwner, p.Limits = "fallback-owner", limits
	fallback := sample.RequiresKeys()
	fallback.Keyless = snapshot.OwnerFallback
	p.Versions = append(p.Versions,
		snapshot.Version{ID: "ver_2", Name: "2.0.0", Access: fallback,
			Environments: []snapshot.Environment{{ID: "env_3", Name: "prod", Target: target}}},
		snapshot.Version{
			ID:   "ver_3",
			Name: "open",
			Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode: snapshot.Passthrough, Keyless: snapshot.Reject,
			}},
			Environments: []snapshot.Environment{{ID: "env_4", Name: "prod", Target: target}},
		})
	for i := range p.KeyTypes {
		if p.KeyTypes[i].Name == "writer" {
			p.KeyTypes[i].Limits = snapshot.Limits{snapshot.Hour: 6, snapshot.Month: 8}
		}
	}
	keys := map[string]sample.Plain{}
	for _, name := range []string{"active", "allenvs", "limited", "readonly", "unlimited", "writer", "frozen"} {
		keys[name] = sample.Keys()[name]
	}
	limited := keys["limited"]
	limited.Limits = &snapshot.Limits{snapshot.Day: 3}
	keys["limited"] = limited
	return p, keys
}

var tight = snapshot.ProjectLimits{
	Key:     snapshot.Limits{snapshot.Hour: 9, snapshot.Year: 50},
	Owner:   snapshot.Limits{snapshot.Hour: 22, snapshot.Day: 25},
	IP:      snapshot.Limits{snapshot.Hour: 32, snapshot.Month: 40},
	Project: snapshot.Limits{snapshot.Year: 130},
}

// together starts a gateway that runs the export of the project next to ours.
type together func(t *testing.T, folder string, up *upstream) *peer

// sameLimits sends calls in one order to both, until every limit has refused some of them, and compares what callers
// get.
func sameLimits(t *testing.T, start together) {
	t.Helper()
	for {
		hour := time.Now().UTC().Truncate(time.Hour)
		up := newUpstream(t)
		project, keys := limitedProject(up.url, tight)
		postern := startPosternOf(t, up, project, keys)
		other := start(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
		codes, differences := map[string]int{}, []string(nil)
		for i, c := range limitedCalls(keys) {
			want, got := decided(postern.send(c)), decided(other.send(c))
			codes[want.Code]++
			if diff := cmp.Diff(want, got); diff != "" {
				differences = append(
					differences, fmt.Sprintf("call %d, %s (-postern +%s):\n%s", i, c.Name, other.name, diff),
				)
			}
		}
		if !time.Now().UTC().Truncate(time.Hour).Equal(hour) {
			continue // a window ended between two calls
		}
		for _, difference := range differences {
			t.Error(difference)
		}
		if codes[""] < 50 || codes["rate_limited"] < 20 || codes["quota_exceeded"] < 40 {
			t.Errorf("answers %v: that shows too little", codes)
		}
		t.Logf("%s: %d calls, answers %v", other.name, len(limitedCalls(keys)), codes)
		return
	}
}

// limitedCalls is the same mixture in every run.
func limitedCalls(keys map[string]sample.Plain) []Case {
	choice := rand.New(rand.NewPCG(1, 2))
	calls := []Case{
		get(
			"without a key", prod+"/x",
		), get("with a bad key", prod+"/x", "X-API-Key: bad"), get("frozen", prod+"/x", key(keys["frozen"])),
		get(
			"fallback", "/2.0.0/prod/x",
		), get("no one", "/open/prod/x"), get("no one again", "/open/prod/x", "X-Tell: limits"),
	}
	for _, name := range []string{"active", "allenvs", "limited", "readonly", "unlimited", "writer"} {
		calls = append(
			calls, get(name, prod+"/x", key(keys[name])),
			get(name+" elsewhere", "/2.0.0/prod/x", key(keys[name])),
		)
	}
	var out []Case
	for range 500 {
		c := calls[choice.IntN(len(calls))]
		c.From = fmt.Sprintf("127.0.0.%d", 1+choice.IntN(4))
		out = append(out, c)
	}
	return out
}

// noOvershoot has 64 callers at once use up a limit, of which exactly as many are
// let through as it admits; and what callers took who were refused by another
// limit is given back.
func noOvershoot(t *testing.T, start together) {
	t.Helper()
	const callers, each, most, year = 64, 6, 100, snapshot.Year
	for name, c := range map[string]struct {
		limits snapshot.ProjectLimits
		first  int // calls that are let through from one address, the rest from another
	}{
		"project": {snapshot.ProjectLimits{Project: snapshot.Limits{year: most}}, most},
		"owner":   {snapshot.ProjectLimits{Owner: snapshot.Limits{year: most}}, most},
		"key":     {snapshot.ProjectLimits{Key: snapshot.Limits{year: most}}, most},
		"all together": {snapshot.ProjectLimits{
			Key:     snapshot.Limits{year: most},
			Owner:   snapshot.Limits{year: most + 1},
			IP:      snapshot.Limits{year: most + 2},
			Project: snapshot.Limits{year: most + 3},
		}, most},
		"address before key": {snapshot.ProjectLimits{
			Key: snapshot.Limits{year: most},
			IP:  snapshot.Limits{year: 60},
		}, 60},
	} {
		t.Run(name, func(t *testing.T) {
			up := newUpstream(t)
			project, keys := limitedProject(up.url, c.limits)
			p := start(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
			call := get("active", prod+"/x", key(keys["active"]))
			if let := crowd(t, p, call, callers, each); let != c.first {
				t.Errorf("%d calls were let through, want %d", let, c.first)
			}
			if rest := crowd(t, p, from("127.0.0.2", call), callers, each); rest != most-c.first {
				t.Errorf("%d more were let through from another address, want %d", rest, most-c.first)
			}
		})
	}
}

// crowd sends a call from many callers at once and counts what reached the upstream.
func crowd(t *testing.T, p *peer, c Case, callers, each int) int {
	t.Helper()
	p.up.take()
	ready, all := make(chan struct{}), sync.WaitGroup{}
	answers := make(chan int, callers*each)
	for range callers {
		all.Go(func() {
			<-ready
			for range each {
				out := p.exchange(c)
				answers <- out.Status
			}
		})
	}
	close(ready)
	all.Wait()
	close(answers)
	let := 0
	for status := range answers {
		switch status {
		case http.StatusOK:
			let++
		case http.StatusTooManyRequests:
		default:
			t.Errorf("an answer of %d", status)
		}
	}
	if seen := len(p.up.take()); seen != let {
		t.Errorf("%d calls reached the upstream, and %d got 200", seen, let)
	}
	return let
}

func startNginxPeer(t *testing.T, folder string, up *upstream) *peer {
	return startNginx(t, folder, up)
}

func TestPlugin_countsInNginx(t *testing.T) { sameLimits(t, startNginxPeer) }

func TestPlugin_neverTooMany(t *testing.T) { noOvershoot(t, startNginxPeer) }
