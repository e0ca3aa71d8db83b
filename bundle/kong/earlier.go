package kong

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"postern/bundle"
	"postern/bundle/jsonfile"
)

// released/<edition>.json has the sums of the files of an earlier edition.
// earlier_test.go writes it.
//
//go:embed released/*.json
var releases embed.FS

// checkEarlier compares the gateway's files in an archive with those of the edition that
// wrote them, and the configuration with the project.
func checkEarlier(b *bundle.Build, edition int, open func(name string) (io.ReadCloser, error)) error {
	text, err := releases.ReadFile("released/" + strconv.Itoa(edition) + ".json")
	if err != nil {
		return fmt.Errorf("kong: edition %d: %w", edition, err)
	}
	var known map[string]bundle.Template
	if err := json.Unmarshal(text, &known); err != nil {
		return fmt.Errorf("kong: edition %d: %w", edition, err)
	}
	values := marks(b)
	for name, template := range known {
		file, err := open(name)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(file)
		file.Close()
		if err != nil || !template.Is(text, values) {
			return bundle.Differs(name)
		}
	}
	if err := sameProbes(b, open); err != nil {
		return err
	}
	return sameSettings(b, open)
}

// sameProbes compares the recorded requests, with some of which verify.sh sends the
// caller's key, with those that would be written now. Edition 1 also has the boundary
// probe of an address that is below another address.
func sameProbes(b *bundle.Build, open func(name string) (io.ReadCloser, error)) error {
	var now bytes.Buffer
	keysOnly := func(p probe) bool { return !isTokenProbe(p) } // edition 1 verifies no tokens
	if err := writeChosenProbes(context.Background(), b, &now, keysOnly); err != nil {
		return err
	}
	var behind bytes.Buffer
	out := jsonfile.NewStream(&behind)
	for _, pl := range places(b.Project) {
		for _, r := range pl.routes {
			out.Value(boundaryOf(r))
			out.Raw("\n")
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	file, err := open(probesFile)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	for want := now.String(); ; {
		line, err := in.ReadString('\n')
		rest, next := strings.CutPrefix(want, line)
		switch {
		case errors.Is(err, io.EOF) && line == "" && want == "":
			return nil
		case err != nil:
			return bundle.Differs(probesFile)
		case next:
			want = rest
		case !strings.Contains("\n"+behind.String(), "\n"+line):
			return bundle.Differs(probesFile)
		}
	}
}

// sameSettings compares gateway.yaml with the one that would be written now, value by
// value and in order. An additional value is a change too.
func sameSettings(b *bundle.Build, open func(name string) (io.ReadCloser, error)) error {
	read, write := io.Pipe()
	go func() {
		// Edition 1 has a consumer for every owner, names no project, and verifies no tokens.
		c := &configWriter{b: b, out: jsonfile.NewStream(write), consumers: math.MaxInt}
		write.CloseWithError(c.write(context.Background()))
	}()
	want, err := settingsSum(read)
	_ = read.Close() // ends the writer, if it has not ended
	if err != nil {
		return err
	}
	file, err := open(gatewayFile)
	if err != nil {
		return err
	}
	defer file.Close()
	got, err := settingsSum(file)
	if err != nil || got != want {
		return bundle.Differs(gatewayFile)
	}
	return nil
}

// settingsSum returns a SHA-256 of the tokens of a JSON document, which does not depend
// on white space. It streams: a key table may have a million entries.
func settingsSum(r io.Reader) ([sha256.Size]byte, error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	sum := sha256.New()
	for depth := 0; ; {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && depth == 0:
			return [sha256.Size]byte(sum.Sum(nil)), nil
		case err != nil:
			return [sha256.Size]byte{}, err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxDepth {
			return [sha256.Size]byte{}, errors.New("it is nested too deeply")
		}
		fmt.Fprintf(sum, "%T %q\n", token, fmt.Sprint(token))
	}
}

const maxDepth = 16
