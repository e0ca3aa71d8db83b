package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"postern/client"
	"postern/core/contract"
	"postern/tools/account"
	"postern/tools/procfs"
)

// exportGroups is the number of groups that the exported users are in.
const exportGroups = 1000

// exportIn exports a project with so many keys and users for Kong, and prints how long that
// and verifying the zip take, what memory the server takes above idle, and how a slow call's
// time (p99) changes while two exports run. The database is SQLite in dir, or the one at s.database.
func (l load) exportIn(ctx context.Context, s settings, binary, dir, target string) error {
	if err := os.Setenv("POSTERN_DATABASE_URL", s.database); err != nil { // not as an argument: it has a password
		return err
	}
	data := filepath.Join(dir, "data")
	server, err := startPostern(ctx, binary, data)
	if err != nil {
		return err
	}
	defer func() { server.stop() }()
	made, err := server.createProject(ctx, "large", target)
	if err != nil {
		return err
	}
	server.stop()
	progress("making %d keys and %d users", s.export, s.export)
	if err := fillExport(ctx, s, data); err != nil {
		return err
	}
	if server, err = startPostern(ctx, binary, data); err != nil {
		return err
	}
	api, err := client.New(server.control, made.workspaceKey)
	if err != nil {
		return err
	}
	caller := peer{name: "postern", url: server.gateway + "/large/1.0.0/prod", key: made.key, pids: server.pids}
	if _, err := l.measure(ctx, callsOn(8, caller), caller); err != nil { // warms up
		return err
	}
	progress("exporting without calls")
	alone, err := exportTimes(ctx, api, server, 1, func() error { return nil })
	if err != nil {
		return err
	}
	rows := float64(2 * s.export)
	row("rows into the zip", rows/alone.took.Seconds(), "rows/s")
	row("size of the zip", float64(alone.export.SizeBytes)/1e6, "MB")
	row("peak memory above idle", alone.memory, "MB")
	for _, connections := range []int{1, 8} {
		progress("exporting twice under calls on %d connections", connections)
		calls := callsOn(connections, caller)
		without, err := l.slowest(ctx, calls, caller, nil)
		if err != nil {
			return err
		}
		var during float64
		busy, err := exportTimes(ctx, api, server, 2, func() (err error) {
			during, err = l.slowest(ctx, calls, caller, func() (bool, error) { return isExporting(ctx, api) })
			return err
		})
		if err != nil {
			return err
		}
		row(fmt.Sprintf("rows into two zips under calls on %d connections", connections),
			2*rows/busy.took.Seconds(), "rows/s")
		row("  p99 of these calls without an export", without/1000, "ms")
		row("  p99 of them during both", during/1000, "ms")
		row("  ratio", during/without, "")
	}
	zipped := filepath.Join(dir, "large.zip")
	verified, err := verifyExport(ctx, api, alone.export, binary, zipped)
	if err != nil {
		return err
	}
	row("postern verify", verified.Seconds(), "s")
	if err := l.importIn(ctx, server, binary, zipped, caller, rows); err != nil {
		return err
	}
	if s.kong == "" {
		return nil
	}
	progress("starting Kong on the zip")
	ready, err := kongReady(ctx, s.kong, zipped, "/large/1.0.0/prod/orders/42", made.key)
	if err != nil {
		return err
	}
	row("Kong ready", ready.Seconds(), "s")
	return nil
}

// importIn imports a zip into the server, of which it creates the first account, and prints how long that takes and how
// a slow call's time changes during it.
func (l load) importIn(
	ctx context.Context, server *postern, binary, zipped string, caller peer, rows float64,
) error {
	token, err := account.First(ctx, http.DefaultClient, server.control, binary, "POSTERN_DATA_DIR="+server.data)
	if err != nil {
		return err
	}
	api, err := client.New(server.control, token)
	if err != nil {
		return err
	}
	for _, connections := range []int{1, 8} {
		progress("importing under calls on %d connections", connections)
		calls := callsOn(connections, caller)
		without, err := l.slowest(ctx, calls, caller, nil)
		if err != nil {
			return err
		}
		took, during, err := l.importUnder(ctx, calls, caller, api, zipped)
		if err != nil {
			return err
		}
		row(fmt.Sprintf("rows imported under calls on %d connections", connections), rows/took.Seconds(), "rows/s")
		row("  p99 of these calls without the import", without/1000, "ms")
		row("  p99 of them during it", during/1000, "ms")
		row("  ratio", during/without, "")
	}
	return nil
}

