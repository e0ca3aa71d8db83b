package traces

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// client is an otlptrace.Client that sends spans by OTLP over HTTP, in protobuf with gzip. The module's own client
// brings gRPC into the program.
type client struct {
	url     string
	headers map[string]string
	http    *http.Client
	stopped context.Context
	stop    context.CancelFunc
}

func newClient(o Options) *client {
	c := &client{
		url:     o.Endpoint + "/v1/traces",
		headers: o.Headers,
		http: &http.Client{
			Timeout: exportLimit,
			// A redirect would take the headers, and with them the credential, to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				Proxy:                 http.ProxyFromEnvironment,
				MaxIdleConnsPerHost:   1,
				IdleConnTimeout:       time.Minute,
				TLSHandshakeTimeout:   exportLimit,
				ResponseHeaderTimeout: exportLimit,
				ForceAttemptHTTP2:     true,
			},
		},
	}
	c.stopped, c.stop = context.WithCancel(context.Background())
	return c
}

// Start implements otlptrace.Client.
func (c *client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client. It ends a current request.
func (c *client) Stop(ctx context.Context) error {
	c.stop()
	return ctx.Err()
}

// The waits between attempts to send a batch. They double, unless the collector requests another wait.
const (
	firstWait   = time.Second
	longestWait = 4 * time.Second
)

// UploadTraces implements otlptrace.Client. It sends a batch again while the collector is busy, for up to exportLimit.
func (c *client) UploadTraces(ctx context.Context, spans []*otlp.ResourceSpans) error {
	// TracesData has the encoding of ExportTraceServiceRequest, whose package imports gRPC.
	plain, err := proto.Marshal(&otlp.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	packed := gzip.NewWriter(&body)
	_, _ = packed.Write(plain) // a buffer takes everything
	_ = packed.Close()

	ctx, end := context.WithTimeout(ctx, exportLimit)
	defer end()
	defer context.AfterFunc(c.stopped, end)()
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		err := c.post(ctx, body.Bytes())
		busy, ok := errors.AsType[busyError](err)
		if !ok {
			return err
		}
		pause := time.NewTimer(max(wait, busy.wait))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// busyError is a response of a collector that may accept the batch later.
type busyError struct {
	status string
	wait   time.Duration // that it asks for
}

func (e busyError) Error() string { return "the collector returned " + e.status }

// post sends a batch once. Its errors don't repeat the collector's response, which may contain the credential.
func (c *client) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", protobufType)
	r.Header.Set("Content-Encoding", "gzip")
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, longestAnswer)) // also so that the connection is used again
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return busyError{status: answer.Status, wait: min(time.Duration(seconds)*time.Second, exportLimit)}
	}
	switch {
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return fmt.Errorf("the collector returned %s", answer.Status)
	case err != nil || answer.Header.Get("Content-Type") != protobufType:
		return err
	}
	return rejected(content)
}

const (
	protobufType  = "application/x-protobuf"
	longestAnswer = 64 << 10 // bytes
)

// rejectedError is how many spans of a batch the collector did not accept.
type rejectedError int64

func (e rejectedError) Error() string {
	return fmt.Sprintf("the collector rejected %d spans", int64(e))
}

// rejected reads an ExportTraceServiceResponse, and returns a rejectedError if its partial_success counts any spans.
func rejected(answer []byte) error {
	partial, _ := protowire.ConsumeBytes(field(answer, 1)) // nil for a field that is absent
	count, _ := protowire.ConsumeVarint(field(partial, 1)) // 0 for one
	if count == 0 {
		return nil
	}
	return rejectedError(min(count, math.MaxInt64))
}

// field returns the encoded value of the field with this number, the last one if there are several.
func field(message []byte, number protowire.Number) []byte {
	var value []byte
	for len(message) > 0 {
		n, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(n, kind, message[tag:])
		if size < 0 {
			break
		}
		if n == number {
			value = message[tag : tag+size]
		}
		message = message[tag+size:]
	}
	return value
}
