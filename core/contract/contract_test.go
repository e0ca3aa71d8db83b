package contract_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
)

var inPath = regexp.MustCompile(`\{(\w+)\}`)

// Ids are unique, all operations are described, and paths and commands name only members that the requests have.
func TestOperations(t *testing.T) {
	ids := map[string]bool{}
	for _, op := range contract.Operations() {
		o := op.Describe()
		t.Run(o.ID, func(t *testing.T) {
			if ids[o.ID] {
				t.Error("another operation has this id")
			}
			ids[o.ID] = true
			var path, arguments, flags []string
			in, _ := op.Types()
			_, conditional := reflect.New(in).Interface().(interface{ Conditional() *contract.Condition })
			for _, m := range op.Members() {
				switch {
				case m.Place == contract.InHeader && !conditional:
					t.Error("its condition isn't found, so that no change with If-Match is made")
				case m.Place == contract.InPath:
					path = append(path, m.Name)
				case m.Place == contract.InBody && o.Method == http.MethodGet:
					t.Errorf("a request with GET has %s in its body", m.Name)
				case m.Flag != "":
					flags = append(flags, m.Flag)
				}
				arguments = append(arguments, m.Argument())
			}
			var want []string
			for _, found := range inPath.FindAllStringSubmatch(o.Path, -1) {
				want = append(want, found[1])
			}
			if slices.Sort(path); !slices.Equal(path, slices.Sorted(slices.Values(want))) {
				t.Errorf("the path %s, but members of the path %v", o.Path, path)
			}
			if slices.Sort(flags); len(slices.Compact(slices.Clone(flags))) != len(flags) {
				t.Errorf("a flag twice: %v", flags)
			}
			words, given := o.Words()
			if len(words) == 0 && o.Command != "" {
				t.Errorf("the command %q", o.Command)
			}
			for _, argument := range given {
				if !slices.Contains(arguments, argument) {
					t.Errorf("the command %q, but members %v", o.Command, arguments)
				}
			}
			if !strings.HasSuffix(o.Doc, ".") || strings.TrimSuffix(o.Doc, ".") == o.Summary {
				t.Errorf("Doc says nothing beyond the summary, or is not a sentence: %q", o.Doc)
			}
			if o.Example != "" && !strings.HasPrefix(o.Example, strings.Join(words, " ")+" ") {
				t.Errorf("the example %q is of another command", o.Example)
			}
		})
	}
}

// slog writes structs as JSON, which has the secrets in them.
func TestSecret_logged(t *testing.T) {
	logged := reflect.TypeFor[slog.LogValuer]()
	for _, op := range contract.Operations() {
		in, out := op.Types()
		for _, of := range []reflect.Type{in, out} {
			if hasSecret(of) && !of.Implements(logged) {
				t.Errorf("%s has a secret and doesn't implement slog.LogValuer", of)
			}
		}
	}
}

func hasSecret(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return hasSecret(of.Elem())
	case reflect.Struct:
		for i := range of.NumField() {
			if hasSecret(of.Field(i).Type) {
				return true
			}
		}
	}
	return of == reflect.TypeFor[contract.Secret]()
}

func TestSecret_printed(t *testing.T) {
	const secret = contract.Secret("whsec_1")
	for _, verb := range []string{"%s", "%v", "%q", "%d", "%#v"} {
		if got := fmt.Sprintf(verb, secret); got != "***" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
	if got := secret.LogValue().String(); got != "***" {
		t.Errorf("slog has %q", got)
	}
}

func TestMembersOf(t *testing.T) {
	var got []string
	for _, m := range contract.UpdateWebhook.Members() {
		got = append(got, fmt.Sprintf("%d %s --%s %v %v", m.Place, m.Name, m.Flag, m.Required, m.Elem()))
	}
	want := []string{
		"1 webhook -- true string",
		"3 If-Match -- false string",
		"4 url --url false string",
		"4 description --description false string",
		"4 events --event false []string",
		"4 enabled --enabled false bool",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
