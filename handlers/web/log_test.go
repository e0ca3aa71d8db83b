package web_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"postern/handlers/web"
	"postern/platform/fault"
)

// A caller without a credential can't write errors into the log: an operator would take them for failures.
func TestLogCause(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err    error
		logged bool
	}{
		"a failure":        {errors.New("disk full"), true},
		"a refusal":        {fault.New(fault.Invalid, "invalid_name", "Use letters."), false},
		"no such route":    {web.NotFound(), false},
		"the wrong method": {web.MethodNotAllowed(http.MethodPatch), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines bytes.Buffer
			site := &web.Site{Log: slog.New(slog.NewTextHandler(&lines, nil))}
			site.LogCause(t.Context(), tc.err)
			if logged := strings.Contains(lines.String(), "level=ERROR"); logged != tc.logged {
				t.Errorf("logged %q", lines.String())
			}
		})
	}
}
