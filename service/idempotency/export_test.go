package idempotency

// Kill ends the attempt as the end of its process does: what it held stays.
func (a *Attempt) Kill() { a.stop() }
