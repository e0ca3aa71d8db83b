package certs

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// layouts are the names that a pair's files have in their own folder: those of a Kubernetes TLS secret, and of
// certbot's folder "live".
var layouts = []struct{ cert, key string }{
	{"tls.crt", "tls.key"},
	{"fullchain.pem", "privkey.pem"},
}

// Directory has the certificates of host names: a file NAME.crt with NAME.key next to it,
// or a folder with the files of one of the layouts. The names that a certificate is for
// are those in it. It is safe for concurrent use, except for Look.
type Directory struct {
	path string
	log  *slog.Logger

	inUse atomic.Pointer[map[string]*tls.Certificate] // by lowercase host name, with wildcards
	pairs map[string]*entry                           // by the certificate's file
	fails string                                      // the last error of reading the directory
}

// entry is a pair of the directory. It has no certificate until its files were a valid pair.
type entry struct {
	lastRead contents
	failed   string // the last error, so that it is logged once
	inUse    *tls.Certificate
	waiting  *tls.Certificate // replaces the one in use once it is valid; nil for none
	early    bool             // the one in use was not valid yet
	expiry   expiry
}

// OpenDirectory reads the certificates of a directory. A pair that is not valid is logged
// and left out; the error is about the directory itself.
func OpenDirectory(path string, log *slog.Logger) (*Directory, error) {
	d := &Directory{path: path, log: log, pairs: map[string]*entry{}}
	if err := d.look(); err != nil {
		return nil, err
	}
	return d, nil
}

// Certificate returns the certificate for the host name of a handshake (SNI, RFC 6066, section 3), nil if there is
// none. A certificate with the name itself comes before a wildcard, which matches one label (RFC 6125, section 6.4.3).
func (d *Directory) Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return d.find(strings.ToLower(hello.ServerName)), nil
}

// Covers reports whether there is a certificate for a lowercase host name.
func (d *Directory) Covers(name string) bool { return d.find(name) != nil }

// Ends returns when the certificate for a lowercase host name ends, and whether there is one.
func (d *Directory) Ends(name string) (ends time.Time, found bool) {
	if pair := d.find(name); pair != nil {
		return pair.Leaf.NotAfter, true
	}
	return time.Time{}, false
}

func (d *Directory) find(name string) *tls.Certificate {
	byName := *d.inUse.Load()
	if found := byName[name]; found != nil {
		return found
	}
	if _, parent, ok := strings.Cut(name, "."); ok {
		return byName["*."+parent]
	}
	return nil
}

// Follow reloads the certificates whenever the files have changed, until ctx ends. It
// polls for the reasons that Pair.Follow has.
func (d *Directory) Follow(ctx context.Context) {
	ticker := time.NewTicker(LookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.Look()
		}
	}
}

// Look reads the directory once. A pair whose files are gone is no longer used; one whose
// files are not a valid pair keeps its certificate. Each problem is logged once. It must
// not be called concurrently.
func (d *Directory) Look() {
	err := d.look()
	switch {
	case err == nil:
		d.fails = ""
	case err.Error() != d.fails:
		d.fails = err.Error()
		d.log.Error("could not read the directory of TLS certificates; serving the previous ones", "error", err)
	}
}

func (d *Directory) look() error {
	found, err := d.list()
	if err != nil {
		return err
	}
	changed := d.inUse.Load() == nil
	for certFile := range d.pairs {
		if _, ok := found[certFile]; !ok {
			delete(d.pairs, certFile)
			d.log.Info("removed a TLS certificate", "file", certFile)
			changed = true
		}
	}
	for certFile, keyFile := range found {
		changed = d.read(certFile, keyFile) || changed
		if at := d.pairs[certFile]; at.inUse != nil {
			at.expiry.look(d.log, certFile, at.inUse)
			if now := early(at.inUse); now != at.early {
				at.early, changed = now, true
			}
		}
	}
	if changed {
		byName := d.index()
		d.inUse.Store(&byName)
	}
	return nil
}

// list returns the key file of each certificate file in the directory. A file without its
// counterpart is left out, unless the two were a pair before: a renewal may remove and
// write them one after the other.
func (d *Directory) list() (map[string]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, fmt.Errorf("read the directory of certificates: %w", err)
	}
	found := map[string]string{}
	add := func(certFile, keyFile string) {
		cert, key := isFile(certFile), isFile(keyFile)
		if (cert && key) || (d.pairs[certFile] != nil && (cert || key)) {
			found[certFile] = keyFile
		}
	}
	for _, e := range entries {
		at := filepath.Join(d.path, e.Name())
		extension := filepath.Ext(at)
		if name := strings.TrimSuffix(at, extension); extension == ".crt" || extension == ".key" {
			add(name+".crt", name+".key")
			continue
		}
		if strings.HasPrefix(e.Name(), "..") { // Kubernetes' folders behind the links
			continue
		}
		for _, layout := range layouts {
			add(filepath.Join(at, layout.cert), filepath.Join(at, layout.key))
		}
	}
	return found, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// read reads a pair, and reports whether its certificate is another one than before.
func (d *Directory) read(certFile, keyFile string) bool {
	at := d.pairs[certFile]
	if at == nil {
		at = &entry{}
		d.pairs[certFile] = at
	}
	p := Pair{certFile: certFile, keyFile: keyFile}
	now, err := p.read()
	if err == nil && now.equal(at.lastRead) {
		if at.waiting == nil || early(at.waiting) {
			return false
		}
		return d.use(certFile, at, at.waiting)
	}
	var pair *tls.Certificate
	if err == nil {
		at.lastRead, at.waiting = now, nil
		pair, err = p.parse(now)
	}
	if err == nil && len(names(pair)) == 0 {
		err = fmt.Errorf("%s has no DNS name (subjectAltName)", certFile)
	}
	waits := false
	if err == nil {
		waits, err = succeeds(certFile, pair, at.inUse)
	}
	if err != nil {
		if err.Error() != at.failed {
			at.failed = err.Error()
			d.log.Error("could not use a TLS certificate", "error", err, "before", at.inUse != nil)
		}
		return false
	}
	at.failed = ""
	if waits {
		at.waiting = pair
		logWaiting(d.log, certFile, pair)
		return false
	}
	return d.use(certFile, at, pair)
}

func (d *Directory) use(certFile string, at *entry, pair *tls.Certificate) (changed bool) {
	at.inUse, at.waiting = pair, nil
	if expired(pair) {
		return true // expiry says so
	}
	warnIfEarly(d.log, certFile, pair)
	d.log.Info("loaded a TLS certificate", "file", certFile, "names", names(pair), "ends", pair.Leaf.NotAfter)
	return true
}

// index returns the certificates by name. If there are two for one name, the one that ends later is used, unless it
// isn't valid yet, so that a renewal may be added next to the old one.
func (d *Directory) index() map[string]*tls.Certificate {
	byName := map[string]*tls.Certificate{}
	for _, at := range d.pairs {
		if at.inUse == nil {
			continue
		}
		for _, name := range names(at.inUse) {
			if other := byName[name]; other == nil || better(at.inUse, other) {
				byName[name] = at.inUse
			}
		}
	}
	return byName
}

// names returns the host names of a certificate in lowercase.
func names(c *tls.Certificate) []string {
	out := make([]string, 0, len(c.Leaf.DNSNames))
	for _, name := range c.Leaf.DNSNames {
		out = append(out, strings.ToLower(name))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
