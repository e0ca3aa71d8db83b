// Package static holds the files that a browser fetches with the pages: the built
// style sheet, the scripts, the font, the icon and the licenses of what others made.
//
// It owns embedding them, their content-hashed addresses, their compression and their
// caching (RFC 9111, and the immutable directive of RFC 8246). It does not own what they
// look like (static/src and tailwind.config.js; `npm run build` writes css,
// and htmx and the font in vendor) nor which page uses which (views).
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// Prefix is where Handler expects to be mounted.
const Prefix = "/static/"

const hashDigits = 12

//go:embed css/app.css js/app.js js/code.js js/formpost.js js/forms.js js/lists.js js/uploads.js img/icon.svg vendor
var files embed.FS

type asset struct {
	hashed  string // its name in addresses
	content []byte
	encoded func() map[string][]byte // by content coding, empty for what is compressed already
}

// assets maps base names to contents; base names are unique across the folders.
var assets = sync.OnceValue(func() map[string]asset {
	contents := map[string][]byte{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contents[path.Base(name)], err = files.ReadFile(name)
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("static: read embedded files: %v", err)) // the files are part of the binary
	}
	// The style sheet names the font, whose address is immutable like its own.
	contents["app.css"] = bytes.ReplaceAll(contents["app.css"], []byte(font), []byte(hashed(font, contents[font])))
	found := map[string]asset{}
	for name, content := range contents {
		found[name] = asset{
			hashed:  hashed(name, content),
			content: content,
			encoded: sync.OnceValue(func() map[string][]byte { return encode(name, content) }),
		}
	}
	return found
})

const font = "geist.woff2"

// hashed returns a name with the content's hash before its ending.
func hashed(name string, content []byte) string {
	sum := sha256.Sum256(content)
	ending := path.Ext(name)
	return strings.TrimSuffix(name, ending) + "." + hex.EncodeToString(sum[:])[:hashDigits] + ending
}

// Path is the URL of the file with that base name, such as "app.css". It
// changes whenever the file's content does. An unknown name is a mistake in a
// template and panics.
func Path(name string) string {
	a, ok := assets()[name]
	if !ok {
		panic("static: no file " + name)
	}
	return Prefix + a.hashed
}

// Handler serves the files below Prefix. The current URL of a file may be
// cached for a year. The URL of another build is answered with this build's
// file, uncached: while replicas are being replaced, a page of one may ask the
// other, and a page without style would be worse than a newer one.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := strings.TrimPrefix(r.URL.Path, Prefix)
		a, ok := assets()[withoutHash(asked)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		caching := "no-cache"
		if asked == a.hashed {
			caching = "public, max-age=31536000, immutable"
		}
		w.Header().Set("Cache-Control", caching)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Vary", "Accept-Encoding")
		content := a.content
		if coding, encoded := a.preferred(r.Header.Values("Accept-Encoding")); coding != "" {
			w.Header().Set("Content-Encoding", coding)
			content = encoded
		}
		http.ServeContent(w, r, a.hashed, time.Time{}, bytes.NewReader(content))
	})
}

// withoutHash turns app.0123456789ab.css into app.css, and leaves any other
// name as it is.
func withoutHash(name string) string {
	ending := path.Ext(name)
	stem := strings.TrimSuffix(name, ending)
	hash := strings.TrimPrefix(path.Ext(stem), ".")
	if raw, err := hex.DecodeString(hash); err != nil || len(raw) != hashDigits/2 {
		return name
	}
	return strings.TrimSuffix(stem, "."+hash) + ending
}
