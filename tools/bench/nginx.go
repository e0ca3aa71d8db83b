package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"postern/testkit/ports"
)

// prefix is what both peers take off the path: the version and environment that
// POST /proxy makes, below the project's name.
const prefix = "/bench/1.0.0/prod"

// server is an nginx that runs.
type server struct {
	*process
	addr, url string
}

// bigPath is answered with 64 KiB.
const bigPath = "/blob"

// startUpstream answers every path but bigPath with 1 KiB.
func startUpstream(dir, nginx string) (*server, error) {
	files := filepath.Join(dir, "upstream", "files")
	if err := os.MkdirAll(files, 0o755); err != nil {
		return nil, fmt.Errorf("start the upstream: %w", err)
	}
	err := os.WriteFile(filepath.Join(files, bigPath), bytes.Repeat([]byte("0123456789abcdef"), 4<<10), 0o600)
	if err != nil {
		return nil, fmt.Errorf("start the upstream: %w", err)
	}
	return startNginx(filepath.Join(dir, "upstream"), nginx, func(addr string) string {
		return fmt.Sprintf(`server {
    %s
    keepalive_requests 1000000000;
    location / { default_type text/plain; return 200 "%s"; }
    location = %s { root %s; open_file_cache max=10; sendfile on; tcp_nopush on; }
  }`, listenAll(addr), strings.Repeat("0123456789abcdef", 64), bigPath, files)
	})
}

// listenAll makes nginx listen on all addresses that calls to the upstream go to.
func listenAll(addr string) string {
	addresses, err := upstreamAddresses(addr)
	if err != nil {
		panic(err) // addr is of this program
	}
	var out strings.Builder
	for _, one := range addresses {
		fmt.Fprintf(&out, "listen %s backlog=1024;\n    ", one)
	}
	return out.String()
}

// startReference does in nginx what the gateway does: it takes the key from its
// header, looks it up among the others, refuses what it does not know, takes the
// prefix off and forwards on kept-alive connections. over is the certificate of
// TLS, nil without.
func startReference(dir, nginx, upstream string, keys []string, over *pair) (*server, error) {
	name, secure := "reference", ""
	if over != nil {
		name, secure = "reference-tls", fmt.Sprintf("ssl http2;\n    ssl_certificate %s;\n    ssl_certificate_key %s",
			over.cert, over.key)
	}
	return startNginx(filepath.Join(dir, name), nginx, func(addr string) string {
		var known strings.Builder
		for _, key := range keys {
			fmt.Fprintf(&known, "    \"%s\" 1;\n", key)
		}
		return fmt.Sprintf(`map_hash_max_size %d;
  map_hash_bucket_size 128;
  map $http_x_api_key $known {
    default 0;
%s  }
  upstream up { server %s; keepalive 128; keepalive_requests 1000000000; }
  server {
    listen %s backlog=1024 %s;
    keepalive_requests 1000000000;
    location %s/ {
      if ($known = 0) {
        add_header WWW-Authenticate 'Key realm="postern"' always;
        return 401 '{"message":"This API key isn\'t valid here.","code":"invalid_key"}';
      }
      default_type application/json;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-API-Key "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_pass http://up/;
    }
  }`, 4*len(keys), known.String(), upstream, addr, secure, prefix)
	})
}

func startNginx(dir, nginx string, site func(addr string) string) (*server, error) {
	addr, err := ports.ReserveAddress()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n" // its workers must reach the directory
	}
	config := fmt.Sprintf(`%sdaemon off;
worker_processes auto;
pid %[2]s/pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path %[2]s/body;
  proxy_temp_path %[2]s/proxy;
  fastcgi_temp_path %[2]s/fastcgi;
  uwsgi_temp_path %[2]s/uwsgi;
  scgi_temp_path %[2]s/scgi;
  %s
}
`, user, dir, site(addr))
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	p, err := start(nginx, "-e", "stderr", "-p", dir, "-c", file)
	if err != nil {
		return nil, err
	}
	if err := p.waitFor(func() bool { return listens(addr) }); err != nil {
		return nil, err
	}
	return &server{process: p, addr: addr, url: "http://" + addr}, nil
}

func listens(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
