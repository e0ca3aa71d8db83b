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
func counted(t *testing.T, api *client.Client, in contract.UsageQuery) contract.Usage {
	t.Helper()
	return testkit.Await(t, "the first call in the usage", func() (contract.Usage, bool) {
		usage, err := client.Do(t.Context(), api, contract.GetUsage, in)
		if err != nil {
			t.Fatal(err)
		}
		return usage, usage.Total.Calls > 0
	})
}

// Times and lists in the query of a request arrive.
func TestDo_query(t *testing.T) {
	api, proxy := workspace(t, start(t))
	through(t, proxy, "/one")
	in := contract.UsageQuery{
		ProjectPath: contract.ProjectPath{Project: "shop"},
		From:        time.Now().Add(-time.Hour),
		GroupBy:     []string{"hour", "owner"},
	}
	usage := counted(t, api, in)
	if usage.Total.Calls != 1 || len(usage.Items) != 1 || usage.From.Before(time.Now().Add(-2*time.Hour)) {
		t.Fatalf("usage = %+v, want one call in one item", usage)
	}
	if item := usage.Items[0]; item.Hour == nil || item.Owner == nil || item.Key != nil {
		t.Errorf("item = %+v, want an hour and an owner alone", item)
	}
	in.GroupBy = []string{"hour", "day"}
	if _, err := client.Do(t.Context(), api, contract.GetUsage, in); fault.CodeOf(err) != "invalid_group_by" {
		t.Errorf("grouped by hour and by day: %v, want the code invalid_group_by", err)
	}
}

func TestFollowRequests(t *testing.T) {
	api, proxy := workspace(t, start(t))
	through(t, proxy, "/early")
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	of := func(project string) contract.RequestList {
		return contract.RequestList{ProjectPath: contract.ProjectPath{Project: project}}
	}
	last := ""
	for next, err := range api.FollowRequests(ctx, of("shop"), "none") {
		if err != nil {
			t.Fatal(err)
		}
		last = next.Request.ID
		break
	}
	through(t, proxy, "/late")
	for next, err := range api.FollowRequests(ctx, of("shop"), last) {
		if err != nil || next.Request.Path != "/shop/1.0.0/prod/late" {
			t.Errorf("after the first: %+v, %v", next.Request, err)
		}
		break
	}
	for _, err := range api.FollowRequests(ctx, of("nope"), "") {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("of no project: %v", err)
		}
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	for next, err := range api.FollowRequests(over, of("shop"), "") {
		t.Errorf("with an ended context: %+v, %v", next, err)
	}
}
