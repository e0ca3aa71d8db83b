package serving

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"postern/core/snapshot"
	"postern/service/keys"
)

// storedFormat is the version of what Store writes.
const storedFormat = 1

// storedHead is the first line that Store writes. The projects follow, each as a line of
// JSON, and then the table of keys.
type storedHead struct {
	Format   int
	AsOf     time.Time // when this state was last known to be current
	Projects int
}

// Store writes the state that the gateway serves, so that Restore can serve it while the
// database is unreachable. It contains no secret: only the hashes of API keys and the
// public halves of signing keys.
func (f *Feed) Store(w io.Writer) error {
	f.mu.Lock()
	served := f.lastGood
	f.mu.Unlock()
	head := storedHead{
		Format:   storedFormat,
		AsOf:     time.UnixMilli(f.freshAt.Load()).UTC(),
		Projects: len(served),
	}
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	if err := lines.Encode(head); err != nil {
		return fmt.Errorf("serving: store the state: %w", err)
	}
	for _, id := range slices.Sorted(maps.Keys(served)) {
		if err := lines.Encode(served[id]); err != nil {
			return fmt.Errorf("serving: store %s: %w", id, err)
		}
	}
	if err := errors.Join(f.Keys.Write(out), out.Flush()); err != nil {
		return fmt.Errorf("serving: store the keys: %w", err)
	}
	return nil
}

// Restore serves what Store has written until Load or Sync reads the database, and
// returns the time when that state was current. On an error nothing of it is served.
func (f *Feed) Restore(r io.Reader) (asOf time.Time, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	in := bufio.NewReader(r)
	var head storedHead
	if err := readLine(in, &head); err != nil {
		return time.Time{}, err
	}
	if head.Format != storedFormat {
		return time.Time{}, errors.New("serving: the stored state is from another version of this program")
	}
	restored := make(map[string]*snapshot.Project, head.Projects)
	for range head.Projects {
		var project snapshot.Project
		if err := readLine(in, &project); err != nil {
			return time.Time{}, err
		}
		for i := range project.Clients { // the control plane may have another address now
			project.Clients[i].Issuer = snapshot.IssuerOf(f.PublicURL, project.Clients[i].ID)
		}
		restored[project.ID] = &project
	}
	table, err := keys.ReadTable(in)
	if err != nil {
		return time.Time{}, err
	}
	// A file that was cut off is only recognized at its end.
	if rest, err := io.Copy(io.Discard, in); err != nil || rest > 0 {
		return time.Time{}, errors.Join(errors.New("serving: the stored state has the wrong length"), err)
	}
	f.projects = restored
	f.Keys.Replace(table)
	if err := f.publish(); err != nil {
		return time.Time{}, err
	}
	f.freshAt.Store(head.AsOf.UnixMilli())
	return head.AsOf, nil
}

// readLine reads one JSON document. An unknown field is an error: it is from a newer
// version and may restrict what is served.
func readLine(in *bufio.Reader, into any) error {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("serving: read the stored state: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("serving: read the stored state: %w", err)
	}
	return nil
}

// Position returns the id of the last revision that is served.
func (f *Feed) Position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last.ID
}
