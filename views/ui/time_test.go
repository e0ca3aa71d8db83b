package ui

import (
	"strings"
	"testing"
	"time"
)

func TestRelative(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "just now", -59 * time.Second: "just now", time.Second: "in less than a minute",
		-time.Minute: "1 minute ago", -3 * time.Minute: "3 minutes ago", -26 * time.Hour: "1 day ago",
		3 * time.Hour: "in 3 hours", 50 * time.Hour: "in 2 days", -400 * 24 * time.Hour: "1 year ago",
		24*time.Hour - time.Second: "in 1 day", 47 * time.Hour: "in 2 days",
		time.Hour - time.Second:       "in 1 hour",
		23*time.Hour + 29*time.Minute: "in 23 hours", -150 * time.Second: "3 minutes ago",
		90*24*time.Hour - time.Second: "in 90 days", 30*24*time.Hour - time.Second: "in 30 days",
		-200 * 24 * time.Hour:     "6 months ago",
		64 * 365 * 24 * time.Hour: "in 64 years",
	} {
		if got := relative(now.Add(d), now); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

func TestWhen(t *testing.T) {
	at := time.Now().Add(-3 * time.Minute)
	for want, c := range map[string]time.Time{
		">3 minutes ago</time>": at, `title="` + Exact(at) + `"`: at, "never": {},
		`datetime="` + at.UTC().Format(time.RFC3339Nano) + `"`: at,
	} {
		var out strings.Builder
		if err := When(c).Render(t.Context(), &out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %q is not in %q, error %v", c, want, out.String(), err)
		}
	}
}
