package export

import (
	"strings"
	"testing"
	"time"

	"postern/core/contract"
)

func TestTargetsText(t *testing.T) {
	t.Parallel()
	ca := &contract.OfferedCA{
		Subject: "CN=Internal CA", SHA256: "1b2c3d", ExpiresAt: time.Date(2027, 11, 28, 0, 0, 0, 0, time.UTC),
	}
	p := &contract.PlannedImport{TargetCount: 7, Targets: []contract.ImportTarget{
		{Address: "https://a.example.net", State: contract.TargetOK},
		{Address: "https://b.internal:8443", State: contract.TargetUnverified, Detail: "It isn't accepted.", CA: ca},
		{Address: "https://c.internal", State: contract.TargetUnverified, Detail: "The certificate has expired."},
		{Address: "https://d.internal", State: contract.TargetOK, Trusted: true, CA: ca},
		{Address: "http://10.0.0.1", State: contract.TargetNotAllowed, Detail: "Use POSTERN_EGRESS_ALLOW."},
	}}
	want := []string{
		"Targets",
		"https://b.internal:8443: It isn't accepted. To accept its certificate, compare the fingerprint with the one",
		"that the target's operator gives you, and use --trust b.internal.",
		"SHA-256 1b2c3d (CN=Internal CA, expires 2027-11-28).",
		"https://c.internal: The certificate has expired.",
		"https://d.internal: trusted. SHA-256 1b2c3d (CN=Internal CA, expires 2027-11-28).",
		"http://10.0.0.1: Use POSTERN_EGRESS_ALLOW.",
		"No problem found: 1 target.",
		"Not tested: 2 more targets.",
	}
	got := targetsText(p)
	if strings.Join(strings.Fields(got), " ") != strings.Join(want, " ") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if got := targetsText(&contract.PlannedImport{}); got != "" {
		t.Errorf("without targets: %q", got)
	}
}
