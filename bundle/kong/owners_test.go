package kong

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

func TestConsumers_tooMany(t *testing.T) {
	for owners, want := range map[int]int{mostConsumers: mostConsumers, mostConsumers + 1: 0} {
		t.Run(strconv.Itoa(owners), func(t *testing.T) {
			in := sampleInput()
			in.Project.FallbackOwner = "owner-0"
			in.KeyCount = int64(owners)
			in.Keys = keysOfOwners(owners)
			doc := gatewayOf(t, write(t, in))
			if got := len(doc.Consumers); got != want {
				t.Errorf("%d consumers for %d owners, want %d", got, owners, want)
			}
			if got := len(doc.Plugins[0].Config.Keys); got != owners {
				t.Errorf("%d keys, want %d", got, owners)
			}
		})
	}
}

// keysOfOwners is that many keys, each of another owner.
func keysOfOwners(owners int) func(context.Context) iter.Seq2[snapshot.Key, error] {
	return func(context.Context) iter.Seq2[snapshot.Key, error] {
		return func(yield func(snapshot.Key, error) bool) {
			k := sample.Keys()["active"].Key
			for i := range owners {
				k.ID, k.Owner = fmt.Sprintf("key_%09d", i), "owner-"+strconv.Itoa(i)
				binary.BigEndian.PutUint64(k.Hash[:], uint64(i))
				if !yield(k, nil) {
					return
				}
			}
		}
	}
}

func TestConsumers_frozenUser(t *testing.T) {
	in := sampleInput()
	keys := sample.Keys()
	k := keys["active"]
	k.OwnerFrozen = true
	keys["active"] = k
	in.Keys = sample.Stream(keys)
	in.Options.Keys = bundle.KeysMint
	files := write(t, in)

	want := "key_01 tenant=tnt_1 type=kty_1 env=prod user_frozen consumer=" +
		policy.ConsumerID(sample.ProjectID, k.Owner) + " owner=" + k.Owner
	if got := gatewayOf(t, files).Plugins[0].Config.Keys[hexOf(k.Hash)]; got != want {
		t.Errorf("entry %q, want %q", got, want)
	}
	if minted := files["tenants/default/keys/minted.csv"]; strings.Contains(minted, "key_01") {
		t.Error("a new key was minted for a frozen user")
	}
	row, _, _ := strings.Cut(files["tenants/default/keys/keys.jsonl"], "\n")
	var got struct {
		State       snapshot.KeyState
		OwnerFrozen bool `json:"owner_frozen"`
	}
	if err := json.Unmarshal([]byte(row), &got); err != nil || got.State != snapshot.KeyActive || !got.OwnerFrozen {
		t.Errorf("row %s: state %s, owner_frozen %v, error %v", row, got.State, got.OwnerFrozen, err)
	}
	if !strings.Contains(files["MIGRATION-REPORT.json"], `"code":"kong.key.user_frozen"`) {
		t.Error("the ledger has no kong.key.user_frozen")
	}
}
