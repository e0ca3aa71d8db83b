package exports

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"

	"postern/platform/scratch"
)

// spoolFrom is the number of rows of an export from which on they are spooled.
const spoolFrom = 2000

// spool keeps what a pass over the keys or users of a tenant has read from the database, for the passes after it: an
// export writes each row to several files, and queries take most of its time. It is a temporary file without a name, so
// that nothing is left of it when the process is killed, and encrypted with a key that only the process has. If no file
// can be written, each pass reads the database.
type spool struct {
	file    *os.File // nil: nothing is kept
	block   cipher.Block
	end     int64  // of the kept rows
	begun   uint64 // passes, including those that were given up
	filling bool   // a pass is being kept
	broken  bool   // the file could not be written
	passes  map[string]pass
}

// pass is the position of the rows of a pass in the file.
type pass struct {
	number   uint64
	at, size int64
}

// newSpool returns a spool for an export of so many rows.
func newSpool(rows int64) *spool {
	s := &spool{passes: map[string]pass{}}
	if rows < spoolFrom {
		return s
	}
	key := make([]byte, 32)
	rand.Read(key)                  // never fails: it ends the process instead
	s.block, _ = aes.NewCipher(key) // fails for keys of other sizes only
	s.file = unnamed()
	return s
}

// unnamed returns a temporary file without a name, and nil if there can be none.
func unnamed() *os.File {
	file, err := scratch.File("")
	if err != nil {
		return nil
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil
	}
	return file
}

// close removes the file.
func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
}

// stream returns the key stream of a pass: its number is the nonce (RFC 3686 section 4), which
// is followed by the counter of the blocks.
func (s *spool) stream(number uint64) cipher.Stream {
	var nonce [aes.BlockSize]byte
	binary.BigEndian.PutUint64(nonce[:], number)
	return cipher.NewCTR(s.block, nonce[:])
}

// kept returns what read returns: the rows of that name, from the file if an earlier pass came
// to its end, and else from read.
func kept[T any](s *spool, name string, rows codec[T], read iter.Seq2[T, error]) iter.Seq2[T, error] {
	if s.file == nil {
		return read
	}
	return func(yield func(T, error) bool) {
		known, ok := s.passes[name]
		switch {
		case ok:
			again(s, known, rows, yield)
		case s.filling || s.broken:
			read(yield)
		default:
			keep(s, name, rows, read, yield)
		}
	}
}

// keep passes rows on and writes them to the file. It reads ahead, so nothing else may
// query the transaction at the same time: the first pass over each kind of rows is one that nothing
// interrupts.
func keep[T any](s *spool, name string, rows codec[T], read iter.Seq2[T, error], yield func(T, error) bool) {
	s.filling = true
	defer func() { s.filling = false }()
	s.begun++
	this := pass{number: s.begun, at: s.end}
	to := cipher.StreamWriter{S: s.stream(this.number), W: io.NewOffsetWriter(s.file, s.end)}
	out := bufio.NewWriterSize(to, 256<<10)
	var row []byte
	for value, err := range ahead(read) {
		if err == nil {
			row = rows.put(append(row[:0], 0, 0, 0, 0), &value)
			binary.BigEndian.PutUint32(row, uint32(len(row)-4))
			_, _ = out.Write(row) // Flush returns its error
			this.size += int64(len(row))
		}
		if !yield(value, err) || err != nil {
			return
		}
	}
	if s.broken = out.Flush() != nil; !s.broken {
		s.passes[name] = this
		s.end += this.size
	}
}

// again passes on the rows that an earlier pass has kept. Several passes can read at a time.
func again[T any](s *spool, from pass, rows codec[T], yield func(T, error) bool) {
	in := bufio.NewReaderSize(
		cipher.StreamReader{S: s.stream(from.number), R: io.NewSectionReader(s.file, from.at, from.size)}, 256<<10,
	)
	var head [4]byte
	var row []byte
	for {
		_, err := io.ReadFull(in, head[:])
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			size := int(binary.BigEndian.Uint32(head[:]))
			row = append(row[:0], make([]byte, size)...)
			_, err = io.ReadFull(in, row)
		}
		var value T
		if err == nil {
			fields := fields{rest: string(row)}
			rows.take(&fields, &value)
			err = fields.err
		}
		if !yield(value, err) || err != nil {
			return
		}
	}
}
