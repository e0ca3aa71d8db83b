package federation_test

import (
	"strings"
	"testing"

	"postern/platform/federation"
)

func TestProfileOf(t *testing.T) {
	long := strings.Repeat("x", federation.MaxProfile)
	for name, tt := range map[string]struct{ stated, want string }{
		"nothing":       {`{"sub":"1","email":"a@b.example","name":"Ana"}`, ""},
		"not an object": {`[]`, ""},
		"all kinds": {`{"given_name":"Ana","updated_at":1700000000}`,
			`{"given_name":"Ana","updated_at":1700000000}`},
		"a fraction":    {`{"updated_at":1.7000000005e9}`, `{"updated_at":1700000000}`},
		"no moment":     {`{"updated_at":1e300}`, ""},
		"another order": {`{"zoneinfo":"a","locale":"b"}`, `{"locale":"b","zoneinfo":"a"}`},
		"another case":  {`{"Given_Name":"Eve","LOCALE":"x"}`, ""},
		"other types":   {`{"given_name":7,"locale":["de"],"picture":null,"updated_at":"now"}`, ""},
		"not printable": {`{"given_name":"a\u0000b","family_name":"a\u202eb","nickname":"n"}`, `{"nickname":"n"}`},
		"too long": {`{"given_name":"Ana","picture":"` + long + `","website":"w"}`,
			`{"given_name":"Ana","website":"w"}`},
		"too long in all": {`{"nickname":"` + long[:5000] + `","picture":"` + long[:5000] + `"}`,
			`{"nickname":"` + long[:5000] + `"}`},
	} {
		got := federation.ParseProfile(tt.stated)
		if got.JSON() != tt.want {
			t.Errorf("%s: %.200s, want %.200s", name, got.JSON(), tt.want)
		}
		if again := federation.ParseProfile(got.JSON()); again != got {
			t.Errorf("%s: read again it is %+v, want %+v", name, again, got)
		}
	}
}
