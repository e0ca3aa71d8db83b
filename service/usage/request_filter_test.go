package usage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

func TestRequests_filtered(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for i := range 500 {
			call := w.call(time.Now())
			call.Path = fmt.Sprintf("/orders/%d", i)
			switch i % 100 {
			case 3:
				call.Status, call.Code, call.Owner = 404, "no_route", ""
			case 5:
				call.Status, call.Owner = 503, "other"
			}
			w.Recorder.Observe(call)
		}
		list := func(filter contract.RequestFilter, page contract.Page) (string, *string) {
			w.filter = filter
			got, err := w.Requests(t.Context(), w.owner, w.list(page))
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for _, r := range got.Items {
				paths = append(paths, strings.TrimPrefix(r.Path, "/orders/"))
			}
			return strings.Join(paths, " "), got.NextCursor
		}
		for _, tc := range []struct {
			name   string
			filter contract.RequestFilter
			want   string
		}{
			{"status", contract.RequestFilter{Status: "404"}, "403 303 203 103 3"},
			{"class", contract.RequestFilter{Status: "5xx"}, "405 305 205 105 5"},
			{"owner", contract.RequestFilter{Owner: "other"}, "405 305 205 105 5"},
			{"code", contract.RequestFilter{Code: "no_route"}, "403 303 203 103 3"},
			{"path", contract.RequestFilter{Path: "/499"}, "499"},
			{"all of them", contract.RequestFilter{Path: "/30", Status: "4xx", Code: "no_route"}, "303"},
			{"none", contract.RequestFilter{Path: "/30", Status: "4xx", Owner: "other"}, ""},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got, next := list(tc.filter, contract.Page{}); got != tc.want || next != nil {
					t.Errorf("got %q and cursor %v, want %q", got, next, tc.want)
				}
			})
		}
		first, cursor := list(contract.RequestFilter{Status: "404"}, contract.Page{Limit: 3})
		rest, next := list(contract.RequestFilter{Status: "404"}, contract.Page{Limit: 3, Cursor: *cursor})
		if first != "403 303 203" || rest != "103 3" || next != nil {
			t.Errorf("by pages: %q, %q and cursor %v", first, rest, next)
		}
		for _, status := range []string{"9xx", "4", "x", "40x", "4xx4"} {
			w.filter = contract.RequestFilter{Status: status}
			_, err := w.Requests(t.Context(), w.owner, w.list(contract.Page{}))
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("status %q: %v", status, err)
			}
		}
	})
}

func TestFollow_filtered(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.filter = contract.RequestFilter{Status: "4xx"}
		r := w.follow("")
		defer r.stop()
		w.Recorder.Observe(w.call(time.Now()))
		w.Recorder.Observe(w.refused(time.Now()))
		w.Recorder.Observe(w.call(time.Now()))
		if _, last, missed := r.take(t, 1); last.Status != 401 || missed != 0 {
			t.Errorf("got %+v, %d missed", last, missed)
		}
	})
}

func TestRequest(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.Recorder.Observe(w.call(time.Now()))
		w.Recorder.Observe(w.refused(time.Now()))
		list, err := w.Requests(t.Context(), w.owner, w.list(contract.Page{}))
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		get := func(id string) (contract.RequestDetail, error) {
			return w.Request(t.Context(), w.owner, contract.RequestPath{ProjectPath: shop, Request: id})
		}
		refused, err := get(list.Items[0].ID)
		want := []contract.RequestStep{
			{Step: "route", Outcome: "passed"}, {Step: "access", Outcome: "answered"},
			{Step: "limits", Outcome: "not_reached"}, {Step: "forward", Outcome: "not_reached"},
		}
		if diff := cmp.Diff(want, refused.Steps); err != nil || diff != "" || len(refused.UpstreamHeaders) != 0 {
			t.Errorf("refused: %v, %v\n%s", err, refused.UpstreamHeaders, diff)
		}
		waiting := w.call(time.Now())
		waiting.Forwarded, waiting.Status = false, 499
		w.Recorder.Observe(waiting)
		list, err = w.Requests(t.Context(), w.owner, w.list(contract.Page{}))
		if err != nil || len(list.Items) != 3 {
			t.Fatalf("%+v, %v", list, err)
		}
		left, err := get(list.Items[0].ID)
		if err != nil || left.Step != "forward" || len(left.UpstreamHeaders) != 0 {
			t.Errorf("the caller left before the upstream was asked: %v, %v", err, left)
		}
		forwarded, err := get(list.Items[2].ID)
		if err != nil || forwarded.Steps[3] != (contract.RequestStep{Step: "forward", Outcome: "answered"}) {
			t.Errorf("forwarded: %v, %v", err, forwarded.Steps)
		}
		lines := fmt.Sprint(forwarded.UpstreamHeaders)
		for _, line := range []string{"{X-Consumer-Username billing}", "{X-Credential-Identifier " + w.key.ID + "}"} {
			if !strings.Contains(lines, line) {
				t.Errorf("upstream headers %s lack %s", lines, line)
			}
		}
		for _, id := range []string{"none", list.Items[0].ID + "9", "", "x-1"} {
			if _, err := get(id); fault.CodeOf(err) != "request_not_kept" {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}
