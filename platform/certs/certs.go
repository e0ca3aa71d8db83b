// Package certs keeps a listener's certificate as its two files are, while the
// program runs.
//
// It owns reading the pair, noticing that it was renewed, and keeping the last
// good one when what is there now is no pair. It does not own what a listener
// speaks over TLS.
//
// Standards: PEM (RFC 7468), X.509 (RFC 5280).
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

	inUse  atomic.Pointer[tls.Certificate]
	judged contents // what the files held when they were last looked at, good or not
}

type contents struct{ cert, key []byte }

func (c contents) equal(other contents) bool {
	return bytes.Equal(c.cert, other.cert) && bytes.Equal(c.key, other.key)
}

// Load reads the pair: PEM files, the certificate first in its file and behind it
// those that lead to its root. Its error names the file to mend.
func Load(certFile, keyFile string, log *slog.Logger) (*Pair, error) {
	p := &Pair{certFile: certFile, keyFile: keyFile, log: log}
	var err error
	if p.judged, err = p.read(); err != nil {
		return nil, err
	}
	pair, err := p.parse(p.judged)
	if err != nil {
		return nil, err
	}
	p.inUse.Store(pair)
	return p, nil
}

// read takes both files. A renewal replaces them one after the other, so what is
// read can be half of one pair and half of another: parse refuses that, and the
// next look finds the rest.
func (p *Pair) read() (contents, error) {
	cert, certErr := os.ReadFile(p.certFile)
	key, keyErr := os.ReadFile(p.keyFile)
	if err := errors.Join(certErr, keyErr); err != nil {
		return contents{}, fmt.Errorf("read the certificate and its key: %w", err)
	}
	return contents{cert, key}, nil
}

func (p *Pair) parse(c contents) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(c.cert, c.key) // refuses a key that is not the certificate's
	if err != nil {
		return nil, fmt.Errorf("%s and %s are no certificate with its key: %w", p.certFile, p.keyFile, err)
	}
	return &pair, nil
}

// Config is for a listener that offers the protocols by ALPN, the most wanted
// first. Each handshake gets the certificate of its moment.
func (p *Pair) Config(protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     protocols,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.inUse.Load(), nil },
	}
}

// Follow takes the pair anew whenever its files have changed, until ctx ends.
//
// It reads them rather than waiting to be told: notices of the file system do not
// cross the links that Kubernetes and certbot switch, nor mounts from elsewhere,
// and times of change say nothing about either. Two small files cost nothing.
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

// Look reads the files once, and complains once of each content that is no pair.
// It is not for several goroutines at a time.
func (p *Pair) Look() {
	now, err := p.read()
	if err == nil && now.equal(p.judged) {
		return
	}
	first := !now.equal(p.judged)
	p.judged = now
	var pair *tls.Certificate
	if err == nil {
		pair, err = p.parse(now)
	}
	if err != nil {
		if first {
			p.log.Error("the TLS certificate cannot be renewed, serving the one before", "error", err)
		}
		return
	}
	p.inUse.Store(pair)
	p.log.Info(
		"the TLS certificate was renewed", "file", p.certFile, "subject", pair.Leaf.Subject.String(), "ends",
		pair.Leaf.NotAfter,
	)
}
