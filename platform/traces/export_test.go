package traces

// Held returns how many spans are not sent yet.
func (t *Tracer) Held() int64 { return t.export.held.Load() }
