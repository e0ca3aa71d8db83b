// Package openfga_test runs OpenFGA's own server, in memory, on what the product exports for it.
package openfga_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"testing"

	openfgav1 "github.com/openfga/api/proto/openfga/v1"
	"github.com/openfga/language/pkg/go/transformer"
	"github.com/openfga/openfga/pkg/server"
	"github.com/openfga/openfga/pkg/storage/memory"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"postern/bundle"
	"postern/bundle/openfga"
)

// perWrite is how many tuples the server takes in one write.
const perWrite = 100

// store is a store of a running server.
type store struct {
	server    *server.Server
	id, model string
}

// storeFile is store.fga.yaml.
type storeFile struct {
	Name      string
	ModelFile string `yaml:"model_file"`
	TupleFile string `yaml:"tuple_file"`
	Tests     []struct {
		Name   string
		Tuples []openfga.Tuple
		Check  []struct {
			User, Object string
			Assertions   map[string]bool
		}
	}
}

// export returns the files of an export in authz/, by their names in it.
func export(t *testing.T, in bundle.Input) map[string][]byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := bundle.Write(t.Context(), &out, in); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Verify(t.Context(), bytes.NewReader(out.Bytes()), int64(out.Len()),
		bundle.Against{Targets: []bundle.Target{bundle.Data}}); err != nil {
		t.Fatalf("verify: %v", err)
	}
	files := map[string][]byte{}
	for _, f := range archive.File {
		if name, ok := bytes.CutPrefix([]byte(f.Name), []byte("authz/")); ok {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			if files[string(name)], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}

func modelOf(t *testing.T, text []byte) *openfgav1.AuthorizationModel {
	t.Helper()
	model := &openfgav1.AuthorizationModel{}
	if err := protojson.Unmarshal(text, model); err != nil {
		t.Fatalf("model.json: %v", err)
	}
	return model
}

// load creates a store of model.json and tuples.json.
func load(t *testing.T, files map[string][]byte) *store {
	t.Helper()
	s := &store{server: server.MustNewServerWithOpts(server.WithDatastore(memory.New()))}
	t.Cleanup(s.server.Close)
	created, err := s.server.CreateStore(t.Context(), &openfgav1.CreateStoreRequest{Name: "exported"})
	if err != nil {
		t.Fatal(err)
	}
	s.id = created.GetId()
	model := modelOf(t, files["model.json"])
	req := &openfgav1.WriteAuthorizationModelRequest{
		StoreId:         s.id,
		SchemaVersion:   model.GetSchemaVersion(),
		TypeDefinitions: model.GetTypeDefinitions(),
	}
	if err := req.Validate(); err != nil {
		t.Fatalf("model.json: %v", err)
	}
	written, err := s.server.WriteAuthorizationModel(t.Context(), req)
	if err != nil {
		t.Fatalf("model.json: %v", err)
	}
	s.model = written.GetAuthorizationModelId()
	var tuples []openfga.Tuple
	if err := json.Unmarshal(files["tuples.json"], &tuples); err != nil {
		t.Fatalf("tuples.json: %v", err)
	}
	s.write(t, tuples)
	return s
}

func keys(tuples []openfga.Tuple) []*openfgav1.TupleKey {
	var out []*openfgav1.TupleKey
	for _, one := range tuples {
		out = append(out, &openfgav1.TupleKey{User: one.User, Relation: one.Relation, Object: one.Object})
	}
	return out
}

func (s *store) write(t *testing.T, tuples []openfga.Tuple) {
	t.Helper()
	for some := range slices.Chunk(keys(tuples), perWrite) {
		req := &openfgav1.WriteRequest{
			StoreId:              s.id,
			AuthorizationModelId: s.model,
			Writes:               &openfgav1.WriteRequestWrites{TupleKeys: some},
		}
		if err := req.Validate(); err != nil {
			t.Fatalf("write: %v", err)
		}
		if _, err := s.server.Write(t.Context(), req); err != nil {
			t.Fatalf("write: %v", err)
		}
	}
}

func (s *store) remove(t *testing.T, tuples []openfga.Tuple) {
	t.Helper()
	for some := range slices.Chunk(tuples, perWrite) {
		deletes := &openfgav1.WriteRequestDeletes{}
		for _, one := range some {
			deletes.TupleKeys = append(deletes.TupleKeys, &openfgav1.TupleKeyWithoutCondition{
				User: one.User, Relation: one.Relation, Object: one.Object,
			})
		}
		req := &openfgav1.WriteRequest{StoreId: s.id, AuthorizationModelId: s.model, Deletes: deletes}
		if _, err := s.server.Write(t.Context(), req); err != nil {
			t.Fatalf("delete: %v", err)
		}
	}
}

// check asks the server, with tuples of this question alone.
func (s *store) check(t *testing.T, asked openfga.Tuple, with ...openfga.Tuple) bool {
	t.Helper()
	req := &openfgav1.CheckRequest{
		StoreId:              s.id,
		AuthorizationModelId: s.model,
		TupleKey: &openfgav1.CheckRequestTupleKey{
			User: asked.User, Relation: asked.Relation, Object: asked.Object,
		},
		ContextualTuples: &openfgav1.ContextualTupleKeys{TupleKeys: keys(with)},
	}
	if err := req.Validate(); err != nil {
		t.Fatalf("check %v: %v", asked, err)
	}
	got, err := s.server.Check(t.Context(), req)
	if err != nil {
		t.Fatalf("check %v: %v", asked, err)
	}
	return got.GetAllowed()
}

// The model is one and the same in both files, and written as OpenFGA's tools write it.
func TestModel_files(t *testing.T) {
	files := export(t, newCase(1).input())
	fromDSL, err := transformer.TransformDSLToProto(string(files[openfga.ModelFile]))
	if err != nil {
		t.Fatal(err)
	}
	if model := modelOf(t, files["model.json"]); !proto.Equal(model, fromDSL) {
		t.Errorf("model.json is not %s:\n%s\n%s", openfga.ModelFile, files["model.json"], files[openfga.ModelFile])
	}
	printed, err := transformer.TransformJSONStringToDSL(string(files["model.json"]))
	if err != nil {
		t.Fatal(err)
	}
	if *printed != string(files[openfga.ModelFile]) {
		t.Errorf("OpenFGA prints the model as\n%s\nnot\n%s", *printed, files[openfga.ModelFile])
	}
}

// Every assertion of the store file holds, and each rule has one that allows and one that refuses.
func TestStoreFile(t *testing.T) {
	for seed := range uint64(4) {
		c := newCase(seed)
		files := export(t, c.input())
		var file storeFile
		if err := yaml.Unmarshal(files["store.fga.yaml"], &file); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{file.ModelFile, file.TupleFile} {
			if _, have := files[name[len("./"):]]; !have {
				t.Errorf("there is no %s, which the store file names; there are %v", name,
					slices.Sorted(maps.Keys(files)))
			}
		}
		s := load(t, files)
		verdicts := map[string]map[bool]bool{}
		for _, test := range file.Tests {
			s.write(t, test.Tuples)
			for _, check := range test.Check {
				for relation, want := range check.Assertions {
					asked := openfga.Tuple{User: check.User, Relation: relation, Object: check.Object}
					if got := s.check(t, asked); got != want {
						t.Errorf("seed %d, %s: %v: %t, want %t", seed, test.Name, asked, got, want)
					}
					if verdicts[check.Object] == nil {
						verdicts[check.Object] = map[bool]bool{}
					}
					verdicts[check.Object][want] = true
				}
			}
			s.remove(t, test.Tuples)
		}
		for _, v := range c.project.Versions {
			for _, rule := range v.Rules.List {
				if got := verdicts[openfga.Rule(v.ID, rule.ID)]; len(got) != 2 {
					t.Errorf("seed %d: rule %s of %s has the assertions %v, want both", seed, rule.ID, v.Name, got)
				}
			}
		}
	}
}
