package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"postern/testkit/ports"
)

// realServer is a server that many APIs run on, with its defaults. It closes idle connections.
type realServer struct {
	name    string
	closes  time.Duration // when it closes an idle connection
	reuse   time.Duration // reuse_idle_ms that suits it, as docs/upstreams.md says; 0: the default
	program string        // looked for in PATH, in /usr/sbin, and in the virtual environment of this directory
	files   map[string]string
	args    func(dir, port string) []string
}

// realServers are the servers. Each answers every path.
var realServers = []realServer{
	{
		name: "Node.js", closes: 5 * time.Second, program: "node",
		files: map[string]string{"app.js": `require('http').createServer((request, response) => {
  request.resume().on('end', () => response.end('ok'));
}).listen(+process.argv[2], '127.0.0.1');
`},
		args: func(dir, port string) []string { return []string{filepath.Join(dir, "app.js"), port} },
	},
	{
		name: "uvicorn", closes: 5 * time.Second, program: "uvicorn",
		files: map[string]string{"app.py": `async def app(scope, receive, send):
    assert scope["type"] == "http"
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})
`},
		args: func(dir, port string) []string {
			return []string{"app:app", "--app-dir", dir, "--port", port, "--lifespan", "off", "--no-access-log"}
		},
	},
	{
		// The default worker closes the connection after each response. Only the other kinds keep it.
		name: "gunicorn", closes: 2 * time.Second, reuse: 1500 * time.Millisecond, program: "gunicorn",
		files: map[string]string{"app.py": `def app(environ, start_response):
    environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
`},
		args: func(dir, port string) []string {
			return []string{
				"--worker-class", "gthread", "--threads", "4", "--chdir", dir, "--bind", "127.0.0.1:" + port,
				"--no-control-socket", "app:app",
			}
		},
	},
	{
		name: "Apache", closes: 5 * time.Second, program: "apache2",
		files: map[string]string{"orders": "ok", "httpd.conf": `ServerName localhost
PidFile pid
ErrorLog /dev/stderr
DocumentRoot ${FILES}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
`},
		args: func(dir, port string) []string {
			return []string{
				"-DFOREGROUND", "-d", dir, "-f", filepath.Join(dir, "httpd.conf"),
				"-C", "Define FILES " + dir, "-C", "Listen 127.0.0.1:" + port,
			}
		},
	},
	{
		name: "nginx", closes: 75 * time.Second, program: "nginx",
		files: map[string]string{"nginx.conf": `daemon off;
pid nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  include port.conf;
}
`},
		args: func(dir, _ string) []string {
			return []string{"-e", "stderr", "-p", dir, "-c", filepath.Join(dir, "nginx.conf")}
		},
	},
}

// pythonPrograms is the virtual environment that `tools/setup load` makes from requirements.txt.
const pythonPrograms = "tools/load/venv/bin"

func (r realServer) path() (string, error) {
	if path, err := exec.LookPath(r.program); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", pythonPrograms} {
		if path, err := filepath.Abs(filepath.Join(dir, r.program)); err == nil {
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s isn't installed (run tools/setup load)", r.program)
}

// running is a server's process.
type running struct {
	cmd    *exec.Cmd
	output bytes.Buffer // read when it has ended
	gone   chan struct{}
	addr   string
}

// start runs the server in its own directory and waits until it listens.
func (r realServer) start(dir string) (*running, error) {
	program, err := r.path()
	if err != nil {
		return nil, err
	}
	port, err := ports.Reserve()
	if err != nil {
		return nil, err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	// nginx has no variables for the address that it listens on.
	files := map[string]string{"port.conf": fmt.Sprintf("server { listen %s; location / { return 200 ok; } }", addr)}
	for name, text := range r.files {
		files[name] = text
	}
	// The workers of nginx and Apache, which don't run as root, read the directory.
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		return nil, fmt.Errorf("start %s: %w", r.name, err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, fmt.Errorf("start %s: %w", r.name, err)
		}
	}
	p := &running{cmd: exec.Command(program, r.args(dir, strconv.Itoa(port))...), gone: make(chan struct{}), addr: addr}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = &p.output, &p.output, dir
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", r.name, err)
	}
	go func() { defer close(p.gone); _ = p.cmd.Wait() }()
	for late := time.After(30 * time.Second); ; {
		if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			_ = conn.Close()
			return p, nil
		}
		select {
		case <-p.gone:
			return nil, fmt.Errorf("%s ended before it listened:\n%s", r.name, p.output.String())
		case <-late:
			p.stop()
			return nil, fmt.Errorf("%s didn't listen after 30 s:\n%s", r.name, p.output.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (p *running) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.gone:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.gone
	}
}
