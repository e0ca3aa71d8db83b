// Package credentials keeps workspace keys, logins and the current context in a file of this machine. It owns the
// file's format, its lock and its place. It doesn't send them anywhere: package cli chooses one for a request.
package credentials

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"postern/cmd/internal/terminal"
)

// Workspace is a project whose workspace key is kept. An unclaimed workspace has no
// other key, and a lost key cannot be recovered.
type Workspace struct {
	Project   string     `json:"project"`
	ProjectID string     `json:"project_id"`
	Key       string     `json:"key"`
	ClaimCode string     `json:"claim_code,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// Login is an access token from a device sign-in (RFC 8628).
type Login struct {
	Token     string     `json:"token"`
	Account   string     `json:"account"` // email address
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// File is a file of workspace keys and logins by server address. A key is removed when
// its server reports that the workspace was claimed. A refused key is kept, because the
// refusing server may be the wrong one.
type File struct {
	Path string
	told io.Writer // that an interrupted command has left something
}

// Open is where this user's keys are kept: in POSTERN_CONFIG_DIR, or
// in a folder of the user's configuration directory.
func Open(t terminal.Terminal) (File, error) {
	dir := t.Variable("POSTERN_CONFIG_DIR")
	if dir == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return File{}, fmt.Errorf("there is no directory for credentials (%w): set POSTERN_CONFIG_DIR", err)
		}
		dir = filepath.Join(base, "postern")
	}
	return File{Path: filepath.Join(dir, "credentials.json"), told: t.Err}, nil
}

type content struct {
	Servers map[string][]Workspace `json:"servers"`
	Logins  map[string]Login       `json:"logins,omitempty"`
	Current string                 `json:"current,omitempty"` // URL of the server that commands use
}

// LoginOf returns the login kept for a server, or nil.
func (c File) LoginOf(server string) (*Login, error) {
	content, err := c.read()
	if kept, ok := content.Logins[server]; ok {
		return &kept, err
	}
	return nil, err
}

// KeepLogin replaces the login of a server, which commands use from then on; nil removes it.
func (c File) KeepLogin(server string, l *Login) error {
	return c.change(func(content *content) {
		if content.Logins == nil {
			content.Logins = map[string]Login{}
		}
		delete(content.Logins, server)
		if l != nil {
			content.Logins[server] = *l
			content.Current = server
		}
	})
}

// ForgetClaimed removes the workspace of a used claim code; its key is no longer valid.
func (c File) ForgetClaimed(server, code string) error {
	return c.change(func(content *content) {
		content.Servers[server] = slices.DeleteFunc(
			content.Servers[server], func(w Workspace) bool { return w.ClaimCode == code },
		)
	})
}

func (c File) change(fn func(*content)) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	content, err := c.read()
	if err != nil {
		return err
	}
	fn(&content)
	return c.write(content)
}

// lock checks that the file can be written, and locks it against other processes.
func (c File) lock() (unlock func(), err error) {
	if err := c.Prepare(); err != nil {
		return nil, fmt.Errorf("cannot store credentials (%w): set POSTERN_CONFIG_DIR to another directory", err)
	}
	unlock, err = lockedfile.MutexAt(c.Path + ".lock").Lock()
	if err != nil {
		return nil, fmt.Errorf("cannot store credentials: %w", err)
	}
	return unlock, nil
}

// WorkspacesOf returns the workspaces of a server, in the order of their creation.
func (c File) WorkspacesOf(server string) ([]Workspace, error) {
	content, err := c.read()
	return content.Servers[server], err
}

func (c File) read() (content, error) {
	content := content{Servers: map[string][]Workspace{}}
	text, err := os.ReadFile(c.Path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return content, nil
	}
	if err != nil {
		return content, fmt.Errorf("cannot read the credentials: %w", err)
	}
	if err := json.Unmarshal(text, &content); err != nil {
		// The parser's text is left out: it may quote a secret from the file.
		return content, fmt.Errorf("%s is damaged: fix it, or move it away and sign in again", c.Path)
	}
	if content.Servers == nil {
		content.Servers = map[string][]Workspace{}
	}
	return content, nil
}

// Keeping locks the file, runs create and stores the returned workspace. It fails before
// create runs if the file cannot be written, since the created key is shown only once.
func (c File) Keeping(server string, create func() (*Workspace, error)) error {
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	defer unlock()
	content, err := c.read()
	if err != nil {
		return err
	}
	made, err := create()
	if err != nil || made == nil {
		return err
	}
	content.Servers[server] = append(content.Servers[server], *made)
	return c.write(content)
}

// Prepare checks that the file can be written.
func (c File) Prepare() error {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return err
	}
	return terminal.CanCreate(c.told, filepath.Dir(c.Path))
}

func (c File) write(content content) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return terminal.WriteFile(c.Path, func(f *os.File) error {
		_, err := f.Write(append(text, '\n'))
		return err
	})
}
