package cli

import (
	"testing"
	"time"

	"postern/cmd/internal/terminal"
)

func TestShowDuration(t *testing.T) {
	for text, d := range map[string]time.Duration{
		"90d":     90 * 24 * time.Hour,
		"36h":     36 * time.Hour,
		"15m":     15 * time.Minute,
		"1h30m":   90 * time.Minute,
		"45s":     45 * time.Second,
		"1h0m30s": time.Hour + 30*time.Second,
		"20m":     20 * time.Minute,
	} {
		if got := terminal.ShowDuration(d); got != text {
			t.Errorf("%s is shown as %q, want %q", d, got, text)
		}
		if read, err := readDuration(text); err != nil || read != d {
			t.Errorf("%q is read as %s, %v", text, read, err)
		}
	}
}

func TestReadTime(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2030-01-31":                time.Date(2030, 1, 31, 0, 0, 0, 0, time.UTC),
		"2030-01-31T12:00:00+02:00": time.Date(2030, 1, 31, 10, 0, 0, 0, time.UTC),
		"2d":                        now.AddDate(0, 0, 2),
	} {
		if got, err := readTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]time.Time{
		"2025-01-31": time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC),
		"2d":         now.AddDate(0, 0, -2),
	} {
		if got, err := readPast(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "2030", "31.01.2030", "2030-13-01", "-1d"} {
		if _, err := readTime(text, now); err == nil {
			t.Errorf("%q is a time", text)
		}
		if _, err := readPast(text, now); err == nil {
			t.Errorf("%q is a time in the past", text)
		}
	}
}
