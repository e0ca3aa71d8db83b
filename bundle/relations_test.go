package bundle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/core/snapshot"
)

func relation(tenant, user, object string) snapshot.Relation {
	id := map[string]string{"default": "tnt_1", "acme": "tnt_2"}[tenant]
	return snapshot.Relation{TenantID: id, Tenant: tenant, User: user, Relation: "owner", Object: object}
}

// withOwners is the sample project with a rule for owners, and relations.
func withOwners(relations ...snapshot.Relation) bundle.Input {
	in := sampleInput()
	in.Project.Versions[0].Rules = snapshot.Rules{List: []snapshot.Rule{
		{ID: "rul_1", Methods: []string{"GET"}, Path: "/orders/{id}", Owner: "order:{id}"},
	}}
	in.Relations = func(context.Context) iter.Seq2[snapshot.Relation, error] {
		return func(yield func(snapshot.Relation, error) bool) {
			for _, r := range relations {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	return in
}

func TestWrite_relations(t *testing.T) {
	want := []snapshot.Relation{
		relation("default", "billing-service", "order:42"), relation("default", "usr_a01", "order:42"),
		relation("default", "ana (https://id.example)", "order:a%2Fb"), relation("acme", "usr_a01", "order:42"),
	}
	data, _ := write(t, withOwners(want...))
	contents, err := bundle.Read(t.Context(), bytes.NewReader(data), int64(len(data)),
		bundle.Against{Targets: []bundle.Target{bundle.Data}})
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	var got []snapshot.Relation
	for r, err := range contents.Relations(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, *r)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("relations (-want +got):\n%s", diff)
	}
	_, files := unzip(t, data)
	for name, text := range map[string]string{
		bundle.RelationsFile: `{"tenant_id":"tnt_1","tenant":"default","object":"order:42","relation":"owner",` +
			`"user":"billing-service"}` + "\n",
		"authz/tuples.json": `{"user":"user:billing-service","relation":"owner",` +
			`"object":"object:tnt_1.order%3A42"}`,
		"MIGRATION-REPORT.json": `"code":"data.object_ownership.document"`,
		"SCHEMA.md":             "## `authz/relations.jsonl`",
	} {
		if !strings.Contains(files[name], text) {
			t.Errorf("%s lacks %s", name, text)
		}
	}
}

func TestWrite_withoutRelations(t *testing.T) {
	in := withOwners(relation("default", "usr_a01", "order:42"))
	in.Options = bundle.Options{Format: bundle.FormatData}
	for code, in := range map[string]bundle.Input{
		"data.object_ownership.left_out": in,
		"data.object_ownership.none":     sampleInput(),
	} {
		data, _ := write(t, in)
		if _, err := verify(data); err != nil {
			t.Fatalf("%s: Verify: %v", code, err)
		}
		_, files := unzip(t, data)
		if _, have := files[bundle.RelationsFile]; have || !strings.Contains(files["MIGRATION-REPORT.json"], code) {
			t.Errorf("%s: %s is there: %t", code, bundle.RelationsFile, have)
		}
	}
}

func TestWrite_invalidRelations(t *testing.T) {
	good := relation("default", "usr_a01", "order:42")
	another := good
	another.Relation = "viewer"
	for name, list := range map[string][]snapshot.Relation{
		"twice":           {good, good},
		"out of order":    {good, relation("default", "usr_a01", "order:41")},
		"not canonical":   {relation("default", "usr_a01", "order:a%2fb")},
		"no type":         {relation("default", "usr_a01", "42")},
		"no user":         {relation("default", "", "order:42")},
		"of no tenant":    {relation("unknown", "usr_a01", "order:42")},
		"not of an owner": {another},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := bundle.Write(t.Context(), &bytes.Buffer{}, withOwners(list...)); err == nil {
				t.Error("it was exported")
			}
		})
	}
}

func TestVerify_changedRelations(t *testing.T) {
	data, _ := write(t, withOwners(relation("default", "usr_a01", "order:42"),
		relation("default", "usr_a02", "order:43")))
	for name, c := range map[string]change{
		"an owner":   {file: bundle.RelationsFile, old: "usr_a01", new: "usr_a09", entry: "authz/tuples.json"},
		"a tuple":    {file: "authz/tuples.json", old: "usr_a01", new: "usr_a09", entry: "authz/tuples.json"},
		"the script": {file: "authz/load.sh", old: "umask 077", new: "umask 000", entry: "authz/load.sh"},
		"out of order": {file: bundle.RelationsFile, old: "order:42", new: "order:44", entry: bundle.RelationsFile,
			says: "out of order"},
		"a field": {file: bundle.RelationsFile, old: `"tenant_id"`, new: `"x":1,"tenant_id"`,
			entry: bundle.RelationsFile, says: "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			names, files := unzip(t, data)
			if c.says == "" {
				c.says = "changed after the export"
			}
			(&editable{names: names, files: files}).refusesChange(t, c)
		})
	}
}

// Memory does not grow with the number of relations.
func TestWrite_streamedRelations(t *testing.T) {
	peak := func(n int) uint64 {
		in := withOwners()
		in.Relations = func(context.Context) iter.Seq2[snapshot.Relation, error] {
			return func(yield func(snapshot.Relation, error) bool) {
				for i := range n {
					if !yield(relation("default", "usr_a01", fmt.Sprintf("order:%09d", i)), nil) {
						return
					}
				}
			}
		}
		var most uint64
		in.Progress = func(string, int64, int64) {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		if _, err := bundle.Write(t.Context(), io.Discard, in); err != nil {
			t.Fatal(err)
		}
		return most
	}
	few, many := peak(5_000), peak(100_000)
	if many > few+few/2+4<<20 {
		t.Errorf("%d bytes with 100,000 relations, %d with 5,000", many, few)
	}
}

// Without a gateway, the ledger says for each rule what to do about owners.
func TestWrite_ownerRules(t *testing.T) {
	in := withOwners(relation("default", "usr_a01", "order:42"))
	get := []string{"GET"}
	in.Project.Versions[0].Rules.List = []snapshot.Rule{
		{ID: "rul_1", Methods: get, Path: "/orders/{id}", Owner: "order:{id}"},
		{ID: "rul_2", Methods: []string{"POST"}, Path: "/orders", Remember: "order:{response.id}"},
		{ID: "rul_3", Methods: []string{"DELETE"}, Path: "/orders/{id}", Owner: "order:{id}", Forget: "order:{id}"},
		{ID: "rul_4", Methods: get, Path: "/staff", Groups: []string{"staff"}},
	}
	data, _ := write(t, in)
	_, files := unzip(t, data)
	var ledger struct {
		Items []struct{ ID, Code, Status string }
	}
	if err := json.Unmarshal([]byte(files["MIGRATION-REPORT.json"]), &ledger); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, item := range ledger.Items {
		for _, rule := range in.Project.Versions[0].Rules.List {
			if strings.HasSuffix(item.ID, rule.ID) {
				got[rule.ID] = item.Status + " " + item.Code
			}
		}
	}
	want := map[string]string{
		"rul_1": "exact data.rule.owner", "rul_2": "exact data.rule.relations", "rul_3": "exact data.rule.relations",
		"rul_4": "exact data.rule.document",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fates (-want +got):\n%s", diff)
	}
	for _, text := range []string{
		`"remember": "order:{response.id}"`, `"forget": "order:{id}"`, `"owner": "order:{id}"`,
	} {
		if !strings.Contains(files[bundle.RulesFile], text) {
			t.Errorf("%s lacks %s", bundle.RulesFile, text)
		}
	}
}
