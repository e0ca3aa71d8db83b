//go:build conformance

package conformance

import "testing"

// Two workers share what they count.
func startKongOfTwo(t *testing.T, folder string, up *upstream) *peer {
	t.Helper()
	p, _ := startKong(t, folder, up, "KONG_NGINX_WORKER_PROCESSES=2")
	return p
}

func TestConformanceLimits(t *testing.T) { sameLimits(t, startKongOfTwo) }

func TestConformanceLimits_neverTooMany(t *testing.T) { noOvershoot(t, startKongOfTwo) }
