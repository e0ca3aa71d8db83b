package servers

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"postern/testkit"
)

// Span is a received span. Ids are in hexadecimal, as in traceparent.
type Span struct {
	Trace, ID, Parent string // Parent: "" for none
	Name, State       string
	Kind              string // server, client, consumer, internal
	Failed            bool
	Attrs             map[string]string
	Links             []string // trace, span and tracestate of each, with - between
	Resource          map[string]string
}

// Collector is a running collector of OpenTelemetry: it receives traces by OTLP over HTTP and keeps them.
type Collector struct {
	URL string // base URL, as it is configured

	mu      sync.Mutex
	spans   []Span
	text    strings.Builder
	headers []http.Header
}

// StartCollector starts a collector, which ends with the test.
func StartCollector(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// StartHungCollector starts a collector that takes connections and never answers.
func StartHungCollector(t testing.TB) (url string) {
	t.Helper()
	released := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(released) })
	return server.URL
}

func (c *Collector) receive(w http.ResponseWriter, r *http.Request) {
	spans, text, err := readSpans(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans = append(c.spans, spans...)
	c.text.WriteString(text)
	c.headers = append(c.headers, r.Header.Clone())
}

func readSpans(r *http.Request) ([]Span, string, error) {
	if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		return nil, "", fmt.Errorf("got %s with %s", r.URL.Path, r.Header.Get("Content-Type"))
	}
	from := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, "", err
		}
		from = unzipped
	}
	body, err := io.ReadAll(from)
	if err != nil {
		return nil, "", err
	}
	var batch coltrace.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &batch); err != nil {
		return nil, "", err
	}
	var spans []Span
	for _, of := range batch.GetResourceSpans() {
		resource := attributes(of.GetResource().GetAttributes())
		for _, scope := range of.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				spans = append(spans, spanOf(span, resource))
			}
		}
	}
	return spans, prototext.Format(&batch), nil
}

func spanOf(s *otlp.Span, resource map[string]string) Span {
	out := Span{
		Trace:    hex.EncodeToString(s.GetTraceId()),
		ID:       hex.EncodeToString(s.GetSpanId()),
		Parent:   hex.EncodeToString(s.GetParentSpanId()),
		Name:     s.GetName(),
		State:    s.GetTraceState(),
		Kind:     strings.ToLower(strings.TrimPrefix(s.GetKind().String(), "SPAN_KIND_")),
		Failed:   s.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR,
		Attrs:    attributes(s.GetAttributes()),
		Resource: resource,
	}
	for _, link := range s.GetLinks() {
		text := hex.EncodeToString(link.GetTraceId()) + "-" + hex.EncodeToString(link.GetSpanId())
		if state := link.GetTraceState(); state != "" {
			text += "-" + state
		}
		out.Links = append(out.Links, text)
	}
	return out
}

func attributes(from []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range from {
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			out[a.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			out[a.GetKey()] = fmt.Sprint(v.IntValue)
		default:
			out[a.GetKey()] = a.GetValue().String()
		}
	}
	return out
}

// Spans returns the spans received so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Text returns everything received so far as text.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// Header returns the header of the last request, nil before the first.
func (c *Collector) Header() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.headers) == 0 {
		return nil
	}
	return maps.Clone(c.headers[len(c.headers)-1])
}

// Await waits for a span that found accepts, and returns it.
func (c *Collector) Await(t testing.TB, found func(Span) bool) Span {
	t.Helper()
	spans := testkit.Await(t, "a span", func() ([]Span, bool) {
		spans := c.Spans()
		if i := slices.IndexFunc(spans, found); i >= 0 {
			return spans[i : i+1], true
		}
		return spans, false
	})
	return spans[0]
}
