package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/testkit/ports"
)

// TestPlugin_nginx runs the exported plugin inside a real nginx with its Lua module and compares every case that the
// plugin alone decides: the answer and what the upstream gets about the caller. Routing and forwarding are Kong's part
// and belong to the other suite.
func TestPlugin_nginx(t *testing.T) {
	up := newUpstream(t)
	postern := startPostern(t, up)
	nginx := startNginx(t, export(t, up), up)
	equal, allowed := 0, 0
	for _, c := range Corpus() {
		if !c.ByPlugin {
			continue
		}
		want, got := decided(postern.send(c)), decided(nginx.send(c))
		if want.Status == http.StatusOK {
			allowed++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-postern +nginx):\n%s\n%s", c.Name, diff, shorten(c.Request))
			continue
		}
		equal++
	}
	if allowed < 20 || equal-allowed < 40 {
		t.Errorf("%d cases equal, of which %d are let through: that shows too little", equal, allowed)
	}
	t.Logf("nginx: %d cases equal, of which %d are let through", equal, allowed)
}

// decision has the inputs of the plugin's decision.
type decision struct {
	Status                             int
	Body, Code, Challenge, ContentType string
	Limits                             map[string]string
	Identity                           map[string][]string
	Spoofed                            []string
}

func decided(out outcome) decision {
	d := decision{
		Status:    out.Status,
		Code:      out.Code,
		Challenge: out.Challenge,
		Limits:    out.Limits,
		Identity:  map[string][]string{},
	}
	if out.Code != "" {
		d.Body, d.ContentType = out.Body, out.ContentType
	}
	for _, s := range out.Seen {
		for name, lines := range s.Headers {
			switch {
			case policy.IsIdentityHeader(name), policy.IsKeyHeader(name), name == "Authorization", name == "Cookie":
				d.Identity[name] = lines
			case policy.IsForwardedHeader(name) && strings.Contains(name, "_"):
				d.Spoofed = append(d.Spoofed, name)
			}
		}
	}
	sort.Strings(d.Spoofed)
	return d
}

func startNginx(t *testing.T, folder string, up *upstream) *peer {
	t.Helper()
	binary, err := exec.LookPath("nginx")
	if err != nil {
		t.Fatalf("nginx is missing (Debian: apt-get install nginx-light libnginx-mod-http-lua): %v", err)
	}
	port := ports.Port(t)
	prefix := t.TempDir()
	config := filepath.Join(prefix, "nginx.conf")
	writeFile(t, filepath.Join(prefix, "exported.lua"), "return "+exportedLua(t, folder))
	writeFile(t, config, nginxConfig(t, prefix, folder, port))
	cmd := exec.Command(binary, "-p", prefix, "-c", config, "-e", filepath.Join(prefix, "error.log"))
	if err := cmd.Start(); err != nil {
		t.Fatalf("start nginx: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			if text, err := os.ReadFile(filepath.Join(prefix, "error.log")); err == nil {
				t.Logf("nginx's log ends with:\n%s", text[max(0, len(text)-3000):])
			}
		}
	})
	p := &peer{name: "nginx", addr: fmt.Sprintf("127.0.0.1:%d", port), up: up}
	waitFor(t, "nginx", p.guarded)
	return p
}

func nginxConfig(t *testing.T, prefix, folder string, port int) string {
	t.Helper()
	shims, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	resty, err := filepath.Abs("../../bundle/kong/testdata/lua")
	if err != nil {
		t.Fatal(err)
	}
	plugins := filepath.Join(folder, "gateway", "plugins")
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;"
	}
	return fmt.Sprintf(`daemon off;
%s
worker_processes 2;
pid %[2]s/nginx.pid;
load_module %[3]s;
load_module %[4]s;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path %[2]s/body;
  proxy_temp_path %[2]s/proxy;
  fastcgi_temp_path %[2]s/fastcgi;
  uwsgi_temp_path %[2]s/uwsgi;
  scgi_temp_path %[2]s/scgi;
  underscores_in_headers on;
  lua_shared_dict postern_limits 1m;
  lua_shared_dict kong_rate_limiting_counters 1m;
  lua_package_path "%[5]s/?.lua;%[6]s/?.lua;%[7]s/?.lua;%[2]s/?.lua;;";
  server {
    listen 127.0.0.1:%[8]d;
    location / {
      set $upstream "";
      access_by_lua_block { require("shim").access(require("exported")) }
      header_filter_by_lua_block { require("shim").header_filter(require("exported")) }
      proxy_http_version 1.1;
      proxy_set_header Connection keep-alive;
      proxy_pass $upstream$is_args$args;
    }
  }
}
`, user, prefix, module(t, "ndk_http_module.so"), module(t, "ngx_http_lua_module.so"), shims, plugins, resty, port)
}

func module(t *testing.T, name string) string {
	t.Helper()
	for _, folder := range []string{"/usr/lib/nginx/modules", "/usr/share/nginx/modules"} {
		if path := filepath.Join(folder, name); exists(path) {
			return path
		}
	}
	t.Fatalf("nginx's module %s is missing (Debian: apt-get install libnginx-mod-http-lua)", name)
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// exportedLua is the plugin's configuration and the routes of gateway.yaml as a
// Lua table: Debian's nginx doesn't include JSON.
func exportedLua(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "gateway", "gateway.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Services []struct {
			Protocol, Host, Path string
			Port                 int
			Routes               []struct {
				ID           string
				Hosts, Paths []string
			}
		}
		Plugins []struct{ Config any }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("gateway.yaml: %v", err)
	}
	routes := []any{}
	for _, s := range doc.Services {
		for _, r := range s.Routes {
			hosts := map[string]any{}
			for _, host := range r.Hosts {
				hosts[host] = true
			}
			route := map[string]any{
				"id": r.ID, "regex": strings.TrimPrefix(r.Paths[0], "~"),
				"upstream": fmt.Sprintf("%s://%s:%d%s", s.Protocol, s.Host, s.Port, s.Path),
			}
			if len(hosts) > 0 {
				route["hosts"] = hosts
			}
			routes = append(routes, route)
		}
	}
	return lua(map[string]any{"routes": routes, "config": doc.Plugins[0].Config})
}

// lua writes a decoded JSON value as a Lua constructor.
func lua(v any) string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			parts = append(parts, "["+luaString(name)+"]="+lua(inner))
		}
		sort.Strings(parts)
	case []any:
		for _, inner := range v {
			parts = append(parts, lua(inner))
		}
	case string:
		return luaString(v)
	case float64:
		return fmt.Sprintf("%.3f", v)
	default:
		return fmt.Sprint(v)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func luaString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "\\%03d", c)
	}
	return b.String() + `"`
}
