package accounts_test

import (
	"testing"
	"testing/synctest"
	"time"

	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
)

// Requests are counted by team and by address, within a window.
func TestOutbound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o accounts.Outbound
		take := func(team, address string, times int) (taken int) {
			for range times {
				err := o.Take(access.Principal{RemoteAddr: address}, team)
				if err == nil {
					taken++
				} else if fault.KindOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 {
					t.Fatal(err)
				}
			}
			return taken
		}
		for _, step := range []struct {
			what, team, address string
			want                int // of 200
		}{
			{"one team", "team_1", "192.0.2.1:1000", 60},
			{"the same team from elsewhere", "team_1", "198.51.100.1:1000", 0},
			{"another team from the address", "team_2", "192.0.2.1:2000", 60},
			{"no team from the address", "", "192.0.2.1:3000", 0},
			{"no team from elsewhere", "", "198.51.100.1:2000", 120},
			{"one subscriber's network", "", "[2001:db8::1]:1", 120},
			{"another address of that network", "", "[2001:db8::2]:1", 0},
			{"a command on the server's machine", "", "", 200},
		} {
			if got := take(step.team, step.address, 200); got != step.want {
				t.Errorf("%s: %d requests, want %d", step.what, got, step.want)
			}
		}
		time.Sleep(10 * time.Minute)
		if got := take("team_1", "192.0.2.1:1000", 1); got != 1 {
			t.Error("none in the next window")
		}
	})
}
