package contract_test

import (
	"encoding/json"
	"testing"

	"postern/core/contract"
)

func TestUpstream_json(t *testing.T) {
	for _, text := range []string{
		`{"targets":[{"url":"https://a.example","weight":0},{"url":"https://b.example"}]}`,
		`{"balance":"least_connections"}`,
		`{"balance":{"hash":"owner"}}`,
		`{"balance":{"hash":{"header":"X-User"}}}`,
		`{"checks":{"path":"","statuses":[204,"200-399"],"passive_failures":0}}`,
		`{"breaker":{"failures":0}}`,
	} {
		var u contract.Upstream
		if err := json.Unmarshal([]byte(text), &u); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := json.Marshal(u); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	for _, text := range []string{`{"balance": 1}`, `{"balance": {"hash": 1}}`, `{"checks": {"statuses": [true]}}`} {
		if err := json.Unmarshal([]byte(text), &contract.Upstream{}); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestUpstreamTarget_setText(t *testing.T) {
	for text, want := range map[string]contract.UpstreamTarget{
		"https://a.example":       {URL: "https://a.example"},
		"https://a.example/x=y=3": {URL: "https://a.example/x=y", Weight: new(3)},
		"https://a.example=0":     {URL: "https://a.example", Weight: new(0)},
	} {
		var got contract.UpstreamTarget
		if err := got.SetText(text); err != nil || got.String() != want.String() || got.URL != want.URL {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
	if err := new(contract.UpstreamTarget).SetText("https://a.example=x"); err == nil {
		t.Error("a weight that isn't a number was read")
	}
}

func TestStatusRange(t *testing.T) {
	for r, want := range map[contract.StatusRange][3]bool{ // 199, 200, 299
		"200": {false, true, false}, "200-299": {false, true, true}, "100-599": {true, true, true},
		"99-299": {}, "200-600": {}, "299-200": {}, "x": {}, "200-": {}, "": {},
	} {
		if got := [3]bool{r.Contains(199), r.Contains(200), r.Contains(299)}; got != want {
			t.Errorf("%q contains %v, want %v", r, got, want)
		}
	}
}
