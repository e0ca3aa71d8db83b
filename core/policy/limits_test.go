package policy_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/core/snapshot"
)

func TestWindowBounds(t *testing.T) {
	at := time.Date(2028, 2, 29, 23, 59, 59, 999, time.FixedZone("east", 3600)) // 22:59:59 UTC
	for window, want := range [snapshot.Windows][2]string{
		{"2028-02-29T22:59:59Z", "2028-02-29T23:00:00Z"},
		{"2028-02-29T22:59:00Z", "2028-02-29T23:00:00Z"},
		{"2028-02-29T22:00:00Z", "2028-02-29T23:00:00Z"},
		{"2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"},
		{"2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"},
		{"2028-01-01T00:00:00Z", "2029-01-01T00:00:00Z"},
	} {
		start, end := policy.WindowBounds(snapshot.Window(window), at)
		got := [2]string{stamp(start), stamp(end)}
		if got != want {
			t.Errorf("%s: %v, want %v", snapshot.Window(window), got, want)
		}
	}
	_, end := policy.WindowBounds(snapshot.Month, time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC))
	if got := stamp(end); got != "2027-01-01T00:00:00Z" {
		t.Errorf("December ends at %s", got)
	}
}

func stamp(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

func limits(minute, day int64) snapshot.Limits {
	return snapshot.Limits{snapshot.Minute: minute, snapshot.Day: day}
}

func TestTally_realm(t *testing.T) {
	project := snapshot.Project{
		ID:       "prj_1",
		KeyTypes: []snapshot.KeyType{{Name: "slow", Limits: limits(5, 0)}, {Name: "full"}},
		Limits: snapshot.ProjectLimits{
			Key:     limits(10, 0),
			Owner:   limits(20, 0),
			IP:      limits(30, 0),
			Project: limits(40, 0),
		},
	}
	own, none := limits(1, 0), snapshot.Limits{}
	withKey := policy.Identity{Owner: "billing", CredentialID: "key_1"}
	for name, tc := range map[string]struct {
		id   policy.Identity
		key  *snapshot.Key
		want map[string]int64 // dimension and subject to the limit of a minute
	}{
		"a key of a type without limits": {withKey, &snapshot.Key{KeyType: "full"}, map[string]int64{
			"key key_1":     10,
			"owner billing": 20,
			"ip 192.0.2.7":  30,
			"project ":      40,
		}},
		"a key of a type with limits": {withKey, &snapshot.Key{KeyType: "slow"}, map[string]int64{
			"key key_1":     5,
			"owner billing": 20,
			"ip 192.0.2.7":  30,
			"project ":      40,
		}},
		"a key with its own limits": {withKey, &snapshot.Key{KeyType: "slow", Limits: &own}, map[string]int64{
			"key key_1":     1,
			"owner billing": 20,
			"ip 192.0.2.7":  30,
			"project ":      40,
		}},
		"a key freed from all limits": {withKey, &snapshot.Key{KeyType: "slow", Limits: &none}, map[string]int64{
			"owner billing": 20,
			"ip 192.0.2.7":  30,
			"project ":      40,
		}},
		"the fallback owner": {policy.Identity{Owner: "fallback-owner"}, nil, map[string]int64{
			"owner fallback-owner": 20,
			"ip 192.0.2.7":         30,
			"project ":             40,
		}},
		"an anonymous caller": {policy.Identity{}, nil, map[string]int64{"ip 192.0.2.7": 30, "project ": 40}},
	} {
		t.Run(name, func(t *testing.T) {
			var tally policy.Tally
			policy.NewRealm(&project).Tally(&tally, &tc.id, tc.key, "192.0.2.7", now)
			got := map[string]int64{}
			for _, share := range tally.Shares() {
				got[share.By.String()+" "+share.Subject] = share.Limits[snapshot.Minute]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var tallyHeaderCases = map[string]struct {
	key, project         snapshot.Limits
	keyLeft, projectLeft snapshot.Limits
	refused              bool
	want                 map[string]string
	denial               string
}{
	"the tightest of a window, the least left of all": {
		key: limits(10, 100), keyLeft: limits(7, 50), project: limits(20, 0), projectLeft: limits(6, 0),
		want: map[string]string{
			"X-Ratelimit-Limit-Minute":     "20",
			"X-Ratelimit-Remaining-Minute": "6",
			"X-Ratelimit-Limit-Day":        "100",
			"X-Ratelimit-Remaining-Day":    "50",
			"Ratelimit-Limit":              "20",
			"Ratelimit-Remaining":          "6",
			"Ratelimit-Reset":              "40",
		},
	},
	"as much left in two: the longer window": {
		key: limits(10, 100), keyLeft: limits(3, 3), project: limits(5, 0), projectLeft: limits(3, 0),
		want: map[string]string{
			"X-Ratelimit-Limit-Minute":     "5",
			"X-Ratelimit-Remaining-Minute": "3",
			"X-Ratelimit-Limit-Day":        "100",
			"X-Ratelimit-Remaining-Day":    "3",
			"Ratelimit-Limit":              "100",
			"Ratelimit-Remaining":          "3",
			"Ratelimit-Reset":              "40",
		},
	},
	"refused for the minute": {
		key: limits(10, 100), keyLeft: limits(0, 90), refused: true, denial: "rate_limited",
		want: map[string]string{
			"X-Ratelimit-Limit-Minute":     "10",
			"X-Ratelimit-Remaining-Minute": "0",
			"X-Ratelimit-Limit-Day":        "100",
			"X-Ratelimit-Remaining-Day":    "90",
			"Ratelimit-Limit":              "10",
			"Ratelimit-Remaining":          "0",
			"Ratelimit-Reset":              "40",
			"Retry-After":                  "40",
		},
	},
	"refused for the day": {
		key: limits(10, 100), keyLeft: limits(5, 0), refused: true, denial: "quota_exceeded",
		want: map[string]string{
			"X-Ratelimit-Limit-Minute":     "10",
			"X-Ratelimit-Remaining-Minute": "5",
			"X-Ratelimit-Limit-Day":        "100",
			"X-Ratelimit-Remaining-Day":    "0",
			"Ratelimit-Limit":              "100",
			"Ratelimit-Remaining":          "0",
			"Ratelimit-Reset":              "40",
			"Retry-After":                  "40",
		},
	},
	"nothing limited": {want: map[string]string{}},
}

func TestTally_headers(t *testing.T) {
	at := time.Date(2026, 11, 20, 23, 59, 20, 5, time.UTC)
	for name, tc := range tallyHeaderCases {
		t.Run(name, func(t *testing.T) {
			realm := policy.NewRealm(&snapshot.Project{
				ID:     "prj_1",
				Limits: snapshot.ProjectLimits{Key: tc.key, Project: tc.project},
			})
			var tally policy.Tally
			realm.Tally(&tally, &policy.Identity{CredentialID: "key_1"}, &snapshot.Key{}, "", at)
			for i := range tally.Shares() {
				share := &tally.Shares()[i]
				if share.Left = tc.keyLeft; share.By == policy.ByProject {
					share.Left = tc.projectLeft
				}
			}
			tally.Refused = tc.refused
			got := map[string]string{}
			for _, h := range tally.Headers(nil) {
				got[h.Name] = strconv.FormatInt(h.Value, 10)
				if h.Name != "Retry-After" && !policy.IsLimitHeader(h.Name) {
					t.Errorf("%s is not known as a header of limits", h.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if tc.refused && tally.Denial().Code != tc.denial {
				t.Errorf("denial %s, want %s", tally.Denial().Code, tc.denial)
			}
		})
	}
}

func TestIsLimitHeader_ofUpstream(t *testing.T) {
	for _, name := range []string{
		"RateLimit", "X-RateLimit-Limit", "Retry-After", "X-RateLimit-Limit-Week", "RateLimit-Policy",
	} {
		if policy.IsLimitHeader(name) {
			t.Errorf("%s is the upstream's", name)
		}
	}
}
