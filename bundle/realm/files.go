package realm

import (
	"io"
	"iter"

	"postern/bundle/jsonfile"
)

// Files writes the files of users one after the other in one pass over the users. Writing
// them in another order reads the users again. Close ends the pass.
type Files struct {
	Source

	next func() (user, error, bool)
	stop func()
	at   int // the file that the pass has reached
}

// Write writes a file of users, counted from 0.
func (f *Files) Write(w io.Writer, file int) error {
	if err := f.seek(file); err != nil {
		return err
	}
	out := jsonfile.NewStream(w)
	out.Raw("{\n  \"realm\": ")
	value(out, f.Name())
	out.Raw(",\n  \"users\": ")
	out.Open("[")
	for range f.PerFile {
		one, err, more := f.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		out.Next("    ")
		value(out, one)
	}
	out.Raw("\n  ]\n}\n")
	f.at++
	return out.Close()
}

// Close ends the pass.
func (f *Files) Close() {
	if f.stop != nil {
		f.stop()
		f.next, f.stop, f.at = nil, nil, 0
	}
}

// seek moves to the first user of a file.
func (f *Files) seek(file int) error {
	if f.next == nil || file < f.at {
		f.Close()
		f.next, f.stop = iter.Pull2(f.all())
	}
	for ; f.at < file; f.at++ {
		for range f.PerFile {
			if _, err, more := f.next(); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// all returns the users of all tenants.
func (s Source) all() iter.Seq2[user, error] {
	return func(yield func(user, error) bool) {
		for _, t := range s.Tenants {
			of := s.membersOf(t)
			for u, err := range s.Users(t) {
				if err != nil {
					yield(user{}, err)
					return
				}
				if !yield(of.user(u), nil) {
					return
				}
			}
		}
	}
}
