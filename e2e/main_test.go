// Package e2e tests the whole program from outside, as its operators run it: kills, outages, replicas, roles,
// backups and upgrades.
//
// It owns the flows that cross packages. Tests of a single package are in that package. Its subpackages test the
// dashboard in a browser (pages), hosted login (login) and gateways that run an export (conformance); harness has what
// they have in common.
package e2e

import (
	"testing"

	"postern/e2e/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
