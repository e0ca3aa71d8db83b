package usage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/models"
	"postern/platform/fault"
	"postern/service/usage"
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
		list := func(filter usage.RequestFilter, page models.Page) (string, string) {
			got, err := w.Requests(t.Context(), w.owner, "shop", filter, page)
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for _, r := range got.Items {
				paths = append(paths, strings.TrimPrefix(r.Path, "/orders/"))
			}
			return strings.Join(paths, " "), got.Next
		}
		for _, tc := range []struct {
			name   string
			filter usage.RequestFilter
			want   string
		}{
			{"status", usage.RequestFilter{Status: "404"}, "403 303 203 103 3"},
			{"class", usage.RequestFilter{Status: "5xx"}, "405 305 205 105 5"},
			{"owner", usage.RequestFilter{Owner: "other"}, "405 305 205 105 5"},
			{"code", usage.RequestFilter{Code: "no_route"}, "403 303 203 103 3"},
			{"path", usage.RequestFilter{Path: "/499"}, "499"},
			{"all of them", usage.RequestFilter{Path: "/30", Status: "4xx", Code: "no_route"}, "303"},
			{"none", usage.RequestFilter{Path: "/30", Status: "4xx", Owner: "other"}, ""},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got, next := list(tc.filter, models.Page{}); got != tc.want || next != "" {
					t.Errorf("got %q and cursor %q, want %q", got, next, tc.want)
				}
			})
		}
		first, cursor := list(usage.RequestFilter{Status: "404"}, models.Page{Limit: 3})
		rest, next := list(usage.RequestFilter{Status: "404"}, models.Page{Limit: 3, Cursor: cursor})
		if first != "403 303 203" || rest != "103 3" || next != "" {
			t.Errorf("by pages: %q, %q and cursor %q", first, rest, next)
		}
		for _, status := range []string{"9xx", "4", "x", "40x", "4xx4"} {
			_, err := w.Requests(t.Context(), w.owner, "shop", usage.RequestFilter{Status: status}, models.Page{})
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("status %q: %v", status, err)
			}
		}
	})
}

func TestFollow_filtered(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.filter = usage.RequestFilter{Status: "4xx"}
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

func TestRequestByID(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.Recorder.Observe(w.call(time.Now()))
		w.Recorder.Observe(w.refused(time.Now()))
		list, err := w.Requests(t.Context(), w.owner, "shop", usage.RequestFilter{}, models.Page{})
		if err != nil || len(list.Items) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		refused, err := w.RequestByID(t.Context(), w.owner, "shop", list.Items[0].ID)
		want := []usage.RequestStep{{"route", "passed"}, {"access", "answered"}, {"limits", "not_reached"},
			{"forward", "not_reached"}}
		if diff := cmp.Diff(want, refused.Steps); err != nil || diff != "" || len(refused.Upstream) != 0 {
			t.Errorf("refused: %v, %v\n%s", err, refused.Upstream, diff)
		}
		forwarded, err := w.RequestByID(t.Context(), w.owner, "shop", list.Items[1].ID)
		if err != nil || forwarded.Steps[3] != (usage.RequestStep{Step: "forward", Outcome: "answered"}) {
			t.Errorf("forwarded: %v, %v", err, forwarded.Steps)
		}
		lines := fmt.Sprint(forwarded.Upstream)
		for _, line := range []string{"{X-Consumer-Username billing}", "{X-Credential-Identifier " + w.key.ID + "}"} {
			if !strings.Contains(lines, line) {
				t.Errorf("upstream headers %s lack %s", lines, line)
			}
		}
		for _, id := range []string{"none", list.Items[0].ID + "9", "", "x-1"} {
			if _, err := w.RequestByID(t.Context(), w.owner, "shop", id); fault.CodeOf(err) != "request_not_kept" {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}
