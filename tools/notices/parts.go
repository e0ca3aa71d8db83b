package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// part is software of others in the program.
type part struct {
	name, version string
	source        string // where its source code is
	texts         []text
}

// text is a file with a license or a notice.
type text struct{ name, content string }

// platforms are those of .goreleaser.yaml: each links other modules.
var platforms = [][2]string{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// ofPackage is what `go list` prints of a package: its module's path, version and folder, and its own folder.
const ofPackage = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}"

// linked returns the modules of the packages that are linked, and the Go standard library.
func linked() ([]part, error) {
	modules := map[string]*part{}
	folders := map[string]map[string]bool{} // of packages, by module
	roots := map[string]string{}
	for _, platform := range platforms {
		command := exec.Command("go", "list", "-deps", "-tags", "nomsgpack", "-f", ofPackage, "./cmd/postern")
		command.Env = append(os.Environ(), "GOOS="+platform[0], "GOARCH="+platform[1], "CGO_ENABLED=0")
		command.Stderr = os.Stderr
		out, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("list the packages for %s/%s: %w", platform[0], platform[1], err)
		}
		for line := range strings.Lines(string(out)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) != 4 {
				continue // a package of ours, or of the standard library
			}
			path := fields[0]
			if modules[path] == nil {
				modules[path] = &part{
					name:    path,
					version: fields[1],
					source:  "https://pkg.go.dev/" + path + "@" + fields[1],
				}
				folders[path], roots[path] = map[string]bool{}, fields[2]
			}
			folders[path][fields[3]] = true
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the Go distribution: %w", err)
	}
	license, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "LICENSE"))
	if err != nil {
		return nil, err
	}
	parts := []part{{
		name:   "the Go standard library and runtime",
		source: "https://go.dev",
		texts:  []text{{"LICENSE", string(license)}},
	}}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		module := *modules[path]
		if module.texts, err = textsOf(roots[path], slices.Sorted(maps.Keys(folders[path]))); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		parts = append(parts, module)
	}
	return parts, nil
}

// textsOf returns the licenses and notices in the folders of packages, and in those above them up to the root.
func textsOf(root string, folders []string) ([]text, error) {
	seen := map[string]bool{}
	var found []text
	for _, folder := range folders {
		for {
			if !seen[folder] {
				seen[folder] = true
				here, err := textsIn(root, folder)
				if err != nil {
					return nil, err
				}
				found = append(found, here...)
			}
			if folder == root || len(folder) <= len(root) {
				break
			}
			folder = filepath.Dir(folder)
		}
	}
	slices.SortFunc(found, func(a, b text) int { return strings.Compare(a.name, b.name) })
	return found, nil
}

func textsIn(root, folder string) ([]text, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []text
	for _, entry := range entries {
		if entry.IsDir() || !isNotice(entry.Name()) {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		found = append(found, text{filepath.ToSlash(name), string(content)})
	}
	return found, nil
}

// isNotice reports whether a file of this name has a license or a notice.
func isNotice(name string) bool {
	upper := strings.ToUpper(name)
	switch filepath.Ext(upper) {
	case ".GO", ".SH", ".TMPL", ".JSON", ".YAML", ".YML":
		return false
	}
	for _, prefix := range []string{"LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "PATENTS"} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return false
}

// assetLicenses are the files in static/vendor with the licenses of assets, which package static embeds.
var assetLicenses = map[string]string{ // by npm package; "" is not from npm
	"htmx.org":                   "htmx.LICENSE.txt",
	"@fontsource-variable/geist": "geist.LICENSE.txt",
	"tailwindcss":                "tailwindcss.LICENSE.txt",
	"lucide":                     "lucide.LICENSE.txt",
}

// assets returns what is shipped in the pages.
func assets() ([]part, error) {
	var manifest struct {
		DevDependencies map[string]string `json:"devDependencies"`
	}
	content, err := os.ReadFile("package.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &manifest); err != nil {
		return nil, fmt.Errorf("read package.json: %w", err)
	}
	known := map[string]bool{}
	var parts []part
	for _, name := range slices.Sorted(maps.Keys(assetLicenses)) {
		license := assetLicenses[name]
		known[license] = true
		content, err := os.ReadFile("static/vendor/" + license)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{
			name:    name,
			version: manifest.DevDependencies[name],
			source:  "https://www.npmjs.com/package/" + name,
			texts:   []text{{license, string(content)}},
		})
	}
	return parts, fs.WalkDir(os.DirFS("static/vendor"), ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.Contains(name, "LICENSE") && !known[name] {
			err = fmt.Errorf("static/vendor/%s belongs to nothing in assetLicenses", name)
		}
		return err
	})
}
