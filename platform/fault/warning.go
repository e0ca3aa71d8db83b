package fault

// Warning is about a configuration that is allowed but may surprise. It refuses nothing:
// answers list it along with what was done.
type Warning struct {
	Code   string // stable, snake_case
	Detail string // what happens and how to change it, shown to the caller
}
