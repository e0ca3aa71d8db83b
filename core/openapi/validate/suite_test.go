package validate_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"postern/core/openapi"
	"postern/core/openapi/validate"
	"postern/testkit/golden"
)

// suiteGroup is a schema of the JSON Schema test suite with its tests.
type suiteGroup struct {
	Description string
	Schema      any
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// declared are reasons of differences that docs/openapi.md declares, and that no document lists, by file.
var declared = map[string]string{
	"format.json": "date, date-time, uuid, ipv4 and ipv6 are checked, as documents mean them.",
}

const suite = "testdata/json-schema-test-suite/"

// Values are valid as the official test suite of JSON Schema says. unchecked.golden has what is different: the document
// is refused, or lists under Unchecked why.
func TestSuite_golden(t *testing.T) {
	t.Parallel()
	files, err := zip.OpenReader(suite + "draft2020-12.zip")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	tests, differ := 0, 0
	var out strings.Builder
	for _, file := range files.File {
		if !strings.HasSuffix(file.Name, ".json") {
			continue
		}
		var lines strings.Builder
		for _, group := range readSuite(t, file) {
			tests += len(group.Tests)
			differ += group.differences(t, declared[path.Base(file.Name)], &lines)
		}
		if lines.Len() > 0 {
			fmt.Fprintf(&out, "# %s\n%s\n", path.Base(file.Name), &lines)
		}
	}
	if tests < 1000 {
		t.Errorf("%d tests", tests)
	}
	fmt.Fprintf(&out, "%d of %d tests differ.\n", differ, tests)
	golden.Compare(t, suite+"unchecked.golden", out.String())
}

func readSuite(t *testing.T, file *zip.File) (groups []suiteGroup) {
	t.Helper()
	from, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&groups); err != nil {
		t.Fatal(err)
	}
	return groups
}

// differences writes which tests of a group have another result, and why, and returns how many these are.
func (g suiteGroup) differences(t *testing.T, declared string, to io.Writer) int {
	t.Helper()
	v, refusal := compileSuite(t, g.Schema)
	if refusal != "" {
		fmt.Fprintf(to, "%s: refused: %s\n", g.Description, refusal)
		return len(g.Tests)
	}
	var lines []string
	m, _ := v.Find("PUT", "/o")
	for _, one := range g.Tests {
		problems := m.Body(newWork(t), "application/json", "", one.Data)
		switch {
		case one.Valid && len(problems) > 0:
			lines = append(lines, fmt.Sprintf("\trefused: %s: %s", one.Description, said(problems)))
		case !one.Valid && len(problems) == 0:
			lines = append(lines, "\taccepted: "+one.Description)
		}
	}
	if len(lines) == 0 {
		return 0
	}
	var reasons []string
	for _, one := range v.Unchecked() {
		reasons = append(reasons, one.Reason)
	}
	slices.Sort(reasons)
	if reasons = slices.Compact(reasons); len(reasons) == 0 && declared != "" {
		reasons = []string{declared}
	}
	if len(reasons) == 0 {
		t.Errorf("%s: nothing is listed as unchecked:\n%s", g.Description, strings.Join(lines, "\n"))
	}
	fmt.Fprintf(to, "%s: %s\n%s\n", g.Description, strings.Join(reasons, " "), strings.Join(lines, "\n"))
	return len(lines)
}

// compileSuite compiles a document for bodies as the schema says, or returns why the document is refused.
func compileSuite(t *testing.T, schema any) (v *validate.Validator, refusal string) {
	t.Helper()
	document := map[string]any{
		"openapi": "3.1.0", "info": map[string]any{"title": "t", "version": "1"},
		"components": map[string]any{"schemas": map[string]any{"S": moved(schema)}},
		"paths": map[string]any{"/o": map[string]any{"put": map[string]any{"requestBody": map[string]any{
			"content": map[string]any{"application/json": map[string]any{
				"schema": map[string]any{"$ref": "#/components/schemas/S"},
			}},
		}}}},
	}
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	b := openapi.NewBudget(t.Context(), openapi.Size)
	doc, err := openapi.Parse(b, text)
	if err == nil {
		v, err = validate.Compile(b, doc.Tree)
	}
	if refused, ok := errors.AsType[*openapi.Error](err); ok {
		return nil, strings.Join(refused.Reasons, " ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return v, ""
}

// moved returns a schema whose references to its root are rewritten for its place in a document.
func moved(schema any) any {
	switch node := schema.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, child := range node {
			ref, isText := child.(string)
			switch {
			case name == "$ref" && isText && (ref == "#" || strings.HasPrefix(ref, "#/")):
				out[name] = "#/components/schemas/S" + ref[1:]
			case name == "enum" || name == "const":
				out[name] = child
			default:
				out[name] = moved(child)
			}
		}
		return out
	case []any:
		out := make([]any, len(node))
		for i, child := range node {
			out[i] = moved(child)
		}
		return out
	}
	return schema
}
