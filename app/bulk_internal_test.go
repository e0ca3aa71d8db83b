package app

import (
	"bytes"
	"context"
	"encoding/gob"
	"io"
	"net/netip"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"postern/models"
	"postern/platform/config"
	"postern/platform/fault"
)

// The other process reads all fields of an order: gob leaves none out.
func TestExportOrder(t *testing.T) {
	c := config.Default()
	c.DatabaseURL, c.SecretsKey = "postgres://postern:canary@db.internal/postern", "canary"
	c.Trusted = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	want := exportOrder{c, "test", models.Export{ID: "exp_1", Secrets: true, FileKey: []byte("sealed")}}
	want.Config.AccessLog = config.AccessLog{} // has the text of its flags, which has been parsed
	var pipe bytes.Buffer
	if err := gob.NewEncoder(&pipe).Encode(want); err != nil {
		t.Fatal(err)
	}
	var got exportOrder
	if err := gob.NewDecoder(&pipe).Decode(&got); err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true }),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }))
	if diff != "" {
		t.Errorf("(-sent +read):\n%s", diff)
	}
}

func TestBulkExports_failures(t *testing.T) {
	run := func(script string) error {
		b := bulkExports{config: config.Default(), command: func(ctx context.Context) *exec.Cmd {
			return exec.CommandContext(ctx, "sh", "-c", script)
		}}
		_, err := b.write(t.Context(), models.Export{}, io.Discard, func(string, int64, int64) {})
		return err
	}
	if err := run("echo boom >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "boom") ||
		!strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a process that died: %v", err)
	}
	var frames bytes.Buffer
	refused := fault.InvalidField("/recipient", "bad", "No.")
	w := frameWriter{to: gob.NewEncoder(&frames)}
	if err := w.send(exportFrame{Failed: &exportFailure{"the cause", refused}}); err != nil {
		t.Fatal(err)
	}
	_, err := readExport(&frames, io.Discard, nil)
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "the cause") {
		t.Errorf("a refusal: %v", err)
	}
}
