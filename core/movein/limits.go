package movein

import (
	"math"

	"postern/core/contract"
	"postern/core/kongfile"
)

// windows are the windows of Kong's rate-limiting, which are those of contract.Limits.
var windows = []string{"second", "minute", "hour", "day", "month", "year"}

// limitsOf returns the limits of a rate-limiting plugin, nil if one of them can't be kept: a limit below 1 refuses
// every call.
func limitsOf(e *kongfile.Entity) contract.Limits {
	out := contract.Limits{}
	for _, window := range windows {
		v := e.Config(window)
		if !v.IsSet() {
			continue
		}
		n := v.Float(0)
		if n < 1 || n >= math.MaxInt64 {
			return nil
		}
		out[window] = int64(n)
	}
	return out
}

// readLimits returns the limits of the project of a route, and closes routes whose limit can't be kept.
func (p *planner) readLimits(r *route) (out contract.ProjectLimits) {
	e := r.access.limit
	if e == nil {
		return out
	}
	p.use(e)
	limits := limitsOf(e)
	by := e.Config("limit_by").Text
	if by == "" {
		by = "consumer"
	}
	if p.closeUnfilled(r, e) {
		return out
	}
	if len(limits) == 0 {
		p.say(e, "rate-limiting.values")
		r.access.closed = append(r.access.closed, reason{"rate-limiting has no valid limit", e})
		return out
	}
	hasKeys := r.access.keyAuth != nil
	switch {
	case by == "service" && r.entity.Service != nil:
		out.Project = limits
		if e.Route != nil || e.Service == nil {
			p.say(e, "rate-limiting.service")
		}
	case by == "ip", (by == "consumer" || by == "credential") && !hasKeys:
		out.IP = limits
	case by == "consumer" && p.perKey:
		out.Key = limits
		p.say(e, "rate-limiting.per_key")
	case by == "consumer":
		out.Owner = limits
	case by == "credential":
		out.Key = limits
	default:
		p.say(e, "rate-limiting.by", by)
		r.access.closed = append(r.access.closed, reason{
			"rate-limiting counts by " + by + ", which can't be imported", e,
		})
		return out
	}
	if r.access.auth.Mode == contract.Passthrough && hasKeys && by != "ip" {
		out.IP = limits
		p.say(e, "rate-limiting.anonymous")
	}
	if e.Service == nil && e.Route == nil && by != "service" {
		p.say(e, "rate-limiting.global")
	}
	if e.Config("error_code").Int(429) != 429 {
		p.say(e, "rate-limiting.status")
	}
	if e.Config("hide_client_headers").Bool(false) {
		p.say(e, "rate-limiting.headers")
	}
	if e.Config("policy").Text == "redis" {
		p.say(e, "rate-limiting.redis")
	}
	return out
}

// hasConsumerLimits reports whether a consumer has its own limits. Then limits count by key, since an owner can't have
// its own.
func (p *planner) hasConsumerLimits() bool {
	for _, e := range p.file.Of(kongfile.Plugin) {
		if e.PluginName() == "rate-limiting" && e.Consumer != nil && e.IsOn() && countsConsumer(e) {
			return true
		}
	}
	return false
}

func countsConsumer(e *kongfile.Entity) bool {
	by := e.Config("limit_by").Text
	return by == "" || by == "consumer" || by == "credential"
}
