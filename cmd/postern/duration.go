package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxDays keeps a number of days from overflowing a duration.
const maxDays = 36500

// readDuration parses a duration as time.ParseDuration does, and days such as "90d",
// which have 24 hours.
func readDuration(s string) (time.Duration, error) {
	days, ok := strings.CutSuffix(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, err := strconv.Atoi(days)
	if err != nil || n < 0 || n > maxDays {
		return 0, errors.New("not a number of days")
	}
	return time.Duration(n) * 24 * time.Hour, nil
}

// showDuration formats a duration for readDuration: whole days in days, and without
// units that are zero.
func showDuration(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// readTime parses a time, or a duration from now.
func readTime(s string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	if d, err := readDuration(s); err == nil && d > 0 {
		return now.Add(d).UTC().Truncate(time.Second), nil
	}
	return now, errors.New("use a time such as 2030-01-31T12:00:00Z, or one from now such as 90d")
}

// readPast parses a time, or a duration before now.
func readPast(s string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	if d, err := readDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return now, errors.New("use a time such as 2030-01-31T12:00:00Z, or how long ago, such as 7d")
}
