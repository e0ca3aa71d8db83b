package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"postern/testkit/ports"
)

// kongReady returns how long Kong takes from its start on an exported zip to the first call
// that a key opens. launcher is a program such as tools/kong-docker.
func kongReady(ctx context.Context, launcher, zipped, path, key string) (took time.Duration, err error) {
	dir, err := unpack(zipped)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	proxy, err := ports.Reserve()
	if err != nil {
		return 0, err
	}
	admin, err := ports.Reserve()
	if err != nil {
		return 0, err
	}
	call, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", proxy, path), nil)
	if err != nil {
		return 0, err
	}
	call.Header.Set("X-API-Key", key)
	began := time.Now()
	kong, err := start(launcher, filepath.Join(dir, "gateway"), strconv.Itoa(proxy), strconv.Itoa(admin))
	if err != nil {
		return 0, err
	}
	defer kong.stop()
	answer := "none"
	err = kong.waitFor(func() bool {
		took = time.Since(began)
		res, err := http.DefaultClient.Do(call)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		answer = res.Status
		_, err = io.Copy(io.Discard, res.Body)
		return err == nil && res.StatusCode == http.StatusOK
	})
	if err != nil {
		err = fmt.Errorf("the last answer was %s: %w", answer, err)
	}
	return took, err
}

// unpack returns a new directory with the files of a zip.
func unpack(name string) (string, error) {
	dir, err := os.MkdirTemp("", "postern-bench-zip-")
	if err != nil {
		return "", err
	}
	files, err := zip.OpenReader(name)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	if err := errors.Join(os.CopyFS(dir, files), files.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("unpack %s: %w", name, err), os.RemoveAll(dir))
	}
	return dir, nil
}
