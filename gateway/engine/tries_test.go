package engine

// sendings sends a call to one upstream, at most max times more than once.
type sendings struct {
	up    *Upstream
	max   int
	tries []Try
}

func (s *sendings) Next(last Try) *Upstream {
	if last.Outcome == NotTried {
		return s.up
	}
	if s.tries = append(s.tries, last); last.Again && last.Err != nil && len(s.tries) <= s.max {
		return s.up
	}
	return nil
}
