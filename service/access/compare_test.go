package access_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/service/access"
)

type sealed string

func (s sealed) Reveal() string { return string(s) }

type part struct {
	Name   string `audit:"-"`
	Target string
}

// Base has fields of the structs that embed it.
type Base struct{ Label string }

type rule struct{ Mode string }

type thing struct {
	Base

	Rule         rule `audit:"each"`
	ID           string
	DisplayName  string
	AllowedCIDRs []string
	Frozen       bool
	Until        *time.Time
	Hash         []byte
	PasswordHash string
	ClientKey    sealed
	Kept         string `audit:"-"`
	Parts        []part
	UpdatedAt    time.Time
}

func TestCompare_hiddenSecrets(t *testing.T) {
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	was := thing{
		ID:           "a",
		DisplayName:  "Shop",
		Hash:         []byte("canary-1"),
		PasswordHash: "canary-2",
		ClientKey:    "canary-3",
		Kept:         "canary-4",
		Parts:        []part{{"prod", "http://a"}, {"gone", "http://b"}, {"same", "http://c"}},
	}
	is := thing{
		Base:         Base{Label: "new"},
		Rule:         rule{Mode: "deny"},
		ID:           "b",
		DisplayName:  "Shop",
		AllowedCIDRs: []string{"10.0.0.0/8"},
		Frozen:       true,
		Until:        &until,
		Hash:         []byte("canary-5"),
		PasswordHash: "canary-6",
		ClientKey:    "canary-7",
		Kept:         "canary-8",
		Parts:        []part{{"prod", "http://d"}, {"same", "http://c"}},
		UpdatedAt:    until,
	}
	got, err := access.Compare(was, is)
	want := map[string]contract.AuditChange{
		"label":             {Before: nil, After: "new"},
		"rule/mode":         {Before: nil, After: "deny"},
		"allowed_cidrs":     {Before: nil, After: []any{"10.0.0.0/8"}},
		"frozen":            {Before: false, After: true},
		"until":             {Before: nil, After: "2026-01-02T03:04:05Z"},
		"hash":              {Before: "***", After: "***"},
		"password_hash":     {Before: "***", After: "***"},
		"client_key":        {Before: "***", After: "***"},
		"parts/prod/target": {Before: "http://a", After: "http://d"},
		"parts/gone/target": {Before: "http://b", After: nil},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, changes (-want +got):\n%s", err, diff)
	}
	made, err := access.Compare(nil, &was)
	if diff := cmp.Diff(contract.AuditChange{
		Before: nil,
		After:  "***",
	}, made["client_key"]); err != nil || diff != "" || len(made) != 7 {
		t.Errorf("error %v, of something new:\n%s\n%v", err, diff, made)
	}
	if _, err := access.Compare(part{}, thing{}); err == nil {
		t.Error("two kinds of thing were compared")
	}
}
