package bundle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"postern/bundle"
	"postern/testkit/sample"
)

// README.md names each path of the zip that a reader meets, and nothing else.
func TestReadme(t *testing.T) {
	data, result := write(t, sampleInput())
	_, files := unzip(t, data)
	readme := files["README.md"]
	for _, want := range []string{
		"# Export of shop\n", "sha256sum -c SHA256SUMS", result.Summary.Headline(), "](MIGRATION-REPORT.md)",
		"| `tenants/<name>/keys/` |", "| `openapi/` |", "| `project-config.json` |",
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md lacks %q:\n%s", want, readme)
		}
	}
	for _, other := range []string{"secrets.json", "| `gateway/`", "SHA256SUMS.sig", "| `openapi.json`"} {
		if strings.Contains(readme, other) {
			t.Errorf("README.md names %q, which the zip doesn't have", other)
		}
	}
}

// MIGRATION-REPORT.md begins with what is left to do and ends with what is the same for every project. Names are never
// read as Markdown.
func TestReportText(t *testing.T) {
	in := sampleInput()
	in.Project, in.Users, in.Relations = sample.Everything()
	in.Project.Tenants[0].Directory.Groups[0].Name = "a ``b` *c*"
	data, _ := write(t, in)
	_, files := unzip(t, data)
	report := files["MIGRATION-REPORT.md"]
	last := -1
	for _, title := range []string{"\n## To do\n", "\n### App clients\n", "\n## Moved unchanged\n",
		"\n### API keys\n", "\n## The same for every project\n", "\n### Usage analytics\n"} {
		at := strings.Index(report, title)
		if at <= last {
			t.Errorf("%q is at %d, after %d", title, at, last)
		}
		last = at
	}
	if want := "``` acme/a ``b` *c* ```"; !strings.Contains(report, want) {
		t.Errorf("no %q in:\n%s", want, report)
	}
}

// Items that no one configured don't count: generated routes, built-in key types, the default tenant, defaults, and the
// items that are always reported.
func TestSummary_configured(t *testing.T) {
	project, keys := sample.Fresh("https://up.example", sample.RequiresKeys())
	in := sampleInput()
	in.Project, in.Keys, in.KeyCount = project, sample.Stream(keys), int64(len(keys))
	found, err := bundle.Preview(t.Context(), in, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range found.Lines {
		everywhere := strings.HasSuffix(line.Code, ".built_in") || strings.HasSuffix(line.Code, ".default_tenant") ||
			strings.HasSuffix(line.Code, ".defaults") || strings.HasSuffix(line.Code, ".generated") ||
			slices.Contains([]string{
				"route", "request_limits", "login_sessions", "managed_github_login", "object_ownership",
				"usage_analytics", "billing_credits", "audit_history", "custom_domains", "secrets_left_out",
			}, line.Kind)
		if line.Configured == everywhere {
			t.Errorf("%s: configured is %t", line.Code, line.Configured)
		}
	}
	if got := found.Summary.PortableText("data"); got != "100% portable as data" {
		t.Errorf("%s, want 100%%", got)
	}
}

// The caps of an unclaimed project are the installation's: they don't count.
func TestSummary_unclaimed(t *testing.T) {
	project, keys := sample.Fresh("https://up.example", sample.RequiresKeys())
	in := sampleInput()
	in.Project, in.Keys, in.KeyCount = project, sample.Stream(keys), int64(len(keys))
	claimed, err := bundle.Preview(t.Context(), in, 10)
	if err != nil {
		t.Fatal(err)
	}
	in.Project.ExpiresAt = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	unclaimed, err := bundle.Preview(t.Context(), in, 10)
	if err != nil {
		t.Fatal(err)
	}
	if claimed.Summary.Configured != unclaimed.Summary.Configured {
		t.Errorf("configured %+v, claimed %+v", unclaimed.Summary.Configured, claimed.Summary.Configured)
	}
	if more := unclaimed.Summary.Total() - claimed.Summary.Total(); more != 1 {
		t.Errorf("%d items more, want that of the caps", more)
	}
}
