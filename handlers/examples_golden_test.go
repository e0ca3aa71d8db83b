package handlers_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/service/usage"
	"postern/testkit/controlplane"
	"postern/testkit/golden"
	"postern/testkit/state"
)

// example is a request to an operation and its answer.
type example struct {
	Request json.RawMessage `json:"request,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// TestExamples_golden sends each operation of the API the request that its guard has, as someone who may.
// The requests and responses are the examples of the OpenAPI document. Each test server creates its own ids, secrets
// and times; those in the examples are always the same.
func TestExamples_golden(t *testing.T) {
	t.Parallel()
	o := controlplane.NewFixture(t, state.OpenSQLite(t))
	ids := operationIDs(t, o)
	began := time.Now()
	examples := map[string]example{}
	for _, name := range slices.Sorted(maps.Keys(guards)) {
		want := guards[name]
		method, route, _ := strings.Cut(name, " ")
		id := ids[name]
		if id == "" {
			continue
		}
		has := o.NewObjects(t, want.needs, route)
		body := o.FillBody(t, has, cmp.Or(betterBodies[name], want.body))
		path := has.Path(route) + o.FillBody(t, has, want.query)
		if strings.Contains(route, "/requests") {
			path = strings.ReplaceAll(path, ":request", observed(t, o, has))
		}
		caller := o.Owner
		if plan, isApply := strings.CutSuffix(path, "/apply"); isApply { // what the caller has seen
			seen := o.Do(t, http.MethodGet, plan, "", o.Owner)
			caller = append([]string{"If-Match", seen.Header.Get("ETag")}, caller...)
		}
		got := o.Do(t, method, path, body, caller)
		if got.Status/100 != 2 && id != "delete-account" && id != "delete-team" { // which others need
			t.Errorf("%s: %d %.300s", name, got.Status, got.Raw)
			continue
		}
		var of example
		steady := steadied{began: began, seen: map[string]int{}}
		if json.Valid([]byte(body)) {
			of.Request = steady.text(t, body)
		}
		if strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
			of.Answer = steady.text(t, got.Raw)
		}
		if of.Request != nil || of.Answer != nil {
			examples[id] = of
		}
	}
	text, err := json.MarshalIndent(examples, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "api/examples.json", string(text)+"\n")
}

// betterBodies are requests that show more than those of the guards.
var betterBodies = map[string]string{
	"PATCH /api/v1/account":       `{"name":"Ana"}`,
	"POST /api/v1/account/delete": `{"confirm":"ana@example.com","password":"correct horse battery"}`,

	"POST /api/v1/projects/:project/keys/check": `{"key":"k9J2hG5fD8sA1pO4iU7yT0rE"}`,
	"POST /api/v1/projects/:project/keys/import": `[{"owner":"billing","key":"k9J2hG5fD8sA1pO4iU7yT0rE",` +
		`"key_type":"full"}]`,
}

// observed puts a call into the log of a project, and returns its id.
func observed(t *testing.T, o *controlplane.Fixture, has controlplane.Objects) string {
	t.Helper()
	o.Server.Usage.Recorder.Observe(usage.Call{
		ProjectID: has.Project, Method: "GET", Path: "/orders", Route: "/orders", Owner: "billing", Status: 200,
		Step: "forward", Forwarded: true, Start: time.Now(), Duration: 12 * time.Millisecond, BytesOut: 512,
	})
	list := o.Do(t, http.MethodGet, has.Path("/api/v1/projects/:project/requests"), "", o.Owner)
	call, _ := list.Body["items"].([]any)[0].(map[string]any)
	return fmt.Sprint(call["id"])
}

// operationIDs returns the ids of the API's operations by method and route.
func operationIDs(t *testing.T, o *controlplane.Fixture) map[string]string {
	t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	got := o.Do(t, http.MethodGet, "/openapi.json", "", nil)
	if err := json.Unmarshal([]byte(got.Raw), &document); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	parameter := regexp.MustCompile(`\{(\w+)\}`)
	for path, methods := range document.Paths {
		for method, operation := range methods {
			out[strings.ToUpper(method)+" "+parameter.ReplaceAllString(path, ":$1")] = operation.OperationID
		}
	}
	return out
}

// steadied replaces what differs between two servers, within one example always by the same.
type steadied struct {
	began time.Time
	seen  map[string]int // ids that were replaced, by their kind and themselves
}

// exampleTime is when examples happen.
var exampleTime = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

var (
	anID     = regexp.MustCompile(`\b[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}\b`)
	aNumber  = regexp.MustCompile(`\b(shop|tenant|product|new|member|api|www)-\d+\b`)
	aName    = regexp.MustCompile(`\bapi-0-0-1-[a-z0-9]{6}\b`) // of a target's host name
	aSecret  = regexp.MustCompile(`whsec_[A-Za-z0-9+/]+=*|[A-Za-z0-9_-]{20,}`)
	aPrefix  = regexp.MustCompile(`^(postern_pat_|pst_[a-z]+_|whsec_)?`)
	aDigit   = regexp.MustCompile(`[0-9]`)
	anETag   = regexp.MustCompile(`[a-z0-9A-Z_-]+`)
	aTook    = regexp.MustCompile(`\b(in|after) \d+ m?s\b`)
	aCall    = regexp.MustCompile(`^[a-z0-9]{10}-\d+$`) // an id in the log of requests
	aPort    = regexp.MustCompile(`127\.0\.0\.1:\d{5}\b`)
	aPEMText = regexp.MustCompile(`(?s)(-----BEGIN [A-Z ]+-----\n).*(\n-----END)`)
)

// alphabet is what secrets of examples are made of.
const alphabet = "3k9Qv7TzL2mWb8RcYp5NdHs4JgXf6AeK"

// fakeSecret returns a text of a length that looks like a secret and is none.
func fakeSecret(length int) string {
	return strings.Repeat(alphabet, length/len(alphabet)+1)[:length]
}

func (s steadied) text(t *testing.T, text string) json.RawMessage {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s.value("", value)); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(out.Bytes())
}

// value returns the example of a value, which is the member of that name. Lists are cut to two items.
func (s steadied) value(name string, value any) any {
	switch of := value.(type) {
	case string:
		return s.string(name, of)
	case []any:
		of = of[:min(len(of), 2)]
		for i := range of {
			of[i] = s.value(name, of[i])
		}
		return of
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(of)) { // ids get their numbers in this order
			of[name] = s.value(name, of[name])
		}
	}
	return value
}

func (s steadied) string(name, text string) string {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return exampleTime.Add(at.Sub(s.began).Round(24 * time.Hour)).Format(time.RFC3339)
	}
	switch name {
	case "etag":
		return anETag.ReplaceAllString(text, fakeSecret(10))
	case "last4":
		return fakeSecret(4)
	}
	text = aNumber.ReplaceAllString(text, "$1")
	text = aCall.ReplaceAllString(text, "k2m8x4c7wq-1")
	text = aName.ReplaceAllString(text, "api-0-0-1-k2m8x4")
	text = aPort.ReplaceAllString(text, "127.0.0.1:9000")
	text = aTook.ReplaceAllString(text, "$1 1 ms")
	text = aPEMText.ReplaceAllString(text, "$1…$2")
	text = anID.ReplaceAllStringFunc(text, s.id)
	return aSecret.ReplaceAllStringFunc(text, func(found string) string {
		words := !aDigit.MatchString(found) && strings.ToLower(found) == found && strings.ContainsAny(found, "-_")
		if anID.MatchString(found) || words {
			return found
		}
		prefix := aPrefix.FindString(found)
		return prefix + fakeSecret(len(found)-len(prefix))
	})
}

// id returns the id that stands for another one.
func (s steadied) id(id string) string {
	kind, _, _ := strings.Cut(id, "_")
	if s.seen[id] == 0 {
		s.seen[kind]++
		s.seen[id] = s.seen[kind]
	}
	return fmt.Sprintf("%s_06h1s70000000000000000%04d", kind, s.seen[id])
}
