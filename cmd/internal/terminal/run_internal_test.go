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
		"a name in the path":         {fault.New(fault.NotFound, "not_found", "Not found."), exitFailed},
		"a name in a flag":           {refused(field("environment", "unknown_environment")), exitFailed},
		"a name in an argument":      {refused(field("user", "unknown_user")), exitFailed},
		"a name in a file":           {refused(field("rows/1/tenant", "unknown_tenant")), exitFailed},
		"a flag that is missing":     {refused(field("version", "unknown_version")), exitUsage},
		"a name and a value":         {refused(field("user", "unknown_user"), field("limits", "too_many")), exitUsage},
		"two names":                  {refused(field("user", "unknown_user"), field("key", "unknown_key")), exitFailed},
		"a value of a fixed list":    {refused(field("events/0", "unknown_event")), exitUsage},
		"a member that has no field": {fault.New(fault.Invalid, "invalid", "Invalid."), exitFailed},
		"a conflict":                 {fault.New(fault.Conflict, "exists", "It exists."), exitFailed},
		"not allowed":                {fault.New(fault.Forbidden, "not_allowed", "No."), exitNotAllowed},
		"not signed in":              {fault.New(fault.Unauthenticated, "credentials_required", "No."), exitNotAllowed},
		"any other error":            {errors.New("disk full"), exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refusedWith(c, tc.err); got != tc.want {
				t.Errorf("got exit code %d, want %d", got, tc.want)
			}
		})
	}
}

func TestComplain(t *testing.T) {
	for name, tc := range map[string]struct {
		code  string
		given bool
		want  string
	}{
		"a flag that is missing": {"required", false, "postern: --version is missing. It has several: 1, 2.\n"},
		"a flag without a value": {"required", true, "postern: It has several: 1, 2.\n  in --version (required)\n"},
		"a wrong value": {
			"unknown_version", true, "postern: It has several: 1, 2.\n  in --version (unknown_version)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cobra.Command{}
			c.Flags().String("version", "", "")
			NamePointer(c, "/version", "--version")
			c.Flags().Lookup("version").Changed = tc.given
			var said strings.Builder
			complain(&said, c, fault.InvalidField("/version", tc.code, "It has several: 1, 2."))
			if said.String() != tc.want {
				t.Errorf("got %q, want %q", said.String(), tc.want)
			}
		})
	}
}
