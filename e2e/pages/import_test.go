package pages

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// TestImport_otherInstallation moves a project to another installation: a person is shown what the zip cannot carry,
// imports it, and a key of the old one is valid for the new one.
func TestImport_otherInstallation(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	before, after := harness.Start(t), harness.Start(t)
	made := harness.CreateProxy(t, before.Config.PublicURL, upstream.URL)
	api := harness.Connect(t, before.Config.PublicURL, made.WorkspaceKey.Reveal())
	in := contract.NewExport{Format: "gateway"}.In(made.Project.ID)
	queued, err := client.Do(t.Context(), api, contract.CreateExport, in)
	if err != nil {
		t.Fatal(err)
	}
	zip := filepath.Join(t.TempDir(), "shop-kong.zip")
	ready := harness.WaitForExport(t, api, queued.ID)
	if err := os.WriteFile(zip, harness.Downloaded(t, api, ready), 0o600); err != nil {
		t.Fatal(err)
	}

	p := sit(t)
	p.IgnoresErrorsAt(after.Config.PublicURL + "/imports/preview") // which refuses a file
	p.Open(after.FirstLink)
	p.Sees("Welcome to Postern")
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Sees("Projects")
	p.Follows("Import")
	p.Sees("Import a project")
	noZip := filepath.Join(t.TempDir(), "no.zip")
	if err := os.WriteFile(noZip, []byte("no zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.chooses("#import-zip", noZip)
	p.Presses("Preview import")
	p.Waits("#import-zip-error")
	p.chooses("#import-zip", zip)
	p.Presses("Preview import")
	p.Waits("#import-found")
	p.Presses("Import shop")
	p.Sees("shop")
	harness.CallsAnswer(t, after.Config.Address("shop", "1.0.0", "prod"), made.APIKeys["prod"].Key.Reveal(),
		http.StatusOK, http.StatusUnauthorized)
}

// chooses sets the file of a file input.
func (p *person) chooses(selector, file string) {
	p.T.Helper()
	p.Does("choose "+file, chromedp.SetUploadFiles(chromedp.CSS(selector), []string{file}))
}
