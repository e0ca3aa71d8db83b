package movein_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"postern/core/movein"
)

const orders = "_format_version: '3.0'\nservices: [{name: orders, url: 'http://${HOST}:1'}]\n"

// Files are named in errors and pointers if there are several.
func TestRead_several(t *testing.T) {
	routes := "_format_version: '3.0'\nroutes:\n- {name: orders, service: orders, hosts: [api.example.com]}\n" +
		"upstreams: [{name: '${HOST}'}]\n"
	files, err := movein.Read([]movein.File{
		{Name: "some dir/orders.yaml", Text: []byte(orders)}, {Name: `C:\orders.yaml`, Text: []byte(routes)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := files.Placeholders(); len(all) != 1 || all[0].Count != 2 {
		t.Errorf("the placeholders are %+v", all)
	}
	p, err := files.Plan(map[string]string{"HOST": "orders.example.net"}, movein.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	var pointers []string
	for _, item := range p.Items {
		pointers = append(pointers, item.Pointer)
	}
	want := []string{"orders.yaml#/services/0", "orders.yaml-2#/routes/0", "orders.yaml-2#/upstreams/0"}
	if !slices.Equal(pointers, want) || len(p.Projects) != 1 || len(p.Projects[0].Versions) != 1 {
		t.Errorf("items %q, projects %+v", pointers, p.Projects)
	}
}

// aliases are many values in a short text.
var aliases = "x: [&x [" + strings.Repeat("1,", 200_000) + "1]" + strings.Repeat(",*x", 6) + "]\n"

// placeholders returns a list of 600 placeholders, whose names have a prefix.
func placeholders(prefix string) string {
	var out strings.Builder
	for i := range 600 {
		fmt.Fprintf(&out, "- ${%s_%d}\n", prefix, i)
	}
	return "x:\n" + out.String()
}

// A name is cut between characters.
func TestRead_longName(t *testing.T) {
	files, err := movein.Read([]movein.File{
		{Name: "x" + strings.Repeat("é", 100), Text: []byte(orders)},
		{Name: "/", Text: []byte("_format_version: '3.0'\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := files.Plan(nil, movein.Options{Now: now})
	if err != nil || !utf8.ValidString(p.Items[0].Pointer) || !strings.HasSuffix(p.Items[0].Pointer, "é#/services/0") {
		t.Errorf("%+v, %v", p.Items, err)
	}
}

func TestRead_errors(t *testing.T) {
	for name, tt := range map[string]struct {
		texts []string
		want  string
	}{
		"AWS": {
			[]string{`{"openapi":"3.0.1","paths":{"/a":{"get":{"x-amazon-apigateway-integration":{}}}}}`},
			"Export the API again: aws apigateway get-export",
		},
		"OpenAPI":       {[]string{"swagger: '2.0'\npaths: {}\n"}, "postern create --openapi FILE"},
		"in the second": {[]string{orders, "_format_version: '3.0'\n\tservices"}, "b.yaml, line 2: "},
		"versions":      {[]string{orders, "_format_version: '2.1'\n"}, "b.yaml, line 1: This _format_version differs"},
		"a name in both": {
			[]string{orders, orders},
			"b.yaml, line 2: The name of this service is already used on line 2 of a.yaml.",
		},
		"values": {[]string{orders + aliases, orders + aliases}, "more than 2,000,000 values"},
		"placeholders": {
			[]string{orders + placeholders("A"), orders + placeholders("B")}, "1,000 different placeholders",
		},
	} {
		var files []movein.File
		for i, text := range tt.texts {
			files = append(files, movein.File{Name: []string{"a.yaml", "b.yaml"}[i], Text: []byte(text)})
		}
		read, err := movein.Read(files)
		if err == nil {
			_, err = read.Plan(nil, movein.Options{Now: now})
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
