package projects_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/projects"
	"postern/testkit/state"
)

func TestTransforms(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		project := contract.ProjectPath{Project: h.project}
		first := contract.VersionPath{ProjectPath: project, Version: "1.0.0"}
		second := contract.VersionPath{ProjectPath: project, Version: "2.0.0"}
		update := func(etag string, body contract.Transforms) contract.TransformsUpdate {
			return contract.TransformsUpdate{
				VersionPath: first, Condition: contract.Condition{IfMatch: etag}, Body: body,
			}
		}
		wanted := snapshot.Transforms{
			Request:  snapshot.Changes{Add: []string{" X-Source : the shop "}, Rename: []string{"X-Old:X-New"}},
			Response: snapshot.Changes{Remove: []string{"X-Powered-By"}},
			ResponseBody: snapshot.BodyChanges{
				Changes: snapshot.Changes{Add: []string{"n:1"}},
				Types:   snapshot.ChangeTypes{Add: []string{snapshot.JSONNumber}},
			},
		}
		before, err := h.Transforms(t.Context(), h.owner, first)
		compiled := snapshot.TransformsOf(before.Transforms)
		if err != nil || !compiled.None() {
			t.Fatalf("at first: %+v, %v", before, err)
		}
		set, err := h.SetTransforms(t.Context(), h.owner, update(before.ETag, wanted.Stated()))
		if err != nil || set.ETag == before.ETag || set.Request.Add.Headers[0] != "X-Source:the shop" {
			t.Fatalf("set: %+v, %v", set, err)
		}
		served := h.world.project(t, h.project).Versions[0].Transforms
		if diff := cmp.Diff(snapshot.TransformsOf(set.Transforms), served); diff != "" {
			t.Errorf("served (-set +served):\n%s", diff)
		}
		t.Run("stale", func(t *testing.T) {
			_, err := h.SetTransforms(t.Context(), h.owner, update(before.ETag, set.Transforms))
			if err == nil || fault.KindOf(err) != fault.KindOf(access.Stale()) {
				t.Errorf("%v", err)
			}
		})
		t.Run("copied with the version", func(t *testing.T) {
			in := contract.NewVersion{Name: "2.0.0"}.In(h.project)
			if _, err := h.CreateVersion(t.Context(), h.owner, in); err != nil {
				t.Fatal(err)
			}
			copied, err := h.Transforms(t.Context(), h.owner, second)
			if diff := cmp.Diff(set.Transforms, copied.Transforms); diff != "" || err != nil {
				t.Errorf("%v (-set +copied):\n%s", err, diff)
			}
		})
		t.Run("removed", func(t *testing.T) {
			_, err := h.SetTransforms(t.Context(), h.owner, update("", contract.Transforms{}))
			if err != nil {
				t.Fatal(err)
			}
			if left := h.world.project(t, h.project).Versions[0].Transforms; !left.None() {
				t.Errorf("%+v", left)
			}
		})
	})
}

