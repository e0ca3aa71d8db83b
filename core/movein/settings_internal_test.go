package movein

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
)

// The texts of plans name settings so that they can be replaced, and no flags, which a page doesn't have.
func TestSettings(t *testing.T) {
	t.Parallel()
	texts := map[string][]string{}
	for _, list := range []map[string]fate{fates, closedFates, pluginFates, awsFates} {
		for code, f := range list {
			texts[code] = []string{f.note, f.remedy}
		}
	}
	read, err := Read([]File{{Text: []byte(
		`{"_format_version": "3.0", "services": [{"url": "http://a.example.net", "routes": [{"paths": ["/"]}]}]}`)}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := read.Plan(nil, Options{})
	if err != nil || len(plan.Notes) == 0 {
		t.Fatalf("notes %+v, %v", plan.Notes, err)
	}
	for _, note := range plan.Notes {
		texts["note "+note.Code] = []string{note.Detail}
	}
	setting, flag := regexp.MustCompile("`([^`]*)`"), regexp.MustCompile(`(^|\W)--[a-z]`)
	named := map[string]bool{}
	for code, list := range texts {
		for _, text := range list {
			for _, match := range setting.FindAllStringSubmatch(text, -1) {
				named[match[1]] = true
				if !slices.Contains(Settings(), match[1]) {
					t.Errorf("%s names %s, which isn't a setting: %s", code, match[0], text)
				}
			}
			if flag.MatchString(text) && !strings.Contains(text, "aws apigateway") {
				t.Errorf("%s names a flag: %s", code, text)
			}
		}
	}
	for _, one := range Settings() {
		if !named[one] {
			t.Errorf("no text names %s", one)
		}
	}
}

func TestNameSettingsIn(t *testing.T) {
	t.Parallel()
	lines := []contract.LedgerLine{
		{Note: "Not in `hosts`.", Remedy: new("Open it with `open`, or use `hosts`."), Names: []string{"`open`"}},
		{Note: "It moves."},
	}
	got := NameSettingsIn(lines, map[string]string{"open": "--open", "hosts": "--host"})
	if got[0].Note != "Not in --host." || *got[0].Remedy != "Open it with --open, or use --host." ||
		got[0].Names[0] != "`open`" || got[1].Note != "It moves." || got[1].Remedy != nil {
		t.Errorf("%+v", got)
	}
	if *lines[0].Remedy != "Open it with `open`, or use `hosts`." {
		t.Error("the plan itself was changed")
	}
}
