package exports

import (
	"bufio"
	"encoding/gob"
	"errors"
	"io"
	"iter"
	"os"

	"postern/core/snapshot"
)

// spoolFrom is the number of users of a tenant from which on they are spooled.
const spoolFrom = 2000

// spool keeps what a pass over a tenant's users has read from the database, for the passes
// after it: an export writes users to several files, and queries take most of its time. The
// files have no name, so that nothing is left of them when the process is killed. Where no
// file can be written, each pass reads the database.
type spool struct {
	tenants map[string]*spooled // by id
}

// spooled is the file of a tenant.
type spooled struct {
	file *os.File
	size int64 // 0 until a pass has come to the end
}

func newSpool() *spool { return &spool{tenants: map[string]*spooled{}} }

// close removes the files.
func (s *spool) close() {
	for _, one := range s.tenants {
		if one.file != nil {
			_ = one.file.Close()
		}
	}
}

// users returns the users of a tenant: what read returns.
func (s *spool) users(t snapshot.Tenant, read iter.Seq2[snapshot.User, error]) iter.Seq2[snapshot.User, error] {
	if t.Directory == nil || t.Directory.Users < spoolFrom {
		return read
	}
	known := s.tenants[t.ID]
	switch {
	case known == nil:
		return s.filling(t.ID, read)
	case known.size == 0: // it is being filled, or could not be
		return read
	}
	return known.read()
}

// filling passes the users on and writes them to a file.
func (s *spool) filling(tenant string, read iter.Seq2[snapshot.User, error]) iter.Seq2[snapshot.User, error] {
	return func(yield func(snapshot.User, error) bool) {
		out := &spooled{}
		s.tenants[tenant] = out
		buffer, encode := out.create()
		for u, err := range read {
			if err == nil && encode != nil {
				if failed := encode(u); failed != nil {
					encode = nil
				}
			}
			if !yield(u, err) || err != nil {
				delete(s.tenants, tenant)
				out.discard()
				return
			}
		}
		if encode == nil || buffer.Flush() != nil {
			out.discard()
			return
		}
		if size, err := out.file.Seek(0, io.SeekCurrent); err == nil {
			out.size = size
		}
	}
}

// create opens the file. encode is nil if there is none.
func (s *spooled) create() (buffer *bufio.Writer, encode func(snapshot.User) error) {
	file, err := os.CreateTemp("", "postern-users-*")
	if err != nil {
		return nil, nil
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, nil
	}
	s.file, buffer = file, bufio.NewWriterSize(file, 256<<10)
	encoder := gob.NewEncoder(buffer)
	return buffer, func(u snapshot.User) error { return encoder.Encode(&u) }
}

func (s *spooled) discard() {
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
}

// read returns the users in the file. Several passes can read it at a time.
func (s *spooled) read() iter.Seq2[snapshot.User, error] {
	return func(yield func(snapshot.User, error) bool) {
		from := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size), 256<<10)
		decoder := gob.NewDecoder(from)
		for {
			var u snapshot.User
			err := decoder.Decode(&u)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(u, err) || err != nil {
				return
			}
		}
	}
}
