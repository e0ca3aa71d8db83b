// Package shipped builds the program as it is released, for the tools that measure it. tools/build decides how.
package shipped

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds the program of a checkout into a file, with the flags of the checkout's tools/build and more for
// GOFLAGS. A checkout from before tools/build is built as releases were at that time.
func Build(ctx context.Context, checkout, file string, goflags ...string) error {
	checkout, err := filepath.Abs(checkout)
	if err != nil {
		return fmt.Errorf("build %s: %w", file, err)
	}
	if file, err = filepath.Abs(file); err != nil {
		return fmt.Errorf("build %s: %w", file, err)
	}
	script := filepath.Join(checkout, "tools", "build")
	build := exec.CommandContext(ctx, script, file)
	if _, err := os.Stat(script); errors.Is(err, fs.ErrNotExist) {
		build = exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, "./cmd/postern")
	}
	build.Dir = checkout
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if len(goflags) > 0 {
		build.Env = append(build.Env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" "+strings.Join(goflags, " ")))
	}
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build ./cmd/postern of %s: %w\n%s", checkout, err, out)
	}
	return nil
}
