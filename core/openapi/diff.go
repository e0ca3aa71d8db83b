package openapi

// Change is how the operations of a document differ from those of the one before, each as method and path.
type Change struct {
	Added, Removed []string
	Changed        []string // the operation itself, not what it refers to
}

// Diff returns how to differs from from.
func Diff(from, to *Summary) (out Change) {
	before := map[string]string{}
	for _, op := range from.Operations {
		before[op.Method+" "+op.Path] = op.Digest
	}
	for _, op := range to.Operations {
		name := op.Method + " " + op.Path
		digest, was := before[name]
		delete(before, name)
		switch {
		case !was:
			out.Added = append(out.Added, name)
		case digest != op.Digest:
			out.Changed = append(out.Changed, name)
		}
	}
	for _, op := range from.Operations {
		name := op.Method + " " + op.Path
		if _, left := before[name]; left {
			out.Removed = append(out.Removed, name)
		}
	}
	return out
}