func row(what string, value float64, unit string) { fmt.Printf("%-52s %12.2f %s\n", what, value, unit) }

// callsOn are calls that keep so many connections busy: one leaves the machine room for an
// export, several do not.
func callsOn(connections int, p peer) scenario {
	return scenario{name: "export", connections: connections, path: "/orders/42", peers: []peer{p}}
}

func fillExport(ctx context.Context, s settings, data string) (err error) {
	stock, err := openStock(ctx, data, s.database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stock.db.Close()) }()
	if _, err := stock.keys(ctx, "large", s.export, 1); err != nil {
		return err
	}
	return stock.people(ctx, "large", s.export, exportGroups)
}

// exported is an export that is ready.
type exported struct {
	export contract.Export
	took   time.Duration
	memory float64 // MB above what the server took before
}

// exportTimes runs so many exports at once, and something else during this time. It returns the last export.
func exportTimes(
	ctx context.Context, api *client.Client, server *postern, times int, alongside func() error,
) (exported, error) {
	var out exported
	pid := server.pids()[0]
	idle, err := procfs.Resident(pid)
	if err == nil {
		err = procfs.ResetPeak(pid)
	}
	if err != nil {
		return out, err
	}
	began := time.Now()
	var queued []contract.Export
	for range times {
		e, err := client.Do(ctx, api, contract.CreateExport, contract.NewExport{Format: "gateway"}.In("large"))
		if err != nil {
			return out, err
		}
		queued = append(queued, e)
	}
	other := make(chan error, 1)
	go func() { other <- alongside() }()
	for _, e := range queued {
		if err == nil {
			out.export, err = api.WaitExport(ctx, e.ID, func(contract.Export) {})
		}
	}
	out.took = time.Since(began)
	peak, failed := procfs.Peak(pid)
	out.memory = (peak - idle) / 1e6
	return out, errors.Join(err, failed, <-other)
}

// importUnder imports a zip as another project, and returns how long that takes, and the p99 of calls during it in µs.
func (l load) importUnder(
	ctx context.Context, calls scenario, caller peer, api *client.Client, zipped string,
) (took time.Duration, during float64, err error) {
	zip, err := os.Open(zipped)
	if err != nil {
		return 0, 0, err
	}
	defer zip.Close()
	about, err := zip.Stat()
	if err != nil {
		return 0, 0, err
	}
	done := make(chan error, 1)
	began := time.Now()
	go func() {
		name := fmt.Sprintf("imported-%d", calls.connections)
		_, err := client.Upload(ctx, api, contract.ImportProject, contract.NewImport{Name: name}, zip, about.Size())
		took = time.Since(began)
		done <- err
	}()
	ended := false
	during, err = l.slowest(ctx, calls, caller, func() (bool, error) {
		select {
		case err := <-done:
			ended = true
			return false, err
		default:
			return true, nil
		}
	})
	if !ended {
		err = errors.Join(err, <-done)
	}
	return took, during, err
}

// slowest returns the median p99 of calls in µs: of five measurements, or of as many as fit into the time in which
// something is going on.
func (l load) slowest(ctx context.Context, sc scenario, p peer, isGoingOn func() (bool, error)) (float64, error) {
	var all []result
	for {
		r, err := l.measure(ctx, sc, p)
		if err != nil {
			return 0, err
		}
		all = append(all, r)
		goOn := len(all) < 5
		if isGoingOn != nil {
			if goOn, err = isGoingOn(); err != nil {
				return 0, err
			}
		}
		if !goOn {
			return median(all, func(r result) float64 { return r.p99 }), nil
		}
	}
}

// isExporting reports whether the newest export is not finished.
func isExporting(ctx context.Context, api *client.Client) (bool, error) {
	in := contract.ExportList{ProjectPath: contract.ProjectPath{Project: "large"}}
	for e, err := range client.Each(ctx, api, contract.ListExports, in) {
		return e.Running(), err
	}
	return false, nil
}

// verifyExport downloads a zip to the file of that name and returns how long `postern verify` takes.
func verifyExport(
	ctx context.Context, api *client.Client, e contract.Export, binary, name string,
) (took time.Duration, err error) {
	file, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	err = errors.Join(api.Download(ctx, e, file), file.Close())
	if err != nil {
		return 0, err
	}
	progress("verifying the zip")
	began := time.Now()
	cmd := exec.CommandContext(ctx, binary, "verify", name)
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	err = cmd.Run()
	return time.Since(began), err
}
