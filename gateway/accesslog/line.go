package accesslog

import (
	"strconv"
	"time"
	"unicode/utf8"

	"postern/core/policy"
	"postern/gateway"
)

// maxText bounds a text of a line, in bytes.
const maxText = 2 << 10

// appendLine appends the line of a call, with the line's end. Members without a value are
// left out.
func appendLine(b []byte, out gateway.Outcome) []byte {
	b = append(b, `{"time":"`...)
	b = out.Start.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z07:00")
	b = append(b, `","method":`...)
	b = appendText(b, out.Method)
	b = append(b, `,"path":`...)
	b = appendText(b, policy.MaskKeys(out.Path))
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(out.Status), 10)
	for _, member := range [...]struct{ name, value string }{
		{`,"code":`, out.Code},
		{`,"step":`, out.Step},
		{`,"project":`, out.ProjectID},
		{`,"version":`, out.VersionID},
		{`,"environment":`, out.EnvironmentID},
		{`,"route":`, out.Route},
		{`,"owner":`, out.Owner},
		{`,"credential":`, out.CredentialID},
		{`,"client":`, out.RemoteIP},
		{`,"host":`, out.Host},
		{`,"trace_id":`, out.TraceID},
	} {
		if member.value != "" {
			b = append(b, member.name...)
			b = appendText(b, member.value)
		}
	}
	b = append(b, `,"bytes_in":`...)
	b = strconv.AppendInt(b, out.BytesIn, 10)
	b = append(b, `,"bytes_out":`...)
	b = strconv.AppendInt(b, out.BytesOut, 10)
	if out.FirstByte > 0 {
		b = append(b, `,"first_byte_ms":`...)
		b = appendMilliseconds(b, out.FirstByte)
	}
	b = append(b, `,"duration_ms":`...)
	b = appendMilliseconds(b, out.Duration)
	return append(b, "}\n"...)
}

func appendMilliseconds(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, float64(d.Microseconds())/1000, 'f', -1, 64)
}

const hexadecimal = "0123456789abcdef"

// appendText appends a JSON string (RFC 8259, section 7). Bytes that are not UTF-8 become
// U+FFFD, and a long text is cut off.
func appendText(b []byte, text string) []byte {
	if len(text) > maxText {
		text = text[:maxText]
	}
	b = append(b, '"')
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexadecimal[c>>4], hexadecimal[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(b, `\ufffd`...)
			} else {
				b = append(b, text[i:i+size]...)
			}
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}
