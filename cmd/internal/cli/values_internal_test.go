package cli

import (
	"testing"
	"time"
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
		if got := ShowDuration(d); got != text {
			t.Errorf("%s is shown as %q, want %q", d, got, text)
		}
		if read, err := readDuration(text); err != nil || read != d {
			t.Errorf("%q is read as %s, %v", text, read, err)
		}
	}
}
