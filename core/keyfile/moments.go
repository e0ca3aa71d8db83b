package keyfile

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// moment is a time of a file.
type moment struct {
	at    time.Time
	never bool
	zone  bool // the file states its time zone, or it needs none
	loose bool // it could be read as a later time too
}

// layouts are of times with a date in the order of ISO 8601, after "T" became a space. Those with a zone come first.
var layouts = []struct {
	layout string
	zone   bool
}{
	{"2006-01-02 15:04:05.999999999Z07:00", true},
	{"2006-01-02 15:04:05.999999999-0700", true},
	{"2006-01-02 15:04:05.999999999-07", true},
	{"2006-01-02 15:04:05.999999999 -0700 MST", true},
	{"2006-01-02 15:04:05.999999999 -0700", true},
	{"2006-01-02 15:04:05.999999999 -07:00", true},
	{"2006-01-02 15:04:05.999999999 UTC", true},
	{"2006-01-02 15:04Z07:00", true},
	{"2006-01-02 15:04:05.999999999", false},
	{"2006-01-02 15:04", false},
	{"2006-01-02", false},
	{"2.1.2006", false},
	{"2.1.2006 15:04:05", false},
	{"2.1.2006 15:04", false},
}

// slashed is a date whose day and month may be in either order.
var slashed = regexp.MustCompile(`^(\d{1,2})/(\d{1,2})/(\d{4})(?: (\d{1,2}:\d{2}(?::\d{2})?))?$`)

const badTime = "Use a time such as 2027-01-31T00:00:00Z, or seconds or milliseconds since 1970. Leave it empty for " +
	"never."

// readMoment reads a time as people and systems write them. Of two readings it takes the earlier one: a day is its
// first moment, and 3/4/2027 is the earlier of March 4 and April 3. For any other text, it returns the reason.
func readMoment(v value) (m moment, wrong string) {
	s := strings.TrimSpace(v.text)
	if v.kind != text && v.kind != numeral {
		return m, badTime
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return readEpoch(n)
	}
	if parts := slashed.FindStringSubmatch(s); parts != nil {
		return readSlashed(parts)
	}
	if len(s) > 10 && (s[10] == 'T' || s[10] == 't') {
		s = s[:10] + " " + s[11:]
	}
	s = strings.TrimSuffix(strings.ToUpper(s), " (COORDINATED UNIVERSAL TIME)")
	for _, l := range layouts {
		if at, err := time.Parse(l.layout, s); err == nil {
			return moment{at: at.UTC(), zone: l.zone}, ""
		}
	}
	for _, layout := range []string{time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate} {
		if at, err := time.Parse(layout, v.text); err == nil {
			return moment{at: at.UTC(), zone: layout != time.ANSIC}, ""
		}
	}
	return m, badTime
}

// readEpoch reads a number of seconds, milli-, micro- or nanoseconds since 1970. Each unit has its numbers: those of
// dates from 2001 to 2286. Of a number between them, the smaller unit is the earlier time.
func readEpoch(n float64) (moment, string) {
	switch {
	case n == -1:
		return moment{never: true, zone: true}, ""
	case n < 1e8:
		return moment{}, "This number is too small for a time since 1970, and 0 can mean never or 1970. Leave it " +
			"empty for never."
	case n < 1e10:
		return moment{at: time.UnixMilli(int64(n * 1e3)).UTC(), zone: true}, ""
	case n < 1e13:
		return moment{at: time.UnixMilli(int64(n)).UTC(), zone: true, loose: n < 1e12}, ""
	case n < 1e16:
		return moment{at: time.UnixMicro(int64(n)).UTC(), zone: true, loose: n < 1e15}, ""
	case n < 9e18:
		return moment{at: time.Unix(0, int64(n)).UTC(), zone: true, loose: n < 1e18}, ""
	}
	return moment{}, badTime
}

func readSlashed(parts []string) (moment, string) {
	clock := parts[4]
	if clock == "" {
		clock = "00:00"
	}
	if strings.Count(clock, ":") == 1 {
		clock += ":00"
	}
	var found []time.Time
	for _, layout := range []string{"1/2/2006 15:04:05", "2/1/2006 15:04:05"} {
		if at, err := time.Parse(layout, parts[1]+"/"+parts[2]+"/"+parts[3]+" "+clock); err == nil {
			found = append(found, at)
		}
	}
	switch {
	case len(found) == 0:
		return moment{}, badTime
	case len(found) == 1 || found[0].Equal(found[1]):
		return moment{at: found[0]}, ""
	case found[1].Before(found[0]):
		found[0] = found[1]
	}
	return moment{at: found[0], loose: true}, ""
}
