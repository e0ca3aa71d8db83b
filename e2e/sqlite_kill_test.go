package e2e

import (
	"context"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
)

// TestSQLite_killedInWrite kills the process again and again while it writes, and
// finds each change that it has acknowledged.
func TestSQLite_killedInWrite(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	server := harness.Serve(t, data, "")
	proxy := newProxy(t, server.URL)
	want := acknowledged{states: map[string]string{}}
	for range 3 {
		var writing sync.WaitGroup
		var killed atomic.Bool
		enough := want.after(20)
		for range 4 {
			api := harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal())
			writing.Go(func() {
				for n := 0; ; n++ {
					if err := want.createAndRevoke(t.Context(), api, proxy.Project.ID, n%2 == 0); err != nil {
						if !killed.Load() {
							t.Errorf("before the kill: %v", err)
						}
						return
					}
				}
			})
		}
		select {
		case <-enough:
		case <-gone(&writing):
			t.Fatal("nothing is written any more")
		}
		killed.Store(true)
		server.End(t, syscall.SIGKILL)
		writing.Wait()

		server = harness.Serve(t, data, "")
		got := map[string]string{}
		for key, err := range client.Each(t.Context(), harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal()),
			contract.ListKeys, contract.KeyList{ProjectPath: contract.ProjectPath{Project: proxy.Project.ID}}) {
			if err != nil {
				t.Fatal(err)
			}
			got[key.ID] = key.State
		}
		for id, state := range want.states {
			switch is, listed := got[id]; {
			case !listed:
				t.Errorf("key %s was created, and is not listed after the kill", id)
			case state == "":
				want.states[id] = is // from now on
			case is != state:
				t.Errorf("key %s was %s when it was acknowledged, and is %s after the kill", id, state, is)
			}
		}
	}
	server.End(t, syscall.SIGTERM)
	verify := exec.Command(harness.Program(t), "audit", "verify", "--data-dir", data)
	if out, err := verify.CombinedOutput(); err != nil {
		t.Errorf("the audit log after the kills: %v\n%s", err, out)
	}
}

// acknowledged are the keys whose changes were acknowledged.
type acknowledged struct {
	mu     sync.Mutex
	states map[string]string // by key; "" while a change is under way that may or may not be carried out
	left   int               // changes until enough is closed
	enough chan struct{}
}

// after returns a channel that is closed when as many more changes are acknowledged.
func (a *acknowledged) after(changes int) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left, a.enough = changes, make(chan struct{})
	return a.enough
}

func (a *acknowledged) keep(id, state string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.states[id] = state
	if a.left--; a.left == 0 {
		close(a.enough)
	}
}

// createAndRevoke creates a key and revokes it if it is told to. An error means that the last change
// was not acknowledged.
func (a *acknowledged) createAndRevoke(ctx context.Context, api *client.Client, project string, revoke bool) error {
	made, err := client.Do(ctx, api, contract.CreateKey, contract.NewKey{Owner: "busy"}.In(project))
	if err != nil {
		return err
	}
	key := made.Key
	if !revoke {
		a.keep(key.ID, key.State)
		return nil
	}
	a.keep(key.ID, "")
	if key, err = client.Do(ctx, api, contract.RevokeKey, key.Path()); err != nil {
		return err
	}
	a.keep(key.ID, key.State)
	return nil
}

// gone returns a channel that is closed when all have ended.
func gone(all *sync.WaitGroup) <-chan struct{} {
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	return ended
}
