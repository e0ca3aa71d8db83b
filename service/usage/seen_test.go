package usage_test

import (
	"testing"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/usage"
	"postern/testkit/state"
)

func TestSeen_lastHour(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := time.Now().UTC().Truncate(time.Hour)
		for owner, ago := range map[string]time.Duration{
			"usr_key": time.Hour, "usr_token (https://id.example)": 3 * time.Hour, "usr_token": 5 * time.Hour,
			"usr_late": usage.SeenFor + 2*time.Hour, "usr_tokens": 0, "usr_token!": 0,
		} {
			call := w.call(now.Add(-ago))
			call.Owner = owner
			w.Recorder.Observe(call)
		}
		users := []string{"usr_key", "usr_token", "usr_late", "usr_none"}
		seen, err := w.Seen(t.Context(), w.owner, []string{w.project.Name}, users)
		if err != nil || len(seen) != 2 || !seen["usr_key"].Equal(now.Add(-time.Hour)) ||
			!seen["usr_token"].Equal(now.Add(-3*time.Hour)) {
			t.Errorf("seen %v, %v", seen, err)
		}
		if seen, err := w.Seen(t.Context(), w.owner, nil, users); err != nil || len(seen) != 0 {
			t.Errorf("in no project: %v, %v", seen, err)
		}
		_, err = w.Seen(t.Context(), access.Principal{}, []string{w.project.Name}, users)
		if fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("asked without a credential: %v", err)
		}
	})
}
