package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"postern/testkit/ports"
)

// profiled is a file of package main of ./cmd/postern that serves profiles. Only
// the binary that is built for -profile has it.
//
//go:embed profiled.go.txt
var profiled []byte

// profilesAddr is the variable that tells it where to listen.
const profilesAddr = "BENCH_PROFILES"

// withProfiles writes what `go build -overlay` takes to add profiled.
func withProfiles(dir string) (overlay string, err error) {
	added, err := filepath.Abs("cmd/postern/profiled.go")
	if err != nil {
		return "", err
	}
	addr, err := ports.ReserveAddress()
	if err != nil {
		return "", err
	}
	if err := os.Setenv(profilesAddr, addr); err != nil { // for every Postern that is started
		return "", err
	}
	source, overlay := filepath.Join(dir, "profiled.go"), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{added: source}})
	return overlay, errors.Join(err, os.WriteFile(source, profiled, 0o600), os.WriteFile(overlay, text, 0o600))
}

// profileInto writes where Postern spends its time on the calls of a scenario's
// first peer, for `go tool pprof`.
func (l load) profileInto(ctx context.Context, file string, sc scenario) error {
	const length = 20
	l.seconds = length + 4
	progress("profiling for %d s", length)
	failed := make(chan error, 1)
	go func() {
		time.Sleep(2 * time.Second) // until the load has begun
		address := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", os.Getenv(profilesAddr), length)
		failed <- fetchProfile(ctx, address, file)
	}()
	_, err := l.measure(ctx, sc, sc.peers[0])
	return errors.Join(err, <-failed)
}

func fetchProfile(ctx context.Context, url, file string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("fetch the profile: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	profile, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("fetch the profile: %s, %w", resp.Status, err)
	}
	return os.WriteFile(file, profile, 0o600)
}
