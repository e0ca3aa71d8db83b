package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"postern/client"
	"postern/core/contract"
	"postern/tools/account"
	"postern/tools/procfs"
)

// importKeysIn imports a file with so many keys of another form, and prints how long that takes, what memory the server
// takes above idle, and how a slow call's time (p99) changes during another import. The database is SQLite in dir, or
// the one at s.database.
func (l load) importKeysIn(ctx context.Context, s settings, binary, dir, target string) error {
	if err := os.Setenv("POSTERN_DATABASE_URL", s.database); err != nil { // not as an argument: it has a password
		return err
	}
	server, err := startPostern(ctx, binary, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer func() { server.stop() }()
	token, err := account.First(ctx, http.DefaultClient, server.control, binary, "POSTERN_DATA_DIR="+server.data)
	if err != nil {
		return err
	}
	api, err := client.New(server.control, token)
	if err != nil {
		return err
	}
	made, err := client.Do(ctx, api, contract.CreateProxy, contract.NewProxy{
		Name: "large", Target: target, RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}.Request())
	if err != nil {
		return err
	}
	caller := peer{
		name: "postern", url: server.gateway + "/large/1.0.0/prod", key: made.APIKeys["prod"].Key.Reveal(),
		pids: server.pids,
	}
	calls := callsOn(1, caller)
	if _, err := l.measure(ctx, calls, caller); err != nil { // warms up
		return err
	}
	for n, during := range []bool{false, true} {
		file := filepath.Join(dir, fmt.Sprintf("keys-%d.ndjson", n))
		if err := writeKeys(file, n, s.importKeys); err != nil {
			return err
		}
		if !during {
			progress("importing %d keys without calls", s.importKeys)
			err = importAlone(ctx, server, token, file, s.importKeys)
		} else {
			progress("importing %d keys under calls on one connection", s.importKeys)
			err = l.importKeysUnder(ctx, server, token, file, caller)
		}
		if err := errors.Join(err, os.Remove(file)); err != nil {
			return err
		}
	}
	return nil
}

// writeKeys writes a file of keys that no other file of another number has.
func writeKeys(path string, number, n int) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	for i := range n {
		fmt.Fprintf(out, `{"owner":"customer-%06d","key":"legacy_%dk9J2hG5fD8sA_%08d","key_type":"full"}`+"\n",
			i%100_000, number, i)
	}
	return out.Flush()
}

// importFile sends a file of keys, and returns how long that took.
func importFile(
	ctx context.Context, server *postern, token, path string,
) (contract.KeysImported, time.Duration, error) {
	var out contract.KeysImported
	file, err := os.Open(path)
	if err != nil {
		return out, 0, err
	}
	defer func() { _ = file.Close() }()
	address := server.control + "/api/v1/projects/large/keys/import"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, file)
	if err != nil {
		return out, 0, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/x-ndjson")
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return out, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	took := time.Since(began)
	if answer.StatusCode != http.StatusOK {
		return out, took, fmt.Errorf("import keys: %s", answer.Status)
	}
	return out, took, json.NewDecoder(answer.Body).Decode(&out)
}

// importAlone prints how long an import takes when nothing else runs, and its memory.
func importAlone(ctx context.Context, server *postern, token, path string, n int) error {
	pid := server.pids()[0]
	idle, err := procfs.Resident(pid)
	if err == nil {
		err = procfs.ResetPeak(pid)
	}
	if err != nil {
		return err
	}
	out, took, err := importFile(ctx, server, token, path)
	peak, failed := procfs.Peak(pid)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if int(out.Created) != n {
		return fmt.Errorf("%d of %d keys were created: %+v", out.Created, n, out.Errors)
	}
	row(fmt.Sprintf("import of %d keys", n), took.Seconds(), "s")
	row("  keys imported", float64(n)/took.Seconds(), "keys/s")
	row("  peak memory above idle", (peak-idle)/1e6, "MB")
	after, err := procfs.Resident(pid)
	row("  memory afterward, above idle", (after-idle)/1e6, "MB")
	return err
}

// importKeysUnder prints the p99 of slow calls without an import and during one.
func (l load) importKeysUnder(ctx context.Context, server *postern, token, path string, caller peer) error {
	calls := callsOn(1, caller)
	without, err := l.slowest(ctx, calls, caller, nil)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	var took time.Duration
	go func() {
		_, lasted, err := importFile(ctx, server, token, path)
		took = lasted
		done <- err
	}()
	var failed error
	ended := false
	during, err := l.slowest(ctx, calls, caller, func() (bool, error) {
		select {
		case failed = <-done:
			ended = true
			return false, failed
		default:
			return true, nil
		}
	})
	if !ended {
		failed = <-done
	}
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	row("import under calls on one connection", took.Seconds(), "s")
	row("  p99 of these calls without the import", without/1000, "ms")
	row("  p99 of them during it", during/1000, "ms")
	row("  ratio", during/without, "")
	return nil
}
