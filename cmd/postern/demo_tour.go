package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/client"
	"postern/cmd/internal/export"
	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// callTimeout bounds one call through the demo's gateway.
const callTimeout = 10 * time.Second

// tour runs all steps, and returns the first one's error that did not go as printed.
func (d *demo) tour(ctx context.Context) error {
	for _, step := range []struct {
		title string
		take  func(context.Context) error
	}{
		{"Put a proxy in front of an API", d.create},
		{"Call it without a key", d.callWithoutKey},
		{"Call it with its key", d.callWithKey},
		{"Freeze the key and call again", d.freeze},
		{"Unfreeze it", d.unfreeze},
		{"Export the project to run on Kong", d.export},
		{"Verify the zip offline", d.verify},
	} {
		d.step++
		fmt.Fprintf(d.out, "%d. %s\n", d.step, step.title)
		if err := step.take(ctx); err != nil {
			return fmt.Errorf("demo, step %d (%s): %w", d.step, strings.ToLower(step.title[:1])+step.title[1:], err)
		}
		fmt.Fprintln(d.out)
	}
	fmt.Fprintln(d.out, "All steps succeeded. To create your own proxy, run `postern serve`, then `postern create "+
		"URL --require-key`.")
	return nil
}

func (d *demo) create(ctx context.Context) (err error) {
	anonymous, err := client.New(d.server, "")
	if err != nil {
		return err
	}
	d.proxy, err = client.Do(ctx, anonymous, contract.CreateProxy, contract.NewProxy{
		Target:       d.upstream,
		Name:         "shop",
		RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}.Request())
	if err != nil {
		return err
	}
	if len(d.proxy.Project.Environments) != 1 || d.key().Key.Reveal() == "" {
		return fmt.Errorf(
			"expected one environment with its key, got %d and %d", len(d.proxy.Project.Environments),
			len(d.proxy.APIKeys),
		)
	}
	d.tell("POST %s/proxy", d.server)
	d.tell("%s now guards %s", d.environment().URL, d.upstream)
	d.tell("its first key is %s", d.key().Key.Reveal())
	d.api, err = client.New(d.server, d.proxy.WorkspaceKey.Reveal())
	return err
}

func (d *demo) callWithoutKey(ctx context.Context) error {
	return d.call(ctx, "", http.StatusUnauthorized, "credentials_required")
}

func (d *demo) callWithKey(ctx context.Context) error {
	return d.call(ctx, d.key().Key.Reveal(), http.StatusOK, "GET /orders for ")
}

func (d *demo) freeze(ctx context.Context) error {
	if _, err := client.Do(ctx, d.api, contract.FreezeKey, contract.KeyPath{Key: d.key().ID}); err != nil {
		return err
	}
	return d.call(ctx, d.key().Key.Reveal(), http.StatusForbidden, "key_frozen")
}

func (d *demo) unfreeze(ctx context.Context) error {
	if _, err := client.Do(ctx, d.api, contract.UnfreezeKey, contract.KeyPath{Key: d.key().ID}); err != nil {
		return err
	}
	return d.call(ctx, d.key().Key.Reveal(), http.StatusOK, "GET /orders for ")
}

// call prints a call through the gateway. It returns an error unless the response has the
// status and contains the text.
func (d *demo) call(ctx context.Context, key string, status int, text string) error {
	ctx, stop := context.WithTimeout(ctx, callTimeout)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.environment().URL+"/orders", nil)
	if err != nil {
		return err
	}
	if key != "" {
		request.Header.Set("X-API-Key", key)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return err
	}
	shown := strings.TrimSpace(string(body))
	d.tell("GET %s", request.URL)
	d.tell("%s: %s", answer.Status, shown)
	if answer.StatusCode != status || !strings.Contains(shown, text) {
		return fmt.Errorf("expected %d with %q, got %s: %s", status, text, answer.Status, shown)
	}
	return nil
}

func (d *demo) export(ctx context.Context) error {
	e, err := client.Do(ctx, d.api, contract.CreateExport, contract.NewExport{Format: "gateway"}.In(d.proxy.Project.ID))
	if err != nil {
		return err
	}
	if e, err = d.api.WaitExport(ctx, e.ID, nil); err != nil {
		return err
	}
	if err := terminal.WriteFile(d.zip, func(f *os.File) error { return d.api.Download(ctx, e, f) }); err != nil {
		return err
	}
	d.tell("a zip of %s: %s", terminal.Size(e.SizeBytes), e.Ledger.Headline())
	if err := d.explainToDos(ctx, e); err != nil {
		return err
	}
	if e.Ledger.Exact == 0 {
		return fmt.Errorf("expected items that moved unchanged, got none")
	}
	return nil
}

// explainToDos prints what is left to do after the export.
func (d *demo) explainToDos(ctx context.Context, e contract.Export) error {
	lines, err := export.ConfiguredLines(ctx, d.api, e)
	if err != nil {
		return err
	}
	var text strings.Builder
	export.WriteToDos(&text, lines)
	fmt.Fprintln(d.out)
	for line := range strings.Lines(text.String()) {
		d.tell("%s", strings.TrimSuffix(line, "\n"))
	}
	return nil
}

func (d *demo) verify(ctx context.Context) error {
	zip, err := terminal.OpenInput(nil, d.zip, 0)
	if err != nil {
		return err
	}
	defer zip.Close()
	report, err := export.VerifyFile(ctx, zip, bundle.Against{Targets: targets.All()})
	if err != nil {
		return err
	}
	d.tell(
		"%d files match their checksums. %s and %d ledger items are complete",
		report.Entries, terminal.Count{N: report.Keys, One: "API key"}, report.Items,
	)
	if report.Keys != 1 || report.Target == "" {
		return fmt.Errorf("expected one key and a gateway in the zip, got %d and %q", report.Keys, report.Target)
	}
	return nil
}
