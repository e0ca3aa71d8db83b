package movein_test

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"postern/core/contract"
	"postern/core/kongfile"
	"postern/core/movein"
)

// publicFile is a line of testdata/public/sources.jsonl.
type publicFile struct {
	Repository string     `json:"repository"`
	Commit     string     `json:"commit"`
	Path       string     `json:"path"`
	License    string     `json:"license"`
	SHA256     string     `json:"sha256"`
	Plan       publicPlan `json:"plan"`
}

// publicPlan is what the plan of a public file comes to.
type publicPlan struct {
	Source   string                `json:"source"`
	Summary  contract.LedgerCounts `json:"summary"`
	Projects int                   `json:"projects"`
	Closed   int                   `json:"closed"`
	Keys     int64                 `json:"keys"`
}

// The public files are named so that anyone can get them. With them, each plan is complete and no
// secret of a file is in it.
func TestKong_ofPublicFiles(t *testing.T) {
	listed := publicFiles(t)
	if len(listed) < 30 {
		t.Errorf("%d files show too little", len(listed))
	}
	folder := os.Getenv("POSTERN_PUBLIC_FILES")
	if folder == "" {
		return // the list was checked
	}
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if file, known := listed[hex.EncodeToString(sum[:])]; known {
			delete(listed, file.SHA256)
			t.Run(file.Repository+"/"+file.Path, func(t *testing.T) { file.check(t, text) })
		}
	}
	for _, file := range listed {
		t.Errorf("%s/%s isn't in the folder", file.Repository, file.Path)
	}
}

func publicFiles(t *testing.T) map[string]publicFile {
	t.Helper()
	text, err := os.ReadFile("testdata/public/sources.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	commit := regexp.MustCompile(`^[0-9a-f]{40}$`)
	out := map[string]publicFile{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var one publicFile
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		if _, twice := out[one.SHA256]; twice || len(one.SHA256) != 64 || !commit.MatchString(one.Commit) ||
			cmp.Or(one.License, one.Path) == "" || strings.Count(one.Repository, "/") != 1 {
			t.Errorf("twice or incomplete: %+v", one)
		}
		out[one.SHA256] = one
	}
	return out
}

func (f publicFile) check(t *testing.T, text []byte) {
	t.Helper()
	file, p := read(t, string(text), movein.Options{})
	got := publicPlan{p.Source, p.Summary, len(p.Projects), len(p.Closed), p.Keys.Imported}
	if diff := gocmp.Diff(f.Plan, got); diff != "" {
		t.Errorf("-listed +now:\n%s", diff)
	}
	if len(p.Items) != len(file.Entities) || p.Summary.Total() != int64(len(file.Entities)) {
		t.Errorf("%d items for %d entities", len(p.Items), len(file.Entities))
	}
	for _, item := range p.Items {
		isListed := slices.ContainsFunc(p.Closed, func(one contract.ClosedEntity) bool {
			return one.Pointer == item.Pointer
		})
		if item.Kind == string(kongfile.Route) && item.Status == "skipped" && !isListed &&
			!slices.Contains([]string{"route.stream", "route.service_off"}, item.Codes[0]) {
			t.Errorf("the route %s is skipped, and isn't among those that are closed", item.Name)
		}
	}
	plan, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secretsOf(t, text) {
		if bytes.Count(text, []byte(secret)) == 1 && bytes.Contains(plan, []byte(secret)) { // else a name has it, too
			t.Errorf("the plan has a secret that ends with %s", secret[len(secret)-4:])
		}
	}
}

// secretsOf returns the values of members that have secrets.
func secretsOf(t *testing.T, text []byte) (out []string) {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil // Kong's own reader takes it
	}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode {
				value := n.Content[i+1]
				isSecret := slices.Contains([]string{"key", "secret", "password", "client_secret"}, child.Value)
				if isSecret && value.Kind == yaml.ScalarNode && len(value.Value) >= 8 &&
					!strings.ContainsAny(value.Value, "${}") {
					out = append(out, value.Value)
				}
			}
			walk(child)
		}
	}
	walk(&root)
	return out
}
