package certificates_test

// orderedOnce fails the test unless there was one order, and another one for each that failed: on a busy machine the
// ACME server may ask a replica that has not read of the challenge yet.
func (r *rig) orderedOnce(host string) {
	r.t.Helper()
	failed := 0
	for _, one := range r.replicas {
		one.mu.Lock()
		for _, what := range one.reports {
			if what == host+" certificate failed: a problem" {
				failed++
			}
		}
		one.mu.Unlock()
	}
	if n := int(r.orders.Load()); n < 1 || n > 1+failed {
		r.t.Errorf("%d orders, of which %d failed, want 1 that did not", n, failed)
	}
}
