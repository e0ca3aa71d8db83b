package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"postern/client"
	"postern/testkit"
)

// TestImportFromAnotherPostern moves a project to another installation: a person is shown
// what the zip cannot carry, imports it, and a key of the old one opens the new one.
func TestImportFromAnotherPostern(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	before, after := start(t), start(t)
	made := createProxy(t, before.Config.PublicURL, upstream.URL)
	api := connect(t, before.Config.PublicURL, made.WorkspaceKey)
	queued, err := api.CreateExport(t.Context(), made.Project.ID, client.NewExport{Format: "gateway"})
	if err != nil {
		t.Fatal(err)
	}
	zip := filepath.Join(t.TempDir(), "shop-kong.zip")
	if err := os.WriteFile(zip, downloaded(t, api, waitForExport(t, api, queued.ID)), 0o600); err != nil {
		t.Fatal(err)
	}

	p := sit(t)
	p.overlooks(after.Config.PublicURL + "/imports/preview") // which refuses a file
	p.open(after.FirstLink)
	p.sees("Welcome to Postern")
	p.types("email", "ana@example.com")
	p.types("name", "Ana")
	p.types("password", "four unrelated words")
	p.presses("Create account and sign in")
	p.sees("Projects")
	p.follows("Import")
	p.sees("Import a project")
	noZip := filepath.Join(t.TempDir(), "no.zip")
	if err := os.WriteFile(noZip, []byte("no zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.chooses("#import-zip", noZip)
	p.presses("Check what is imported")
	p.waits("#import-answer [role=alert]")
	p.chooses("#import-zip", zip)
	p.presses("Check what is imported")
	p.waits("#import-found")
	p.presses("Import shop")
	p.sees("shop")
	callsAnswer(t, after.Config.Address("shop", "1.0.0", "prod"), made.APIKeys["prod"].Key,
		http.StatusOK, http.StatusUnauthorized)
}

// chooses sets the file of a file input.
func (p *person) chooses(selector, file string) {
	p.t.Helper()
	p.does("choose "+file, chromedp.SetUploadFiles(chromedp.CSS(selector), []string{file}))
}
