package static

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
)

// codings are the content codings of assets (RFC 9110, 8.4.1, and RFC 7932), best first.
var codings = []struct {
	name   string
	writer func(io.Writer) io.WriteCloser
}{
	{"br", func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestCompression) }},
	{"gzip", func(w io.Writer) io.WriteCloser {
		compressor, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // fails for unknown levels only
		return compressor
	}},
}

// encode compresses an asset in every coding that makes it smaller. It is done once, for
// the first request: it takes some 0.2 s for all assets.
func encode(name string, content []byte) map[string][]byte {
	if name == font { // has brotli inside (W3C WOFF 2.0)
		return nil
	}
	encoded := map[string][]byte{}
	for _, coding := range codings {
		var buffer bytes.Buffer
		w := coding.writer(&buffer)
		_, err := w.Write(content)
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			panic(fmt.Sprintf("static: compress in memory: %v", err)) // a buffer takes every byte
		}
		if buffer.Len() < len(content) {
			encoded[coding.name] = buffer.Bytes()
		}
	}
	return encoded
}

// preferred returns the best coding of the asset that a client accepts, "" for none.
func (a asset) preferred(accepted []string) (coding string, content []byte) {
	for _, coding := range codings {
		if content := a.encoded()[coding.name]; content != nil && accepts(accepted, coding.name) {
			return coding.name, content
		}
	}
	return "", nil
}

// accepts reports whether the values of Accept-Encoding name the coding (RFC 9110, 12.5.3).
// Clients that mean a wildcard by it, which no browser sends, get the plain file.
func accepts(values []string, coding string) bool {
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
			if !strings.EqualFold(strings.TrimSpace(name), coding) {
				continue
			}
			_, q, _ := strings.Cut(strings.ReplaceAll(weight, " ", ""), "q=")
			return strings.Trim(q, "0.") != "" || q == ""
		}
	}
	return false
}
