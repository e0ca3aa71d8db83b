package main

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

	"postern/platform/fault"
	"postern/platform/scratch"
)

// workspace is a project whose workspace key is kept. An unclaimed workspace has no
// other key, and a lost key cannot be recovered.
type workspace struct {
	Project   string     `json:"project"`
	ProjectID string     `json:"project_id"`
	Key       string     `json:"key"`
	ClaimCode string     `json:"claim_code,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// login is an access token from a device sign-in (RFC 8628).
type login struct {
	Token     string     `json:"token"`
	Account   string     `json:"account"` // e-mail address
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
}

// credentials is a file of workspace keys and logins by server address. A key is removed when
// its server reports that the workspace was claimed. A refused key is kept, because the
// refusing server may be the wrong one.
type credentials struct {
	path string
	told io.Writer // that an interrupted command has left something
}

// credentialsFile is where this user's keys are kept: in POSTERN_CONFIG_DIR, or
// in a folder of the user's configuration directory.
func credentialsFile(t terminal) (credentials, error) {
	dir := t.variable("POSTERN_CONFIG_DIR")
	if dir == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return credentials{}, fmt.Errorf("there is no place for credentials (%w): name one with "+
				"POSTERN_CONFIG_DIR", err)
		}
		dir = filepath.Join(base, "postern")
	}
	return credentials{path: filepath.Join(dir, "credentials.json"), told: t.err}, nil
}

type credentialsContent struct {
	Servers map[string][]workspace `json:"servers"`
	Logins  map[string]login       `json:"logins,omitempty"`
}

// loginOf returns the login kept for a server, or nil.
func (c credentials) loginOf(server string) (*login, error) {
	content, err := c.read()
	if kept, ok := content.Logins[server]; ok {
		return &kept, err
	}
	return nil, err
}

// keepLogin replaces the login of a server; nil removes it.
func (c credentials) keepLogin(server string, l *login) error {
	return c.change(func(content *credentialsContent) {
		if content.Logins == nil {
			content.Logins = map[string]login{}
		}
		delete(content.Logins, server)
		if l != nil {
			content.Logins[server] = *l
		}
	})
}

// forgetClaimed removes the workspace of a used claim code; its key is no longer valid.
func (c credentials) forgetClaimed(server, code string) error {
	return c.change(func(content *credentialsContent) {
		content.Servers[server] = slices.DeleteFunc(
			content.Servers[server], func(w workspace) bool { return w.ClaimCode == code },
		)
	})
}

func (c credentials) change(fn func(*credentialsContent)) error {
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
func (c credentials) lock() (unlock func(), err error) {
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("cannot keep credentials (%w): name another place with POSTERN_CONFIG_DIR", err)
	}
	unlock, err = lockedfile.MutexAt(c.path + ".lock").Lock()
	if err != nil {
		return nil, fmt.Errorf("cannot keep credentials: %w", err)
	}
	return unlock, nil
}

// of returns the workspaces of a server, in the order of their creation.
func (c credentials) of(server string) ([]workspace, error) {
	content, err := c.read()
	return content.Servers[server], err
}

func (c credentials) read() (credentialsContent, error) {
	content := credentialsContent{Servers: map[string][]workspace{}}
	text, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return content, nil
	}
	if err != nil {
		return content, fmt.Errorf("cannot read the credentials: %w", err)
	}
	if err := json.Unmarshal(text, &content); err != nil {
		// The parser's text is left out: it may quote a secret from the file.
		return content, fmt.Errorf("%s is damaged: correct it or move it away", c.path)
	}
	if content.Servers == nil {
		content.Servers = map[string][]workspace{}
	}
	return content, nil
}

// keeping locks the file, runs create and stores the returned workspace. It fails before
// create runs if the file cannot be written, since the created key is shown only once.
func (c credentials) keeping(server string, create func() (*workspace, error)) error {
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

// prepare checks that the file can be written.
func (c credentials) prepare() error {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	return canCreate(c.told, filepath.Dir(c.path))
}

func (c credentials) write(content credentialsContent) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(c.path, func(f *os.File) error {
		_, err := f.Write(append(text, '\n'))
		return err
	})
}

// canCreate checks that files can be created in a directory, and removes what interrupted commands left there.
func canCreate(told io.Writer, dir string) error {
	sweep(told, dir)
	probe, err := scratch.File(dir)
	if err != nil {
		return err
	}
	scratch.Discard(probe)
	return nil
}

// sweep removes what interrupted commands left in a directory, "" for the one of temporary files, and says so.
func sweep(told io.Writer, dir string) {
	removed, err := scratch.Sweep(dir)
	for _, path := range removed {
		fmt.Fprintf(told, "Removed %s, which an interrupted command left behind.\n", printable(path))
	}
	if err != nil {
		fmt.Fprintf(told, "Cannot remove what an interrupted command left behind: %v\n", err)
	}
}

// writeFile writes a file, mode 0600, atomically.
func writeFile(path string, fill func(*os.File) error) error {
	part, err := scratch.File(filepath.Dir(path))
	if err != nil {
		return err
	}
	if err := fill(part); err != nil {
		scratch.Discard(part)
		return err
	}
	return scratch.Place(part, path)
}

func noCredential(server string) error {
	return fault.New(fault.Unauthenticated, "credentials_required",
		"no credential for %s is stored on this machine: sign in with `postern login`, "+
			"create a proxy with `postern create`, or set POSTERN_TOKEN", server)
}
