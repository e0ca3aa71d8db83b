package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"postern/core/policy"
	"postern/gateway/engine"
)

// tunnel joins caller and upstream after 101 until either side or watched ends it, or until it was silent for too long.
// That timeout is the upstream's connection's, which sees the bytes of both directions.
func (c *httpCall) tunnel(response *http.Response, requested bool, watched *watch) {
	backend, ok := response.Body.(*engine.Switched)
	if !ok || !requested || !strings.EqualFold(first(response.Header["Upgrade"]), "websocket") {
		// Bytes of an unrequested protocol would be read as the beginning of the next
		// response.
		c.refuse(policy.UpstreamUnreachable)
		c.warn("the upstream switched protocols without being asked", nil)
		return
	}
	c.status = response.StatusCode
	client, buffered, err := http.NewResponseController(c.w).Hijack()
	if err != nil {
		c.warn("could not take over the caller's connection", err)
		return
	}
	release(client)
	caller := tunnelEnd{Conn: client, idle: c.gateway.limits.Idle, early: buffered.Reader}
	_ = client.SetDeadline(time.Time{})
	end := func() { _ = engine.Cut(client); _ = backend.Cut() }
	watched.endBy(end)
	defer context.AfterFunc(c.gateway.closing, end)()
	defer func() { _ = client.Close() }()
	if err := c.writeSwitch(caller, response); err != nil {
		return
	}
	toUpstream, toCaller := frames{mask: true}, frames{}
	ended := make(chan struct{})
	var silent atomic.Bool
	go func() {
		defer close(ended)
		in, _ := pump(backend, caller, &toUpstream)
		c.bytesIn += in
		if !silent.Load() {
			_ = backend.Close() // wakes the other direction
		}
	}()
	out, err := pump(caller, backend, &toCaller)
	c.bytesOut += out
	if errors.Is(err, engine.ErrSilent) {
		silent.Store(true)
		_ = client.SetReadDeadline(time.Unix(1, 0)) // ends the other direction
		<-ended
		toCaller.sayGoingAway(caller)
		toUpstream.sayGoingAway(backend)
	}
	_ = client.Close()
	<-ended
}

// tunnelEnd is the caller's connection. Bytes that were buffered before the switch are read
// first, and each write has a deadline.
type tunnelEnd struct {
	net.Conn
	idle  time.Duration
	early *bufio.Reader
}

func (t tunnelEnd) Read(p []byte) (int, error) {
	if t.early.Buffered() > 0 {
		return t.early.Read(p)
	}
	return t.Conn.Read(p)
}

func (t tunnelEnd) Write(p []byte) (int, error) {
	if err := t.SetWriteDeadline(deadline(t.idle)); err != nil {
		return 0, err
	}
	return t.Conn.Write(p)
}

// pump copies until a read or a write fails, which is the regular end of a tunnel. It returns
// the number of bytes copied and the error of the read. The frames follow the bytes that were written.
func pump(to io.Writer, from io.Reader, seen *frames) (total int64, read error) {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := from.Read(buf[:])
		if n > 0 {
			written, err := to.Write(buf[:n])
			total += int64(written)
			seen.follow(buf[:written])
			if err != nil {
				return total, nil
			}
		}
		if err != nil {
			return total, err
		}
	}
}

// writeSwitch writes the upstream's 101, which net/http does not do on a hijacked connection.
func (c *httpCall) writeSwitch(to io.Writer, response *http.Response) error {
	h, upgrade := http.Header{}, response.Header["Upgrade"]
	c.withhold(response.Header)
	rewriteResponse(h, response) // removes Upgrade
	c.changeAnswer(h)
	c.setOwnLines(h, response.StatusCode)
	c.selectOwnProtocol(h)
	h["Connection"], h["Upgrade"] = upgradeOnly, upgrade
	out := bufio.NewWriter(to)
	_, err := out.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	if err := errors.Join(err, h.Write(out)); err != nil {
		return fmt.Errorf("write 101: %w", err)
	}
	_, err = out.WriteString("\r\n")
	return errors.Join(err, out.Flush())
}
