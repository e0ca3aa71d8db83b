package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"

	"postern/client"
	"postern/core/contract"
	"postern/tools/account"
)

// importFactor is by how much an import of keys may increase the 99th percentile.
const importFactor = 3

// signIn creates the account that imports keys: an unclaimed workspace may not have as many.
func (s *server) signIn(ctx context.Context) (token string, err error) {
	control := "http://" + s.control
	token, err = account.First(ctx, http.DefaultClient, control, s.cmd.Path, "POSTERN_DATA_DIR="+s.data)
	if err != nil {
		return "", err
	}
	c, err := client.New(control, token)
	if err != nil {
		return "", err
	}
	_, err = client.Do(ctx, c, contract.CreateProxy, contract.NewProxy{
		Name: "imported", Target: "http://127.0.0.1:9", RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}.Request())
	return token, err
}

// importKeys imports keys that no import had before, until the end.
func (t *testbed) importKeys(s *server, token string) func(context.Context) (func(), error) {
	return func(ctx context.Context) (func(), error) {
		ctx, cancel := context.WithCancel(ctx)
		from, to := io.Pipe()
		address := "http://" + s.control + "/api/v1/projects/imported/keys/import?key_type=full"
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, from)
		if err != nil {
			cancel()
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/x-ndjson")
		begun, ended, stop := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			answer, err := http.DefaultClient.Do(r)
			if err == nil {
				err = answer.Body.Close()
				if answer.StatusCode != http.StatusOK {
					err = errors.Join(err, fmt.Errorf("import keys: %s", answer.Status))
				}
			}
			if err != nil {
				t.spoil(err)
				_ = from.CloseWithError(err)
			}
		}()
		go func() { _ = to.CloseWithError(writeRows(to, begun, stop)) }()
		select {
		case <-begun:
		case <-ended:
			cancel()
			return nil, t.wasSpoiled()
		}
		return func() { close(stop); <-ended; cancel() }, nil
	}
}

// writeRows writes rows of keys until stop is closed. It closes begun after the first thousands, when the import is
// writing.
func writeRows(to io.Writer, begun, stop chan struct{}) error {
	out := bufio.NewWriter(to)
	for n := range 1_000_000 {
		if n == 5000 {
			close(begun)
		}
		select {
		case <-stop:
			return out.Flush()
		default:
		}
		_, err := fmt.Fprintf(out, `{"owner":"customer-%d","key":"legacy-%s"}`+"\n", n%1000, rand.Text())
		if err != nil {
			return err
		}
	}
	return out.Flush()
}
