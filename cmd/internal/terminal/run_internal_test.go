package terminal

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"postern/platform/fault"
)

func TestRefusedWith(t *testing.T) {
	c := &cobra.Command{}
	c.Flags().String("environment", "", "")
	c.Flags().String("version", "", "")
	NamePointer(c, "/environment", "--environment")
	NamePointer(c, "/version", "--version")
	NamePointer(c, "/user", "USER")
	if err := c.Flags().Set("environment", "nope"); err != nil {
		t.Fatal(err)
	}
	field := func(name, code string) fault.Field {
		return fault.Field{Pointer: "/" + name, Code: code, Detail: "Wrong."}
	}
	refused := func(fields ...fault.Field) error { return fault.InvalidFields(fields) }
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"a name in the path":     {fault.New(fault.NotFound, "not_found", "Not found."), exitFailed},
		"a name in a flag":       {refused(field("environment", "unknown_environment")), exitFailed},
		"a name in an argument":  {refused(field("user", "unknown_user")), exitFailed},
		"a name in a file":       {refused(field("rows/1/tenant", "unknown_tenant")), exitFailed},
		"a flag that is missing": {refused(field("version", "unknown_version")), exitUsage},
		"a name and a value": {
			refused(field("user", "unknown_user"), field("limits",
				"too_many")), exitUsage,
		},
		"two names": {
			refused(field("user", "unknown_user"), field("key",
				"unknown_key")), exitFailed,
		},
		"a value of a fixed list":    {refused(field("events/0", "unknown_event")), exitUsage},
		"a member that has no field": {fault.New(fault.Invalid, "invalid", "Invalid."), exitFailed},
		"a conflict":                 {fault.New(fault.Conflict, "exists", "It exists."), exitFailed},
		"not allowed":                {fault.New(fault.Forbidden, "not_allowed", "No."), exitNotAllowed},
		"not signed in": {
			fault.New(fault.Unauthenticated, "credentials_required",
				"No."), exitNotAllowed,
		},
		"any other error": {errors.New("disk full"), exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refusedWith(c, tc.err); got != tc.want {
				t.Errorf("got exit code %d, want %d", got, tc.want)
			}
		})
	}
}

func TestComplain(t *testing.T) {
	const (
		several = "It has several: 1, 2."
		zero    = "Use 0 (no refresh tokens) to 7,776,000 seconds (90 days)."
	)
	for name, tc := range map[string]struct {
		flag, code, detail string
		given              bool
		want               string
	}{
		"a flag that is missing": {
			"version", "required", several, false,
			"--version is missing. It has several: 1, 2.",
		},
		"a flag without a value": {"version", "required", several, true, "--version: It has several: 1, 2."},
		"a wrong value": {
			"version", "unknown_version", several, true,
			"--version: It has several: 1, 2.",
		},
		"a part of a file": {
			"rules/0/path", "invalid_path", "Start with /.", false,
			"rules[0].path: Start with /.",
		},
		"the whole request": {"", "invalid", "Send an object.", false, "Send an object."},
		"seconds": {
			"grace", "invalid", "Use 0 to 2,592,000 seconds (30 days).", true,
			"--grace: Use a duration from 0s to 30d.",
		},
		"seconds with a word": {
			"grace", "invalid", zero, true,
			"--grace: Use a duration from 0s (no refresh tokens) to 90d.",
		},
		"milliseconds": {
			"grace", "out_of_range", "Use 1 to 3,600,000 milliseconds. The default is 60,000.", true,
			"--grace: Use a duration from 1ms to 1h. The default is 1m.",
		},
		"seconds in words": {
			"grace", "invalid", "Use a duration of up to ten years, in seconds, or omit this setting.", true,
			"--grace: Use a duration of up to ten years, or omit this setting.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cobra.Command{}
			c.Flags().String("version", "", "")
			c.Flags().Duration("grace", 0, "")
			NamePointer(c, "/version", "--version")
			NamePointer(c, "/grace", "--grace")
			if flag := c.Flags().Lookup(tc.flag); flag != nil {
				flag.Changed = tc.given
			}
			pointer := ""
			if tc.flag != "" {
				pointer = "/" + tc.flag
			}
			var said strings.Builder
			complain(&said, c, fault.InvalidField(pointer, tc.code, "%s", tc.detail))
			if want := "postern: " + tc.want + "\n"; said.String() != want {
				t.Errorf("got %q, want %q", said.String(), want)
			}
		})
	}
}
