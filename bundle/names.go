package bundle

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/platform/fault"
)

// The naming rules of the product. Every row satisfies them. They are checked again here because names are written into
// regular expressions, file names and shell scripts, where a name that breaks a rule would be an injection.
var (
	versionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)
	prefixedID  = regexp.MustCompile(`^[a-z]{3,4}_[0-9A-Za-z-]{1,64}$`)
	hostName    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$`)
	domainKey   = regexp.MustCompile(`^[a-z0-9.-]+(/[A-Za-z0-9._~!$&'()*+,=:@-]+)*(:[A-Z]+(,[A-Z]+)*)?$`)
	ownerName   = regexp.MustCompile(`^[!-~]([ -~]{0,126}[!-~])?$`)
)

func checkProject(p *snapshot.Project) error {
	if p == nil {
		return errors.New("bundle: no project")
	}
	refuse := func(what, value string) error {
		return fault.New(
			fault.Invalid, "project_not_exportable", "%s %q doesn't follow Postern's naming rules.", what, value,
		)
	}
	switch {
	case !prefixedID.MatchString(p.ID):
		return refuse("The project ID", p.ID)
	case !contract.IsName(p.Name):
		return refuse("The project name", p.Name)
	case p.FallbackOwner != "" && !ownerName.MatchString(p.FallbackOwner):
		return refuse("The fallback owner", p.FallbackOwner)
	}
	for _, t := range p.Tenants {
		if !prefixedID.MatchString(t.ID) || !contract.IsName(t.Name) {
			return refuse("The tenant", t.ID+" "+t.Name)
		}
	}
	for _, v := range p.Versions {
		if !prefixedID.MatchString(v.ID) || !versionName.MatchString(v.Name) {
			return refuse("The version", v.ID+" "+v.Name)
		}
		for _, e := range v.Environments {
			if !prefixedID.MatchString(e.ID) || !contract.IsName(e.Name) {
				return refuse("The environment", e.ID+" "+e.Name)
			}
			for i := range e.Domains {
				if d := &e.Domains[i]; !domainKey.MatchString(d.Key()) || !hostName.MatchString(d.Host) {
					return refuse("The custom domain", d.Key())
				}
			}
			for _, one := range e.Upstream.TargetsOr(e.Target) {
				if err := checkTarget(one.URL); err != nil {
					return fault.New(fault.Invalid, "project_not_exportable",
						"The target of environment %s isn't a valid upstream URL.", e.Name).Because(err)
				}
			}
			for _, h := range e.Headers {
				if !policy.CanSetForUpstream(h.Name) {
					return refuse("The upstream header", h.Name)
				}
			}
		}
	}
	return nil
}

func checkTarget(target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return errors.New("not an absolute http or https URL without user information, query or fragment")
	}
	return nil
}

func checkKey(p *snapshot.Project, k *snapshot.Key) error {
	if k.ProjectID != p.ID {
		return fmt.Errorf("bundle: key %s belongs to project %s, not to %s", k.ID, k.ProjectID, p.ID)
	}
	if !prefixedID.MatchString(k.ID) || !ownerName.MatchString(k.Owner) {
		return fault.New(fault.Invalid, "key_not_exportable", "The key %q doesn't follow Postern's naming rules.", k.ID)
	}
	for _, t := range p.Tenants {
		if t.ID == k.TenantID {
			return nil
		}
	}
	return fmt.Errorf("bundle: key %s names tenant %s, which isn't in project %s", k.ID, k.TenantID, p.ID)
}

// maxName limits an entry name, in bytes. Ours are far shorter.
const maxName = 200

// checkName checks the name of an entry that is written or read: a relative slash path
// of plain characters that means the same on every file system.
func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("entry name of %d bytes", len(name))
	case strings.HasPrefix(name, "/"), strings.ContainsAny(name, `\:`), path.Clean(name) != name:
		return fmt.Errorf("entry name %q isn't a plain relative path", name)
	}
	for _, segment := range strings.Split(name, "/") {
		if segment == ".." || strings.HasSuffix(segment, ".") || reservedName(segment) {
			return fmt.Errorf("entry name %q isn't safe on every system", name)
		}
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`*?"<>|`, c) >= 0 {
			return fmt.Errorf("entry name %q has an unsafe character", name)
		}
	}
	return nil
}

// tenantFolder returns the folder of a tenant's files, with a slash at the end. A name that Windows reserves for a
// device gets an underscore, which tenants' names can't have, so two tenants never share a folder.
func tenantFolder(tenant string) string {
	if reservedName(tenant) {
		tenant += "_"
	}
	return "tenants/" + tenant + "/"
}

// reservedName reports whether segment is a device name of Windows, with any
// extension.
func reservedName(segment string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(segment), ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && stem[3] >= '0' &&
		stem[3] <= '9'
}
