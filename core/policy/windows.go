package policy

import (
	"time"

	"postern/core/snapshot"
)

// WindowBounds returns the first second of the window that contains t, and the first
// one after the window, in Unix time.
func WindowBounds(w snapshot.Window, t time.Time) (start, end int64) {
	now := t.Unix()
	switch w {
	case snapshot.Second:
		return now, now + 1
	case snapshot.Minute:
		return aligned(now, 60)
	case snapshot.Hour:
		return aligned(now, 60*60)
	case snapshot.Day:
		return aligned(now, 24*60*60)
	}
	year, month, _ := t.UTC().Date()
	if w == snapshot.Month {
		return date(year, month), date(year, month+1)
	}
	return date(year, time.January), date(year+1, time.January)
}

// aligned returns the bounds of a window whose length, in seconds, divides a day.
// Days of Unix time have no leap seconds.
func aligned(now, length int64) (start, end int64) {
	start = now - now%length
	return start, start + length
}

func date(year int, month time.Month) int64 {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix()
}
