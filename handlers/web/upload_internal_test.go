package web

import "testing"

// The bytes of uploads that are being received have a bound, and one account or address has half of it.
func TestUploads_spool(t *testing.T) {
	var u uploads
	for _, step := range []struct {
		account, address string
		gib              int64
		want             bool
	}{
		{"acc_1", "192.0.2.1", 1, true},
		{"acc_2", "192.0.2.1", 1, true},
		{"acc_3", "192.0.2.1", 1, false}, // the address has its half
		{"acc_1", "192.0.2.2", 1, true},
		{"acc_1", "192.0.2.3", 1, false}, // the account has its half
		{"acc_4", "192.0.2.3", 1, true},
		{"acc_5", "192.0.2.4", 1, false}, // all is used
		{"acc_1", "192.0.2.1", -1, true},
		{"acc_5", "192.0.2.4", 1, true},
		{"acc_5", "192.0.2.4", -1, true},
		{"acc_2", "192.0.2.1", -1, true},
		{"acc_1", "192.0.2.2", -1, true},
		{"acc_4", "192.0.2.3", -1, true},
	} {
		if err := u.spool(step.gib<<30, step.account, step.address); (err == nil) != step.want {
			t.Errorf("%+v: %v", step, err)
		}
	}
	if u.sum != 0 || len(u.spooled) != 0 {
		t.Errorf("at the end %d bytes are counted, and %v", u.sum, u.spooled)
	}
}
