package bundle

import (
	"context"
	"io"
	"iter"

	"postern/bundle/openfga"
	"postern/core/snapshot"
)

// The files for OpenFGA.
const (
	authzFolder   = "authz/"
	modelDSLFile  = authzFolder + openfga.ModelFile
	modelJSONFile = authzFolder + "model.json"
	tuplesFile    = authzFolder + openfga.TuplesFile
	storeFile     = authzFolder + "store.fga.yaml"
	loadFile      = authzFolder + "load.sh"
)

// openFGA returns the files for OpenFGA of a project with rules.
func (b *Build) openFGA() []Part {
	source := openfga.Source{
		Project: b.Project,
		Users: func(ctx context.Context, t snapshot.Tenant) iter.Seq2[*snapshot.User, error] {
			return b.UsersOf(ctx, t, tuplesFile)
		},
	}
	if b.HasRelations() {
		source.Relations = func(ctx context.Context) iter.Seq2[*snapshot.Relation, error] {
			return b.Relations(ctx, tuplesFile)
		}
	}
	for _, t := range b.Project.Tenants {
		if b.HasPeople(t) {
			source.Tenants = append(source.Tenants, t)
		}
	}
	whole := func(write func(io.Writer) error) func(context.Context, io.Writer) error {
		return func(_ context.Context, w io.Writer) error { return write(w) }
	}
	return []Part{
		{Name: modelDSLFile, Doc: modelDSLDoc, Write: whole(source.WriteDSL)},
		{Name: modelJSONFile, Doc: modelJSONDoc, Write: whole(source.WriteJSON)},
		{Name: storeFile, Doc: storeFileDoc, Write: whole(source.WriteStore)},
		{Name: tuplesFile, Doc: tuplesFileDoc, Write: source.WriteTuples},
		{Name: loadFile, Doc: loadFileDoc, Write: whole(func(w io.Writer) error {
			_, err := io.WriteString(w, openfga.LoadScript)
			return err
		})},
	}
}
