package audit

// BeginVerification has a verification of a team's chain under way until the
// function that it returns is called.
func BeginVerification(s *Service, team string) (end func()) {
	if !s.inProgress.begin(team) {
		panic("one is under way")
	}
	return func() { s.inProgress.end(team) }
}
