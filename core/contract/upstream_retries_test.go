package contract

import (
	"encoding/json"
	"testing"
)

func TestUpstreamRetries_json(t *testing.T) {
	for text, want := range map[string]string{
		`{"max":0,"on":[502,"timeout"]}`: `{"max":0,"on":[502,"timeout"]}`,
		`{"on":["503"]}`:                 `{"on":[503]}`, // as in a flag or a field of a form
		`{"on":[]}`:                      `{"on":[]}`,
		`{"on":[5e2,"05"]}`:              `{"on":["5e2","05"]}`, // no conditions, but said as they were
		`{}`:                             `{}`,
	} {
		var r UpstreamRetries
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(r); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	var r UpstreamRetries
	if json.Unmarshal([]byte(`{"on":[true]}`), &r) == nil {
		t.Error("a boolean is a condition")
	}
}

func TestUpstreamRetries_over(t *testing.T) {
	was := UpstreamRetries{Max: new(3), On: &[]RetryCondition{"502"}}
	for name, tc := range map[string]struct {
		change UpstreamRetries
		max    int
		on     int
	}{
		"nothing":   {UpstreamRetries{}, 3, 1},
		"max":       {UpstreamRetries{Max: new(0)}, 0, 1},
		"none":      {UpstreamRetries{On: &[]RetryCondition{}}, 3, 0},
		"both":      {UpstreamRetries{Max: new(1), On: &[]RetryCondition{"504", RetryOnTimeout}}, 1, 2},
		"from none": {UpstreamRetries{}.Stated(), 1, 0},
	} {
		if got := tc.change.Over(was); *got.Max != tc.max || len(*got.On) != tc.on {
			t.Errorf("%s: max %d, on %v", name, *got.Max, *got.On)
		}
	}
	if !(UpstreamRetries{}).AreDefaults() || was.AreDefaults() || (UpstreamRetries{On: was.On}).AreDefaults() {
		t.Error("other settings are the defaults")
	}
}
