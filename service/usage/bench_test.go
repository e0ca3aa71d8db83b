package usage_test

import (
	"log/slog"
	"testing"
	"time"

	"postern/service/usage"
)

// BenchmarkObserve is what counting and logging add to each call, with all
// callers in one project.
func BenchmarkObserve(b *testing.B) {
	r := usage.NewRecorder(nil, slog.New(slog.DiscardHandler))
	call := usage.Call{
		ProjectID:     "prj_01h2xcejqtf2nbrexx3vqjhp41",
		EnvironmentID: "env_01h2xcejqtf2nbrexx3vqjhp42",
		Owner:         "billing-service",
		CredentialID:  "key_01h2xcejqtf2nbrexx3vqjhp43",
		RemoteIP:      "192.0.2.7",
		Method:        "GET",
		Path:          "/shop/1.0.0/prod/orders/42",
		Route:         "/*",
		Status:        200,
		Step:          "forward",
		Forwarded:     true,
		BytesOut:      1024,
		Start:         time.Now(),
		Duration:      time.Millisecond,
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		mine := r.ForConnection()
		for pb.Next() {
			mine.Observe(call)
		}
	})
}
