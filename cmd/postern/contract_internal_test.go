package main

import (
	"io"
	"reflect"
	"testing"

	"postern/cmd/internal/terminal"
	"postern/core/contract"
)

// TestNewRoot_keepsContract checks that no command changes an operation of the contract, which all commands, the API
// and the pages of a process share. A command that describes an operation in its own words changes a copy.
func TestNewRoot_keepsContract(t *testing.T) {
	t.Parallel()
	before := map[contract.Described]contract.Operation{}
	for _, op := range contract.Operations() {
		before[op] = *op.Describe()
	}
	newRoot(terminal.Terminal{Out: io.Discard, Err: io.Discard})
	for op, was := range before {
		if now := *op.Describe(); !reflect.DeepEqual(now, was) {
			t.Errorf("the commands changed %s from %+v to %+v", was.ID, was, now)
		}
	}
}
