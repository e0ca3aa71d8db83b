package app

import (
	"context"
	"log/slog"

	"postern/app/tracing"
	"postern/gateway"
	"postern/models"
	"postern/platform/config"
	"postern/platform/traces"
)

// openTraces creates the tracer and has the database record its statements. The tracer is nil if nothing is traced.
func openTraces(c config.Config, db *models.DB, version string, log *slog.Logger) (*traces.Tracer, error) {
	if !c.Traces.On() {
		return nil, nil
	}
	headers := map[string]string{}
	for name, value := range c.Traces.Headers {
		headers[name] = value.Reveal()
	}
	if err := db.Trace(); err != nil {
		return nil, err
	}
	return traces.Open(traces.Options{
		Endpoint:     c.Traces.Endpoint,
		Headers:      headers,
		Ratio:        c.Traces.Ratio,
		FollowParent: c.Traces.FollowParent,
		Service:      c.Traces.Service,
		Version:      version,
		Attributes:   c.Traces.Attributes,
		Log:          log,
	})
}

// callTracer returns the gateway's tracer, nil if nothing is traced.
func callTracer(t *traces.Tracer) gateway.Tracer {
	if t == nil {
		return nil
	}
	return tracing.Tracer{Traces: t}
}

// closeTraces sends the last spans. A collector that does not take them holds up the stop for sendTraces at most.
func (a *App) closeTraces(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, sendTraces)
	defer stop()
	return a.traces.Close(ctx)
}

// untraced returns the source of the number of spans that were dropped, nil if nothing is traced.
func (a *App) untraced() func() int64 {
	if a.traces == nil {
		return nil
	}
	return a.traces.Dropped
}
