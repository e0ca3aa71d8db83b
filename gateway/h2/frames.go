package h2

import (
	"encoding/binary"

	"golang.org/x/net/http2"
)

const frameHeader = 9

// frame is the header of a frame (RFC 9113 section 4.1).
type frame struct {
	length int
	kind   http2.FrameType
	flags  http2.Flags
	stream uint32
}

func parseFrame(p []byte) frame {
	return frame{
		length: int(p[0])<<16 | int(p[1])<<8 | int(p[2]),
		kind:   http2.FrameType(p[3]),
		flags:  http2.Flags(p[4]),
		stream: binary.BigEndian.Uint32(p[5:]) & mostWindow,
	}
}

func appendFrame(dst []byte, length int, kind http2.FrameType, flags http2.Flags, stream uint32) []byte {
	dst = append(dst, byte(length>>16), byte(length>>8), byte(length), byte(kind), byte(flags))
	return binary.BigEndian.AppendUint32(dst, stream)
}

func appendSetting(dst []byte, id http2.SettingID, value uint32) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(id))
	return binary.BigEndian.AppendUint32(dst, value)
}

func appendWindowUpdate(dst []byte, stream uint32, n int) []byte {
	dst = appendFrame(dst, 4, http2.FrameWindowUpdate, 0, stream)
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

func appendReset(dst []byte, stream uint32, code http2.ErrCode) []byte {
	dst = appendFrame(dst, 4, http2.FrameRSTStream, 0, stream)
	return binary.BigEndian.AppendUint32(dst, uint32(code))
}

func appendGoAway(dst []byte, last uint32, code http2.ErrCode) []byte {
	dst = appendFrame(dst, 8, http2.FrameGoAway, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, last)
	return binary.BigEndian.AppendUint32(dst, uint32(code))
}

// readFrame reads and handles a frame.
func (c *conn) readFrame() error {
	if err := c.need(frameHeader); err != nil {
		return err
	}
	f := parseFrame(c.in.take(frameHeader))
	switch {
	case f.length > maxReceived:
		return connError{http2.ErrCodeFrameSize, "a frame is too large"}
	case c.block.open && (f.kind != http2.FrameContinuation || f.stream != c.block.stream):
		return connError{http2.ErrCodeProtocol, "a frame within a header"}
	case !c.greeted && (f.kind != http2.FrameSettings || f.flags.Has(http2.FlagSettingsAck)):
		return connError{http2.ErrCodeProtocol, "the first frame is not SETTINGS"}
	case f.kind == http2.FrameData:
		c.whole()
		return c.readData(f)
	}
	if err := c.need(f.length); err != nil {
		return err
	}
	if err := c.handle(f, c.in.take(f.length)); err != nil {
		return err
	}
	if !c.block.open {
		c.whole()
	}
	return nil
}

// handle handles a frame other than DATA.
func (c *conn) handle(f frame, payload []byte) error {
	switch f.kind {
	case http2.FrameHeaders:
		return c.handleHeaders(f, payload)
	case http2.FrameContinuation:
		return c.handleContinuation(f, payload)
	case http2.FramePriority:
		return c.handlePriority(f, payload)
	case http2.FrameRSTStream:
		return c.handleReset(f, payload)
	case http2.FrameSettings:
		return c.handleSettings(f, payload)
	case http2.FramePushPromise:
		return connError{http2.ErrCodeProtocol, "a caller cannot push"}
	case http2.FramePing:
		return c.handlePing(f, payload)
	case http2.FrameGoAway:
		return c.handleGoAway(f, payload)
	case http2.FrameWindowUpdate:
		return c.handleWindowUpdate(f, payload)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wasted(1) // extensions are ignored (section 4.1)
}

// wasted spends the cost of frames that bring no request and no data. The caller holds c.mu.
func (c *conn) wasted(cost int) error {
	if !c.waste.spend(cost) {
		return connError{http2.ErrCodeEnhanceYourCalm, "too many frames without a request or data"}
	}
	if len(c.out) > maxControl { // answers, which the caller does not read
		return connError{http2.ErrCodeEnhanceYourCalm, "responses are not read"}
	}
	return nil
}

func (c *conn) handlePing(f frame, payload []byte) error {
	switch {
	case f.stream != 0:
		return connError{http2.ErrCodeProtocol, "PING of a stream"}
	case f.length != 8:
		return connError{http2.ErrCodeFrameSize, "PING"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !f.flags.Has(http2.FlagPingAck) {
		c.out = append(appendFrame(c.room(), 8, http2.FramePing, http2.FlagPingAck, 0), payload...)
	}
	return c.wasted(1)
}

func (c *conn) handleGoAway(f frame, payload []byte) error {
	switch {
	case f.stream != 0:
		return connError{http2.ErrCodeProtocol, "GOAWAY of a stream"}
	case len(payload) < 8:
		return connError{http2.ErrCodeFrameSize, "GOAWAY"}
	}
	c.goAway()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wasted(1)
}

// handlePriority ignores priorities, which RFC 9113 section 5.3.2 deprecates.
func (c *conn) handlePriority(f frame, payload []byte) error {
	if f.stream == 0 {
		return connError{http2.ErrCodeProtocol, "PRIORITY of no stream"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case f.length != 5:
		return c.resetStream(f.stream, http2.ErrCodeFrameSize)
	case dependsOn(payload) == f.stream:
		return c.resetStream(f.stream, http2.ErrCodeProtocol)
	}
	return c.wasted(1)
}

// dependsOn returns the stream that the payload of PRIORITY names.
func dependsOn(payload []byte) uint32 { return binary.BigEndian.Uint32(payload) & mostWindow }

func (c *conn) handleSettings(f frame, payload []byte) error {
	switch {
	case f.stream != 0:
		return connError{http2.ErrCodeProtocol, "SETTINGS of a stream"}
	case f.flags.Has(http2.FlagSettingsAck) && f.length != 0, f.length%6 != 0:
		return connError{http2.ErrCodeFrameSize, "SETTINGS"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.flags.Has(http2.FlagSettingsAck) {
		return c.wasted(1)
	}
	c.greeted = true
	initial := c.initial
	for p := payload; len(p) > 0; p = p[6:] {
		value := binary.BigEndian.Uint32(p[2:])
		switch http2.SettingID(binary.BigEndian.Uint16(p)) {
		case http2.SettingEnablePush:
			if value > 1 {
				return connError{http2.ErrCodeProtocol, "SETTINGS_ENABLE_PUSH"}
			}
		case http2.SettingInitialWindowSize:
			if value > mostWindow {
				return connError{http2.ErrCodeFlowControl, "SETTINGS_INITIAL_WINDOW_SIZE"}
			}
			initial = int64(value)
		case http2.SettingMaxFrameSize: // frames are never larger than the least that callers accept
			if value < maxFrame || value > 1<<24-1 {
				return connError{http2.ErrCodeProtocol, "SETTINGS_MAX_FRAME_SIZE"}
			}
		}
		// The table of header compression may be of any size: none is used. See appendField.
	}
	if err := c.setInitialWindow(initial); err != nil {
		return err
	}
	c.out = appendFrame(c.room(), 0, http2.FrameSettings, http2.FlagSettingsAck, 0)
	return c.wasted(1 + len(payload)/64)
}

// setInitialWindow changes the windows of all streams (RFC 9113 section 6.9.2), which may be negative after that. The
// caller holds c.mu.
func (c *conn) setInitialWindow(n int64) error {
	by := n - c.initial
	if by == 0 {
		return nil
	}
	c.initial = n
	for _, st := range c.streams {
		if st.window += by; st.window > mostWindow {
			return connError{http2.ErrCodeFlowControl, "SETTINGS_INITIAL_WINDOW_SIZE"}
		}
		st.writable.Signal()
	}
	return nil
}

func (c *conn) handleWindowUpdate(f frame, payload []byte) error {
	if f.length != 4 {
		return connError{http2.ErrCodeFrameSize, "WINDOW_UPDATE"}
	}
	by := int64(binary.BigEndian.Uint32(payload) & mostWindow)
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.stream == 0 {
		if c.window += by; by == 0 || c.window > mostWindow {
			return connError{codeOfUpdate(by), "WINDOW_UPDATE"}
		}
		c.wakeNext()
		return c.wasted(1)
	}
	if c.isIdleStream(f.stream) {
		return connError{http2.ErrCodeProtocol, "WINDOW_UPDATE of an idle stream"}
	}
	st := c.streams[f.stream]
	switch {
	case st == nil: // it may have ended while the frame was on its way
	case by == 0 || st.window+by > mostWindow:
		return c.resetStream(f.stream, codeOfUpdate(by))
	default:
		st.window += by
		st.writable.Signal()
	}
	return c.wasted(1)
}

// codeOfUpdate is the error of a change of a window that cannot be.
func codeOfUpdate(by int64) http2.ErrCode {
	if by == 0 {
		return http2.ErrCodeProtocol
	}
	return http2.ErrCodeFlowControl
}

func (c *conn) handleReset(f frame, _ []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isIdleStream(f.stream):
		return connError{http2.ErrCodeProtocol, "RST_STREAM of an idle stream"}
	case f.length != 4:
		return connError{http2.ErrCodeFrameSize, "RST_STREAM"}
	}
	st := c.streams[f.stream]
	if st == nil {
		return c.wasted(1)
	}
	c.end(st, errReset)
	return c.countReset()
}

// countReset counts a stream that ends without a response. The caller holds c.mu.
func (c *conn) countReset() error {
	if !c.broken.spend(1) {
		return connError{http2.ErrCodeEnhanceYourCalm, "too many streams are reset"}
	}
	return nil
}

// resetStream resets a stream for a fault of the caller (RFC 9113 section 5.4.2). The caller holds c.mu.
func (c *conn) resetStream(id uint32, code http2.ErrCode) error {
	c.out = appendReset(c.room(), id, code)
	c.resets[c.reset%len(c.resets)] = id
	c.reset++
	if st := c.streams[id]; st != nil {
		c.end(st, errReset)
	}
	if len(c.out) > maxControl {
		return connError{http2.ErrCodeEnhanceYourCalm, "responses are not read"}
	}
	return c.countReset()
}

// isIdleStream reports whether a stream is idle, as RFC 9113 section 5.1 calls it. After GOAWAY callers may have opened
// any. The caller holds c.mu.
func (c *conn) isIdleStream(id uint32) bool { return id%2 == 0 || id > c.lastID && !c.leaving }

// wasReset reports whether the server has reset a stream lately. The caller holds c.mu.
func (c *conn) wasReset(id uint32) bool {
	for _, one := range c.resets {
		if one == id {
			return true
		}
	}
	return false
}
