// Package certs loads a listener's certificates and reloads them when their files
// change: one pair for the listener, and a directory with pairs for host names.
//
// It owns reading the pairs, detecting a renewal, keeping the last valid pair while the
// files are not one, and choosing by host name. It leaves the protocols of a listener to
// its caller.
//
// Standards: PEM (RFC 7468), X.509 (RFC 5280), SNI (RFC 6066, section 3).
package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// LookEvery is how often Follow reads the files.
const LookEvery = 5 * time.Second

// Pair is a certificate with its private key. It is safe for concurrent use.
type Pair struct {
	certFile, keyFile string
	log               *slog.Logger

	inUse    atomic.Pointer[tls.Certificate]
	waiting  *tls.Certificate // replaces the one in use once it is valid; nil for none
	lastRead contents         // valid or not
	expiry   expiry
}

type contents struct{ cert, key []byte }

func (c contents) equal(other contents) bool {
	return bytes.Equal(c.cert, other.cert) && bytes.Equal(c.key, other.key)
}

// Load reads the pair from PEM files. The certificate is the first in its file, followed
// by its chain. The error names the file that cannot be read or parsed.
func Load(certFile, keyFile string, log *slog.Logger) (*Pair, error) {
	p := &Pair{certFile: certFile, keyFile: keyFile, log: log}
	var err error
	if p.lastRead, err = p.read(); err != nil {
		return nil, err
	}
	pair, err := p.parse(p.lastRead)
	if err != nil {
		return nil, err
	}
	p.inUse.Store(pair)
	warnIfEarly(log, certFile, pair)
	p.expiry.look(log, certFile, pair)
	return p, nil
}

// read reads both files. A renewal replaces them one after the other, so they can be
// from two pairs: parse refuses those, and the next Look reads the complete pair.
func (p *Pair) read() (contents, error) {
	cert, certErr := os.ReadFile(p.certFile)
	key, keyErr := os.ReadFile(p.keyFile)
	if err := errors.Join(certErr, keyErr); err != nil {
		return contents{}, fmt.Errorf("read the certificate and its key: %w", err)
	}
	return contents{cert, key}, nil
}

func (p *Pair) parse(c contents) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(c.cert, c.key) // also checks that the key is the certificate's
	if err != nil {
		return nil, fmt.Errorf("%s and %s aren't a certificate and its key: %w", p.certFile, p.keyFile, err)
	}
	return &pair, nil
}

// Config returns the TLS configuration of a listener that offers the protocols by
// ALPN, in order of preference. Each handshake uses the current certificate.
func (p *Pair) Config(protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     protocols,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.inUse.Load(), nil },
	}
}

// Source returns the certificate for a handshake, nil if there is none for the host name. With
// an error the handshake fails.
type Source func(hello *tls.ClientHelloInfo) (*tls.Certificate, error)

// ConfigWith is Config for a listener whose callers get the certificate of the first
// source that has one for the host name they ask for. The pair is for all other callers.
func (p *Pair) ConfigWith(sources ...Source) *tls.Config {
	config := p.Config()
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		for _, source := range sources {
			if found, err := source(hello); found != nil || err != nil {
				return found, err
			}
		}
		return p.inUse.Load(), nil
	}
	return config
}

// Follow reloads the pair whenever its files have changed, until ctx ends.
//
// It polls the contents: file system notifications miss the symbolic links that
// Kubernetes and certbot switch as well as network mounts, and so do modification
// times. Reading two small files costs next to nothing.
func (p *Pair) Follow(ctx context.Context) {
	ticker := time.NewTicker(LookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.Look()
		}
	}
}

// Look reads the files once, and logs one error for each content that is not a valid
// pair. A certificate that is not valid yet is used once it is, or when there is no other.
// It also logs that the certificate in use is about to end. It must not be called concurrently.
func (p *Pair) Look() {
	p.reload()
	p.expiry.look(p.log, p.certFile, p.inUse.Load())
}

func (p *Pair) reload() {
	now, err := p.read()
	if err == nil && now.equal(p.lastRead) {
		if p.waiting != nil && !early(p.waiting) {
			p.use(p.waiting)
		}
		return
	}
	first := !now.equal(p.lastRead)
	p.lastRead, p.waiting = now, nil
	var pair *tls.Certificate
	if err == nil {
		pair, err = p.parse(now)
	}
	waits := false
	if err == nil {
		waits, err = succeeds(p.certFile, pair, p.inUse.Load())
	}
	if err != nil {
		if first {
			p.log.Error("could not reload the TLS certificate; serving the previous one", "error", err)
		}
		return
	}
	if waits {
		p.waiting = pair
		logWaiting(p.log, p.certFile, pair)
		return
	}
	p.use(pair)
}

func (p *Pair) use(pair *tls.Certificate) {
	p.waiting = nil
	p.inUse.Store(pair)
	if expired(pair) {
		return // expiry says so
	}
	warnIfEarly(p.log, p.certFile, pair)
	p.log.Info(
		"reloaded the TLS certificate",
		"file", p.certFile,
		"subject", pair.Leaf.Subject.String(),
		"ends", pair.Leaf.NotAfter,
	)
}
