package client_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"postern/client"
	"postern/core/contract"
	"postern/platform/fault"
	"postern/testkit"
)

// through sends a call through the gateway with the bootstrap key.
func through(t *testing.T, proxy contract.Proxy, path string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, proxy.Project.Environments[0].URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-API-Key", proxy.APIKeys["prod"].Key.Reveal())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, answer.Status)
	}
}

// counted returns the usage of shop once it has a call. The gateway counts a call after
// its answer was sent, so the first query after a call may come too early.
func counted(t *testing.T, api *client.Client, query client.UsageQuery) client.Usage {
	t.Helper()
	return testkit.Await(t, "the first call in the usage", func() (client.Usage, bool) {
		usage, err := api.Usage(t.Context(), "shop", query)
		if err != nil {
			t.Fatal(err)
		}
		return usage, usage.Total.Calls > 0
	})
}

func TestEveryFieldOfUsageIsKept(t *testing.T) {
	server := start(t)
	api, proxy := workspace(t, server)
	through(t, proxy, "/one")
	usage := counted(t, api, client.UsageQuery{
		From:    time.Now().Add(-time.Hour),
		GroupBy: []string{"hour", "owner"},
	})
	if usage.Total.Calls != 1 || len(usage.Items) != 1 {
		t.Fatalf("usage = %+v, want one call in one item", usage)
	}
	if item := usage.Items[0]; item.Hour == nil || item.Owner == nil {
		t.Errorf("item = %+v, want an hour and an owner", item)
	}
	if key := usage.Items[0].Key; key != nil {
		t.Errorf("the item has the key %v, which the query did not group by", *key)
	}
	path := server + "/api/v1/projects/shop/"
	groups := "group_by=hour&group_by=environment&group_by=owner&group_by=key&group_by=route&group_by=status_class"
	same[client.Usage](t, path+"usage?"+groups, proxy.WorkspaceKey.Reveal())
	same[client.Usage](t, path+"usage?group_by=day", proxy.WorkspaceKey.Reveal())
	same[client.Requests](t, path+"requests", proxy.WorkspaceKey.Reveal())
	_, err := api.Usage(t.Context(), "shop", client.UsageQuery{GroupBy: []string{"hour", "day"}})
	if fault.CodeOf(err) != "invalid_group_by" {
		t.Errorf("grouped by hour and by day: %v, want the code invalid_group_by", err)
	}
}

func TestFollowRequests(t *testing.T) {
	api, proxy := workspace(t, start(t))
	through(t, proxy, "/early")
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	last := ""
	for next, err := range api.FollowRequests(ctx, "shop", client.RequestFilter{}, "none") {
		if err != nil {
			t.Fatal(err)
		}
		last = next.Request.ID
		break
	}
	through(t, proxy, "/late")
	for next, err := range api.FollowRequests(ctx, "shop", client.RequestFilter{}, last) {
		if err != nil || next.Request.Path != "/shop/1.0.0/prod/late" {
			t.Errorf("after the first: %+v, %v", next.Request, err)
		}
		break
	}
	for _, err := range api.FollowRequests(ctx, "nope", client.RequestFilter{}, "") {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("of no project: %v", err)
		}
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	for next, err := range api.FollowRequests(over, "shop", client.RequestFilter{}, "") {
		t.Errorf("with an ended context: %+v, %v", next, err)
	}
}
