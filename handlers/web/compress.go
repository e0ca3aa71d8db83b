package web

import (
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// compressPages returns the middleware that compresses pages.
var compressPages = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrapper, err := gzhttp.NewWrapper(
		gzhttp.CompressionLevel(gzip.BestSpeed), // of a fifth of the size; more takes longer than it saves
		gzhttp.EnableZstd(false),
		gzhttp.RandomJitter(64, 0, false),
	)
	if err != nil {
		panic(err) // for options that contradict each other
	}
	return wrapper
})

// mayCompress reports whether the page that answers a request may be compressed.
//
// The length of a compressed answer says how much of it repeats: an attacker who sees lengths on the network, and has a
// browser request pages with guesses in their addresses, reads secrets from them byte by byte (BREACH). Requests that
// other sites cause, also those of the same domain, are therefore answered uncompressed; browsers name the site that
// caused a request. Pages with a secret that is shown once are not compressed at all: see KeepUncompressed.
func mayCompress(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none": // none: typed in, or a bookmark
		return true
	}
	return false
}

// KeepUncompressed leaves a page with a secret uncompressed.
func KeepUncompressed(w http.ResponseWriter) { w.Header().Set(gzhttp.HeaderNoCompression, "1") }

// writePage writes a page, compressed if it may be.
func writePage(w http.ResponseWriter, r *http.Request, status int, page []byte) {
	if !mayCompress(r) {
		KeepUncompressed(w)
	}
	compressPages()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(page) // an error means that the caller is gone
	})).ServeHTTP(w, r)
}
