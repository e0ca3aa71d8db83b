package conformance

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"testing"

	"postern/bundle"
	"postern/bundle/kong"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/gateway/bearer"
	"postern/platform/egress"
	"postern/service/ratelimit"
	"postern/testkit/sample"
)

// keyTable looks keys up as the running product does.
type keyTable map[[32]byte]entry

type entry struct {
	key snapshot.Key
	old bool
}

func (t keyTable) Lookup(_ string, hash [32]byte, into *snapshot.Key) (found, old bool) {
	e, found := t[hash]
	*into = e.key
	return found, e.old
}

// Gone reports that no key was revoked or rotated.
func (t keyTable) Gone(string, [32]byte) bool { return false }

// unsealed is a gateway.Unsealer of values that are not sealed.
type unsealed struct{}

func (unsealed) HeaderValue(_ *snapshot.Project, _ string, h snapshot.UpstreamHeader) (string, error) {
	return string(h.Sealed), nil
}

func (unsealed) ClientKey(_ *snapshot.Project, _ string, c snapshot.ClientCertificate) ([]byte, error) {
	return c.Sealed, nil
}

func (unsealed) SigningKey(_ *snapshot.Project, k snapshot.CallSigningKey) (ed25519.PrivateKey, error) {
	return k.Sealed, nil
}

// startPostern serves the sample project.
func startPostern(t *testing.T, up *upstream) *peer {
	t.Helper()
	return startPosternOf(t, up, Project(up), Keys())
}

func startPosternOf(t *testing.T, up *upstream, project *snapshot.Project, keys map[string]sample.Plain) *peer {
	t.Helper()
	return startPosternWith(t, up, project, keys, func(*gateway.Options) {})
}

// startPosternWith is startPosternOf with changed options.
func startPosternWith(
	t *testing.T, up *upstream, project *snapshot.Project, keys map[string]sample.Plain, change func(*gateway.Options),
) *peer {
	t.Helper()
	table := keyTable{}
	for _, k := range keys {
		table[k.Hash] = entry{key: k.Key}
		if k.OldHash != nil {
			table[*k.OldHash] = entry{key: k.Key, old: true}
		}
	}
	dialer := &net.Dialer{}
	options := gateway.Options{
		Domain:   bareHost,
		Keys:     table,
		Dial:     dialer.DialContext,
		Unsealer: unsealed{},
		Limiter:  ratelimit.NewLocal(),
		Logger:   slog.New(slog.DiscardHandler),
	}
	if up.secure != nil {
		options.UpstreamTLS = &tls.Config{RootCAs: up.secure.roots, MinVersion: tls.VersionTLS12}
	}
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	verifier := bearer.New(guard.Client(), slog.New(slog.DiscardHandler))
	t.Cleanup(verifier.Close)
	options.Verifier = verifier
	change(&options)
	g := gateway.New(options)
	if err := g.Publish([]*snapshot.Project{project}); err != nil {
		t.Fatalf("publish: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := g.Server(l.Addr().String())
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		g.Close()
	})
	return &peer{name: "postern", addr: l.Addr().String(), up: up}
}

// export unpacks the sample project's bundle and gives its folder.
func export(t *testing.T, up *upstream) string {
	t.Helper()
	return exportOf(t, Project(up), Keys(), bundle.Options{Consumers: true})
}

// exportOf unpacks the bundle for a gateway with the options.
func exportOf(t *testing.T, project *snapshot.Project, keys map[string]sample.Plain, options bundle.Options) string {
	t.Helper()
	return exportWith(t, project, keys, options, nil)
}

// exportWith is exportOf with users.
func exportWith(
	t *testing.T, project *snapshot.Project, keys map[string]sample.Plain, options bundle.Options,
	users func(context.Context, snapshot.Tenant) iter.Seq2[snapshot.User, error],
) string {
	t.Helper()
	in := exportInput(project, keys, options)
	in.Users = users
	return unpackedExport(t, in)
}

// exportInput is the input of an export with a gateway.
func exportInput(project *snapshot.Project, keys map[string]sample.Plain, options bundle.Options) bundle.Input {
	options.Format = bundle.FormatGateway
	keys = maps.Clone(keys)
	for name, k := range keys {
		k.OwnerFrozen = project.FrozenOwner(k.Owner) // as package exports reads them
		keys[name] = k
	}
	return bundle.Input{
		Project: project, Keys: sample.Stream(keys), KeyCount: int64(len(keys)), Options: options,
		Target: kong.Target, AddressOf: sample.AddressOf, Generator: "postern test",
	}
}

// unpackedExport exports and returns the folder with what is in the zip.
func unpackedExport(t *testing.T, in bundle.Input) string {
	t.Helper()
	var out bytes.Buffer
	_, err := bundle.Write(t.Context(), &out, in)
	if err != nil {
		t.Fatalf("export: %v", err)
	}
	zr, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, f := range zr.File {
		unpack(t, f, filepath.Join(folder, filepath.FromSlash(f.Name)))
	}
	return folder
}

func unpack(t *testing.T, f *zip.File, to string) {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, f.Mode()); err != nil {
		t.Fatal(err)
	}
}
