package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"

	"postern/core/policy"
	"postern/platform/fault"
	"postern/platform/traces"
)

// Trace records requests as spans, all but probes. The name of a span has the route, never the path. It is called
// before ClientAddress: whose trace is continued depends on the address that connected.
func (s *Site) Trace(next http.Handler) http.Handler {
	if s.Traces == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if IsProbe(r) {
			next.ServeHTTP(w, r)
			return
		}
		method, name := traces.Method(r.Method)
		begin := traces.Begin{Name: name, Kind: traces.Server}
		if sent := traces.ParseRemote(r.Header[traces.ParentHeader], r.Header[traces.StateHeader]); s.continues(r) {
			begin.Parent = sent
		} else {
			begin.Links = []traces.Remote{sent}
		}
		ctx, span := s.Traces.Begin(r.Context(), begin)
		if span == nil {
			next.ServeHTTP(w, r)
			return
		}
		recorder := &statusRecorder{ResponseWriter: w}
		defer func() {
			span.Set(traces.String("http.request.method", method))
			switch {
			case recorder.status == 0:
				span.Fail("no_answer")
			case recorder.status >= 500:
				span.Fail(strconv.Itoa(recorder.status))
			}
			if recorder.status > 0 {
				span.Set(traces.Int("http.response.status_code", recorder.status))
			}
			span.End()
		}()
		next.ServeHTTP(recorder, r.WithContext(ctx))
	})
}

// continues reports whether the caller's trace is continued.
func (s *Site) continues(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && policy.Contains(s.Config.Traces.Trusted, peer.Addr())
}

// traceRoute names the span of a request after its route.
func traceRoute(ctx context.Context, method, route string) {
	span := traces.Of(ctx)
	if span == nil || route == "" {
		return
	}
	_, name := traces.Method(method)
	span.SetName(name + " " + route)
	span.Set(traces.String("http.route", route))
}

// traceError keeps the code of the error that a request is answered with.
func traceError(ctx context.Context, err error) {
	if span := traces.Of(ctx); span != nil {
		span.Set(traces.String("postern.code", fault.CodeOf(err)))
	}
}

// logOf returns the log of a request, whose lines have its id, and that of its trace if it is recorded.
func (s *Site) logOf(ctx context.Context) *slog.Logger {
	log := s.Log.With("request", RequestID(ctx))
	if span := traces.Of(ctx); span != nil {
		log = log.With("trace_id", span.TraceID())
	}
	return log
}