// Every header that the gateway sets or depends on is refused, in any spelling that could be taken for it.
func TestTransforms_refused(t *testing.T) {
	request := func(c snapshot.Changes) snapshot.Transforms { return snapshot.Transforms{Request: c} }
	response := func(c snapshot.Changes) snapshot.Transforms { return snapshot.Transforms{Response: c} }
	add := func(entry string) snapshot.Transforms { return request(snapshot.Changes{Add: []string{entry}}) }
	body := func(entries ...string) snapshot.Transforms {
		return snapshot.Transforms{RequestBody: snapshot.Changes{Add: entries}}
	}
	typed := func(entry string, types ...string) snapshot.Transforms {
		return snapshot.Transforms{ResponseBody: snapshot.BodyChanges{
			Changes: snapshot.Changes{Add: []string{entry}},
			Types:   snapshot.ChangeTypes{Add: types},
		}}
	}
	for _, tc := range []struct {
		in   snapshot.Transforms
		want string
	}{
		{add("X-Consumer-ID:root"), "/request/add/headers/0 fixed_header"},
		{add("x-tenant-id:t"), "/request/add/headers/0 fixed_header"},
		{add("Host:evil.example"), "/request/add/headers/0 fixed_header"},
		{add("Content-Length:0"), "/request/add/headers/0 fixed_header"},
		{add("Transfer-Encoding:chunked"), "/request/add/headers/0 fixed_header"},
		{add("X-Forwarded-For:1.2.3.4"), "/request/add/headers/0 fixed_header"},
		{add("Forwarded:for=x"), "/request/add/headers/0 fixed_header"},
		{add("Authorization:Basic x"), "/request/add/headers/0 fixed_header"},
		{add("X-API-Key:x"), "/request/add/headers/0 fixed_header"},
		{add("Signature:x"), "/request/add/headers/0 fixed_header"},
		{request(snapshot.Changes{Remove: []string{"Origin"}}), "/request/remove/headers/0 fixed_header"},
		{add("Cookie:a=b"), "/request/add/headers/0 fixed_header"},
		{add("X_A:1"), "/request/add/headers/0 invalid_header"},
		{add(":1"), "/request/add/headers/0 invalid_header"},
		{add("X-A"), "/request/add/headers/0 required"},
		{add("X-A:a\r\nX-B: c"), "/request/add/headers/0 invalid_value"},
		{add("X-A:$(id)"), "/request/add/headers/0 invalid_value"},
		{add("X-A::b"), "/request/add/headers/0 invalid_value"},
		{add("X-A:ä"), "/request/add/headers/0 invalid_value"},
		{add("X-A:" + strings.Repeat("a", 1001)), "/request/add/headers/0 too_long"},
		{request(snapshot.Changes{Rename: []string{"X-A:X-User-Id", "X-B:X-Authenticated-Userid"}}),
			"/request/rename/headers/1 fixed_header"},
		{request(snapshot.Changes{Rename: []string{"X-API-Key:X-A"}}), "/request/rename/headers/0 fixed_header"},
		{request(snapshot.Changes{Rename: []string{"X-A:x-a"}}), "/request/rename/headers/0 invalid_header"},
		{request(snapshot.Changes{Rename: []string{"X-A:Cookie"}}), "/request/rename/headers/0 fixed_header"},
		{request(snapshot.Changes{Remove: []string{"X-A:1"}}), "/request/remove/headers/0 invalid_header"},
		{request(snapshot.Changes{Remove: []string{"X-A", "x-a"}}), "/request/remove/headers/1 duplicate"},
		{request(snapshot.Changes{Append: make([]string, 51)}), "/request/append/headers too_many"},
		{snapshot.Transforms{Query: snapshot.Changes{Add: []string{"a b:1"}}}, "/request/add/query/0 invalid_argument"},
		{snapshot.Transforms{Query: snapshot.Changes{Add: []string{"page"}}}, "/request/add/query/0 required"},
		{
			snapshot.Transforms{Query: snapshot.Changes{Remove: []string{"a", "A", "a"}}},
			"/request/remove/query/2 duplicate",
		},
		{
			snapshot.Transforms{Query: snapshot.Changes{Rename: []string{"a:a"}}},
			"/request/rename/query/0 invalid_argument",
		},
		{snapshot.Transforms{Query: snapshot.Changes{Replace: []string{"a:$(id)"}}},
			"/request/replace/query/0 invalid_value"},
		{snapshot.Transforms{Query: snapshot.Changes{Rename: []string{"a:$(id)"}}},
			"/request/rename/query/0 invalid_argument"},
		{response(snapshot.Changes{Replace: []string{"Set-Cookie:a=b"}}), "/response/replace/headers/0 fixed_header"},
		{response(snapshot.Changes{Remove: []string{"Content-Encoding"}}), "/response/remove/headers/0 fixed_header"},
		{response(snapshot.Changes{Remove: []string{"WWW-Authenticate"}}), "/response/remove/headers/0 fixed_header"},
		{response(snapshot.Changes{Add: []string{"Access-Control-Allow-Origin:*"}}),
			"/response/add/headers/0 fixed_header"},
		{response(snapshot.Changes{Add: []string{"X-RateLimit-Limit-Minute:1"}}),
			"/response/add/headers/0 fixed_header"},
		{response(snapshot.Changes{Add: []string{"X-Accel-Redirect:/internal"}}),
			"/response/add/headers/0 fixed_header"},
		{body("a:1", "b"), "/request/add/body/1 required"},
		{body("a b:1"), "/request/add/body/0 invalid_member"},
		{body("a:1", "a:2"), "/request/add/body/1 duplicate"},
		{body(`a":1`), "/request/add/body/0 invalid_member"},
		{body("a:b\tc"), "/request/add/body/0 invalid_value"},
		{body("a:$(b)"), "/request/add/body/0 invalid_value"},
		{body("a::b"), "/request/add/body/0 invalid_value"},
		{body("a:" + strings.Repeat("a", 1001)), "/request/add/body/0 too_long"},
		{snapshot.Transforms{Request: snapshot.Changes{Rename: []string{"Content-Type:X-A"}},
			RequestBody: snapshot.Changes{Remove: []string{"a"}}}, "/request/rename/headers/0 fixed_header"},
		{typed(`a:b\c`, snapshot.JSONString), "/response/add/body/0 invalid_value"},
		{typed("a:1", "integer"), "/response/add/body_types/0 invalid_type"},
		{typed("a:1", snapshot.JSONNumber, snapshot.JSONNumber), "/response/add/body_types invalid_type"},
		{typed("a:yes", snapshot.JSONBoolean), "/response/add/body_types/0 invalid_value"},
		{typed("a:0x10", snapshot.JSONNumber), "/response/add/body_types/0 invalid_value"},
		{typed("a:1e999", snapshot.JSONNumber), "/response/add/body_types/0 invalid_value"},
		{typed("a:123456789012345", snapshot.JSONNumber), "/response/add/body_types/0 invalid_value"},
	} {
		wrong := projects.CheckTransforms("", &tc.in)
		if len(wrong) != 1 || wrong[0].Pointer+" "+wrong[0].Code != tc.want || wrong[0].Detail == "" {
			t.Errorf("%+v: %+v, not %s", tc.in, wrong, tc.want)
		}
	}
	allowed := snapshot.Transforms{
		Request: snapshot.Changes{Remove: []string{"Cookie", "Referer"}, Append: []string{"X-A:1", "X-A:2"}},
		Query:   snapshot.Changes{Add: []string{"filter[a]:1", "a/b:c:d"}, Remove: []string{"A", "a"}},
		Response: snapshot.Changes{
			Remove: []string{"Set-Cookie", "X-Powered-By"},
			Add:    []string{"X-Frame-Options:DENY"},
		},
		RequestBody: snapshot.Changes{Add: []string{`a:ä "b" \ <c>`}},
		ResponseBody: snapshot.BodyChanges{
			Changes: snapshot.Changes{Add: []string{"a: -12.5e3 ", "b:true", "c:1"}, Append: []string{"a:1"}},
			Types: snapshot.ChangeTypes{
				Add:    []string{snapshot.JSONNumber, snapshot.JSONBoolean, snapshot.JSONString},
				Append: []string{snapshot.JSONString},
			},
		},
	}
	if wrong := projects.CheckTransforms("", &allowed); len(wrong) != 0 {
		t.Errorf("%+v", wrong)
	}
}
