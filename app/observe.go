package app

import (
	"postern/gateway"
	"postern/usage"
)

// observer tells usage what the gateway tells. Neither knows of the other; that
// their structs are alike is checked by the conversion.
type observer struct{ recorder *usage.Recorder }

// Observe implements gateway.Observer.
func (o observer) Observe(out gateway.Outcome) { o.recorder.Observe(usage.Call(out)) }
