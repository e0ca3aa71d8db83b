package ratelimit

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"postern/platform/traces"
)

// traceHook records commands as spans below that of the call (semantic conventions for Redis). They have no arguments:
// keys are made from projects, owners and addresses.
type traceHook struct{ server []traces.Attr }

func newTraceHook(o *redis.Options) traceHook {
	hook := traceHook{server: []traces.Attr{traces.String("db.system.name", "redis")}}
	host, port, err := net.SplitHostPort(o.Addr)
	if o.Network == "unix" || err != nil {
		return hook
	}
	hook.server = append(hook.server, traces.String("server.address", host))
	if n, err := strconv.Atoi(port); err == nil {
		hook.server = append(hook.server, traces.Int("server.port", n))
	}
	return hook
}

// DialHook implements redis.Hook.
func (traceHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (h traceHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if traces.Of(ctx) == nil {
			return next(ctx, command)
		}
		span := h.begin(ctx, strings.ToUpper(command.Name()))
		err := next(ctx, command)
		end(span, err)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook. The library sends the first commands of a connection as one.
func (h traceHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		if traces.Of(ctx) == nil {
			return next(ctx, commands)
		}
		span := h.begin(ctx, "PIPELINE")
		span.Set(traces.Int("db.operation.batch.size", len(commands)))
		err := next(ctx, commands)
		end(span, err)
		return err
	}
}

func (h traceHook) begin(ctx context.Context, operation string) *traces.Span {
	span := traces.Of(ctx).Child(traces.Client, operation)
	span.Set(h.server...)
	span.Set(traces.String("db.operation.name", operation))
	return span
}

func end(span *traces.Span, err error) {
	refusal, refused := errors.AsType[redis.Error](err)
	switch {
	case err == nil, errors.Is(err, redis.Nil):
	case refused:
		// The first word is its kind, such as READONLY. NOSCRIPT is not a fault: the script is sent again.
		kind, _, _ := strings.Cut(refusal.Error(), " ")
		span.Set(traces.String("db.response.status_code", kind))
		if kind != "NOSCRIPT" {
			span.Fail(kind)
		}
	default:
		span.Fail(traces.ErrorType(err))
	}
	span.End()
}
