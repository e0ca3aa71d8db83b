package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"postern/bundle"
	"postern/bundle/targets"
)

// exportEvery is the pause between two exports.
const exportEvery = 5 * time.Second

// export exports the project again and again while load lasts, and verifies each zip.
func (r *run) export(ctx, load context.Context) {
	for sleep(load, exportEvery) == nil {
		if err := r.exportOnce(ctx); err != nil {
			r.note(fmt.Errorf("export: %w", err))
			continue
		}
		r.mu.Lock()
		r.exports++
		r.mu.Unlock()
	}
}

// finishedWithin is far beyond what an export takes whose worker is killed.
const finishedWithin = 3 * time.Minute

func (r *run) exportOnce(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, finishedWithin)
	defer stop()
	var e struct{ ID, State, SHA256, Error string }
	err := r.api.do(ctx, http.MethodPost, "/api/v1/projects/"+r.changer.project+"/exports",
		map[string]string{"format": "gateway"}, &e)
	for err == nil && (e.State == "queued" || e.State == "building") {
		if err = sleep(ctx, 300*time.Millisecond); err == nil {
			err = r.api.do(ctx, http.MethodGet, "/api/v1/exports/"+e.ID, nil, &e)
		}
	}
	if err != nil {
		return err
	}
	if e.State != "ready" {
		return fmt.Errorf("%s is %s: %s", e.ID, e.State, e.Error)
	}
	zip, err := r.download(ctx, e.ID)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(zip); hex.EncodeToString(sum[:]) != e.SHA256 {
		return fmt.Errorf("the zip of %s has another sum than announced", e.ID)
	}
	_, err = bundle.Verify(ctx, bytes.NewReader(zip), int64(len(zip)), bundle.Against{Targets: targets.All()})
	return err
}

// downloadTries are enough for every fault.
const downloadTries = 20

// download is sent again like other requests, but its answer is not JSON.
func (r *run) download(ctx context.Context, id string) ([]byte, error) {
	request := r.api.request(http.MethodGet, "/api/v1/exports/"+id+"/download", nil)
	for {
		status, zip, _, err := r.api.attempt(ctx, request)
		again := err != nil || status == http.StatusServiceUnavailable || status == http.StatusBadGateway
		switch {
		case err == nil && status == http.StatusOK:
			return zip, nil
		case !again, request.attempts == downloadTries:
			return nil, errors.Join(err, fmt.Errorf("download of %s: %d %.200s", id, status, zip))
		}
		if err := sleep(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}
