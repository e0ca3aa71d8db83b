package bundle

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"iter"

	"postern/core/snapshot"
	"postern/platform/fault"
)

// Contents is the project in a verified archive. The archive has to stay open as long as Contents is used.
type Contents struct {
	Report
	// Project is the state that the documents describe. It has no secrets, because the archive doesn't contain any.
	Project *snapshot.Project

	build *Build
}

// Read verifies an archive as Verify does, and returns its contents. Keys and Users end with ctx.
func Read(ctx context.Context, r io.ReaderAt, size int64, against Against) (*Contents, error) {
	sum, err := sumOf(ctx, r, size)
	if err != nil {
		return nil, err
	}
	if against.SHA256 != nil && sum != *against.SHA256 {
		return nil, problem("the archive", "its SHA-256 is %s, which isn't the expected one", hexSum(sum))
	}
	zr, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fault.New(fault.Invalid, codeNotAnZip, "This file is not a complete zip archive.").Because(err)
	}
	zr.RegisterDecompressor(zip.Deflate, inflate)
	v := newVerifier(ctx, nil)
	if err := repacked(zr.File); err != nil {
		return nil, err
	}
	order, err := v.admit(zr.File)
	if err != nil {
		return nil, err
	}
	if err := v.sums(); err != nil { // first, because its error names the changed file
		return nil, err
	}
	if err := v.edition(); err != nil {
		return nil, err
	}
	if err := v.layout(r, size, order); err != nil {
		return nil, err
	}
	if err := v.signature(against.SignedBy); err != nil {
		return nil, err
	}
	report, build, err := v.contents(against.Targets)
	if err != nil {
		return nil, err
	}
	report.SHA256 = sum
	_, report.Signed = v.files[signatureFile]
	return &Contents{Report: report, Project: build.Project, build: build}, nil
}

// Keys streams all keys, in the order of the tenants and then in ascending order of IDs. A key is valid until the next
// iteration.
func (c *Contents) Keys(ctx context.Context) iter.Seq2[*snapshot.Key, error] {
	return c.build.Keys(ctx, "import")
}

// Users streams the users of a tenant in ascending order of ids. A user is valid until the
// next iteration.
func (c *Contents) Users(ctx context.Context, t snapshot.Tenant) iter.Seq2[*snapshot.User, error] {
	if !c.build.HasPeople(t) {
		return func(func(*snapshot.User, error) bool) {}
	}
	return c.build.UsersOf(ctx, t, "import")
}
