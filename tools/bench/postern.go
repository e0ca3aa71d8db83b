package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"postern/testkit/ports"
	"postern/tools/procfs"
)

// postern is the product, running.
type postern struct {
	*process
	control, gateway string // base URLs
	data             string // directory
	ready            time.Duration
}

// startPostern runs `postern serve` on the data directory, with more flags, and waits
// until /readyz says so.
func startPostern(ctx context.Context, binary, data string, flags ...string) (*postern, error) {
	control, err := ports.ReserveAddress()
	if err != nil {
		return nil, err
	}
	gateway, err := ports.ReserveAddress()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	line := []string{"serve", "--data-dir", data, "--control-addr", control, "--gateway-addr", gateway}
	p, err := start(binary, append(line, flags...)...)
	if err != nil {
		return nil, err
	}
	out := &postern{process: p, control: "http://" + control, gateway: "http://" + gateway, data: data}
	if err := p.waitFor(func() bool { return isReady(ctx, out.control) }); err != nil {
		return nil, err
	}
	out.ready = time.Since(began)
	return out, nil
}

func isReady(ctx context.Context, control string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, control+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// project is what POST /proxy gave.
type project struct {
	control, name, workspaceKey string
	url                         string // of its environment at the gateway
	key                         string // of its bootstrap owner
}

func (p *postern) createProject(ctx context.Context, name, target string) (*project, error) {
	return p.create(ctx, name, target, map[string]any{"mode": "authenticate", "methods": []string{"api_key"}})
}

func (p *postern) create(ctx context.Context, name, target string, access map[string]any) (*project, error) {
	var answer struct {
		Project struct {
			Environments []struct {
				URL string `json:"url"`
			} `json:"environments"`
		} `json:"project"`
		APIKeys map[string]struct {
			Key string `json:"key"`
		} `json:"api_keys"`
		WorkspaceKey string `json:"workspace_key"`
	}
	err := post(ctx, p.control+"/proxy", map[string]any{
		"name": name, "target": target, "requests_auth": access,
	}, &answer)
	if err != nil {
		return nil, err
	}
	if len(answer.Project.Environments) != 1 || answer.WorkspaceKey == "" {
		return nil, fmt.Errorf("POST /proxy: the answer names no environment or no workspace key")
	}
	return &project{control: p.control, name: name, workspaceKey: answer.WorkspaceKey,
		url: answer.Project.Environments[0].URL, key: answer.APIKeys["prod"].Key}, nil
}

// post sends JSON and reads the 201 into answer.
func post(ctx context.Context, url string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("POST %s: %w", url, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("POST %s: %w", url, err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("POST %s: %w", url, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err = io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("POST %s: %w", url, err)
	}
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("POST %s: %s: %s", url, resp.Status, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("POST %s: %w", url, err)
	}
	return nil
}

// measureControl takes the figures that no proxy has: POST /proxy on SQLite, the
// start on the database that this run has filled, the memory after it, and the binary's size.
func measureControl(ctx context.Context, binary string, size int64, target string, p **postern) error {
	const creations, starts = 200, 7
	progress("POST /proxy, %d times, and %d starts", creations, starts)
	var took []time.Duration
	for i := range creations {
		began := time.Now()
		if _, err := (*p).createProject(ctx, fmt.Sprintf("created-%d", i), target); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)

	var ready []float64
	for range starts {
		(*p).stop()
		again, err := startPostern(ctx, binary, (*p).data)
		if err != nil {
			return err
		}
		*p = again
		ready = append(ready, again.ready.Seconds()*1000)
	}
	resident, err := procfs.Resident((*p).pids()[0])
	if err != nil {
		return err
	}
	fmt.Printf("\n%-44s %8.1f ms\n%-44s %8.1f ms\n%-44s %8.1f MB\n%-44s %8.1f MB\n",
		"POST /proxy on SQLite, p95", took[len(took)*95/100].Seconds()*1000,
		"start to ready on this database, median", median(ready, func(ms float64) float64 { return ms }),
		"resident memory then", resident/1e6,
		"binary", float64(size)/1e6)
	return nil
}
