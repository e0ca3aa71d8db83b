package cli

import (
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
)

func TestFilledIn(t *testing.T) {
	version := func(name string, environments ...string) contract.Version {
		v := contract.Version{ID: "ver_" + name, Name: name}
		for _, e := range environments {
			v.Environments = append(v.Environments, contract.Environment{Name: e})
		}
		return v
	}
	one := []contract.Version{version("1.0.0", "prod")}
	two := []contract.Version{version("1.0.0", "prod"), version("2.0.0", "dev", "prod")}
	const both = "PROJECT VERSION ENVIRONMENT"
	for name, tc := range map[string]struct {
		versions    []contract.Version
		names, args string
		want        string // the arguments, or a part of the error
	}{
		"version":                     {one, "PROJECT VERSION", "shop", "shop 1.0.0"},
		"both":                        {one, both, "shop", "shop 1.0.0 prod"},
		"both, and more":              {one, both + " NAME", "shop X-Token", "shop 1.0.0 prod X-Token"},
		"version, and more":           {one, "PROJECT VERSION METHODS PATH", "shop GET /", "shop 1.0.0 GET /"},
		"version before environment":  {one, both, "shop prod", "shop 1.0.0 prod"},
		"environment after version":   {two, both, "shop 1.0.0", "shop 1.0.0 prod"},
		"environment after its id":    {two, both, "shop ver_1.0.0", "shop ver_1.0.0 prod"},
		"environment, and more":       {two, both + " NAME", "shop 1.0.0 X", "shop 1.0.0 prod X"},
		"several versions":            {two, "PROJECT VERSION", "shop", "shop has several versions: 1.0.0, 2.0.0"},
		"several, and an environment": {two, both, "shop prod", "VERSION is missing"},
		"several environments":        {two, both, "shop 2.0.0", "shop 2.0.0 has several environments: dev, prod"},
		"no environments":             {[]contract.Version{version("1.0.0")}, both, "shop", "has no environments"},
	} {
		got, err := filledIn(strings.Fields(tc.names), strings.Fields(tc.args),
			contract.Project{Name: "shop", Versions: tc.versions})
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if (err == nil && text != tc.want) || !strings.Contains(text, tc.want) {
			t.Errorf("%s: %q, want %q", name, text, tc.want)
		}
	}
}

// TestCollectionOf checks that the arguments of all commands that name something of the server are completed.
func TestCollectionOf(t *testing.T) {
	completed := 0
	for _, op := range contract.Operations() {
		_, arguments := op.Describe().Words()
		for _, m := range op.Members() {
			if m.Place != contract.InPath || !slices.Contains(arguments, m.Argument()) {
				continue
			}
			if collectionOf(op.Describe().Path, m.Name) == "" {
				t.Errorf("%s: %s has no list", op.Describe().Command, m.Argument())
			}
			completed++
		}
	}
	if completed < 100 {
		t.Errorf("%d arguments were checked", completed)
	}
}
