package exports

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/snapshot"
)

// full returns a value without a zero field.
func full[T any](t *testing.T) T {
	t.Helper()
	var v T
	fillIn(t, reflect.ValueOf(&v).Elem(), new(int))
	return v
}

func fillIn(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Date(2020, 1, *n, 3, 4, 5, *n, time.UTC)
		return
	case *netip.Prefix:
		*at = netip.MustParsePrefix(fmt.Sprintf("2001:db8:%d::/48", *n))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%d \x00\xff\n", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(int64(*n) << 40)
	case reflect.Uint64:
		v.SetUint(uint64(*n) << 50)
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fillIn(t, v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillIn(t, v.Field(i), n)
		}
	default:
		t.Fatalf("a %s: say how it is filled in and spooled", v.Type())
	}
}

// No field is lost, whichever are added to a key or user.
func TestSpool_everyField(t *testing.T) {
	testCodec(t, keyRows)
	testCodec(t, userRows)
}

func testCodec[T any](t *testing.T, rows codec[T]) {
	t.Helper()
	var zero T
	for _, want := range []T{full[T](t), zero} {
		row := rows.put(nil, &want)
		var got T
		from := fields{rest: string(row)}
		rows.take(&from, &got)
		if from.err != nil || from.rest != "" {
			t.Errorf("%T: %v, and %d bytes are left", want, from.err, len(from.rest))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%T: %s", want, cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)))
		}
		for end := range len(row) {
			var part T
			from := fields{rest: string(row[:end])}
			if rows.take(&from, &part); from.err == nil {
				t.Fatalf("%T: %d of %d bytes are a row", want, end, len(row))
			}
		}
	}
}

// numbered are users as a database would bring them; reads counts the passes.
func numbered(n int, reads *int) iter.Seq2[snapshot.User, error] {
	return func(yield func(snapshot.User, error) bool) {
		*reads++
		for i := range n {
			if !yield(snapshot.User{ID: fmt.Sprint(i)}, nil) {
				return
			}
		}
	}
}

func idsOf(t *testing.T, users iter.Seq2[snapshot.User, error]) (ids []string) {
	t.Helper()
	for u, err := range users {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, u.ID)
	}
	return ids
}

func TestSpool(t *testing.T) {
	s := newSpool(spoolFrom)
	defer s.close()
	var reads, others int
	const n = 3*aheadRows*aheadBatches + 7
	users := func() iter.Seq2[snapshot.User, error] { return kept(s, "users", userRows, numbered(n, &reads)) }
	want := idsOf(t, numbered(n, new(int)))

	for range users() { // a pass that is given up is not kept
		break
	}
	// While one pass is kept, another reads the database.
	next, stop := iter.Pull2(users())
	if _, err, ok := next(); err != nil || !ok {
		t.Fatal(err, ok)
	}
	if got := idsOf(t, kept(s, "others", userRows, numbered(n, &others))); !slices.Equal(got, want) || others != 1 {
		t.Errorf("%d others after %d passes", len(got), others)
	}
	for _, _, ok := next(); ok; _, _, ok = next() {
	}
	stop()
	if got := idsOf(t, kept(s, "others", userRows, numbered(n, &others))); !slices.Equal(got, want) || others != 2 {
		t.Errorf("%d others after %d passes", len(got), others)
	}
	// Both come from the file now, also at once.
	next, stop = iter.Pull2(users())
	defer stop()
	for i, id := range idsOf(t, kept(s, "others", userRows, numbered(n, &others))) {
		if u, err, ok := next(); err != nil || !ok || u.ID != id || id != want[i] {
			t.Fatalf("row %d: %q and %q, want %q: %v", i, u.ID, id, want[i], err)
		}
	}
	if reads != 2 || others != 2 {
		t.Errorf("%d and %d passes over the database, want 2 of each", reads, others)
	}
}

// A file that cannot be written to is not used again.
func TestSpool_broken(t *testing.T) {
	s := newSpool(spoolFrom)
	if err := s.file.Close(); err != nil {
		t.Fatal(err)
	}
	for pass := 1; pass <= 3; pass++ {
		reads := 0
		if got := idsOf(t, kept(s, "users", userRows, numbered(10, &reads))); len(got) != 10 || reads != 1 {
			t.Errorf("pass %d: %d users from %d passes over the database", pass, len(got), reads)
		}
	}
	if !s.broken {
		t.Error("it is tried again")
	}
}

// The stored rows cannot be read without the key that only the process has.
func TestSpool_encrypted(t *testing.T) {
	s := newSpool(spoolFrom)
	defer s.close()
	secret := snapshot.User{ID: "usr_1", Email: "canary@example.com"}
	one := func(yield func(snapshot.User, error) bool) { yield(secret, nil) }
	for range kept(s, "users", userRows, one) {
	}
	content := make([]byte, s.end)
	if _, err := s.file.ReadAt(content, 0); err != nil {
		t.Fatal(err)
	}
	if len(content) < len(secret.Email) || bytes.Contains(content, []byte(secret.Email)) {
		t.Errorf("%d bytes are kept, with the address in them: %q", len(content), content)
	}
	if got := idsOf(t, kept(s, "users", userRows, numbered(3, new(int)))); !slices.Equal(got, []string{"usr_1"}) {
		t.Errorf("read again: %v", got)
	}
}

func TestAhead(t *testing.T) {
	broken := errors.New("broken")
	failing := func(yield func(int, error) bool) {
		for i := range 2 * aheadRows {
			if !yield(i, nil) {
				return
			}
		}
		if !yield(0, broken) {
			return
		}
		t.Error("it went on after an error")
	}
	var rows int
	var last error
	for _, err := range ahead(failing) {
		if last = err; err == nil {
			rows++
		}
	}
	if rows != 2*aheadRows || !errors.Is(last, broken) {
		t.Errorf("%d rows, then %v", rows, last)
	}

	panicking := func(func(int, error) bool) { panic("out of range") }
	for _, err := range ahead(panicking) {
		last = err
	}
	if last == nil || errors.Is(last, broken) {
		t.Errorf("after a panic: %v", last)
	}

	ended := false // read without a lock: the goroutine has to have ended
	endless := func(yield func(int, error) bool) {
		defer func() { ended = true }()
		for yield(1, nil) {
		}
	}
	for range ahead(endless) {
		break
	}
	if !ended {
		t.Error("the goroutine goes on")
	}
}
