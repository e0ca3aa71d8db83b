package engine

import (
	"math/bits"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// AppendField appends a header line.
func AppendField(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, ':', ' ')
	dst = append(dst, value...)
	return append(dst, '\r', '\n')
}

// AppendNumber appends a header line whose value is a number, which must not be negative. It is faster than strconv,
// which writes the digits to a buffer and copies them: each digit is written in place.
func AppendNumber(dst []byte, name string, n int64) []byte {
	dst = append(dst, name...)
	dst = append(dst, ':', ' ')
	size := digitsOf(uint64(n))
	dst = slices.Grow(dst, size+2)[:len(dst)+size]
	at := len(dst)
	for ; n > 99; n /= 100 {
		at -= 2
		copy(dst[at:at+2], pairs[n%100*2:])
	}
	if n > 9 {
		copy(dst[at-2:at], pairs[n*2:])
	} else {
		dst[at-1] = byte('0' + n)
	}
	return append(dst, '\r', '\n')
}

// digitsOf returns the number of decimal digits of n. Its bit length gives the power of ten to
// compare with (log10 of 2 is about 1233/4096).
func digitsOf(n uint64) int {
	digits := bits.Len64(n) * 1233 >> 12
	if n >= powers[digits] {
		digits++
	}
	return max(1, digits)
}

var powers = func() (powers [20]uint64) {
	for i, power := 0, uint64(1); i < len(powers); i, power = i+1, power*10 {
		powers[i] = power
	}
	return powers
}()

// pairs has the digits of the numbers from 00 to 99.
var pairs = func() string {
	var text []byte
	for n := range 100 {
		text = append(text, byte('0'+n/10), byte('0'+n%10))
	}
	return string(text)
}()

func appendLength(dst []byte, n int64) []byte { return AppendNumber(dst, "Content-Length", n) }

// statusLines has the status line of every status, written as net/http does.
var statusLines = func() (lines [1000]string) {
	for status := range lines {
		text := http.StatusText(status)
		if text == "" {
			text = "status code " + strconv.Itoa(status)
		}
		lines[status] = "HTTP/1.1 " + strconv.Itoa(status) + " " + text + "\r\n"
	}
	return lines
}()

func appendStatus(dst []byte, status int) []byte { return append(dst, statusLines[status]...) }

// date is the Date line for one second.
type date struct {
	second int64
	line   string
}

var today atomic.Pointer[date]

func appendDate(dst []byte) []byte {
	now := time.Now()
	d := today.Load()
	if d == nil || d.second != now.Unix() {
		d = &date{now.Unix(), "Date: " + now.UTC().Format(http.TimeFormat) + "\r\n"}
		today.Store(d)
	}
	return append(dst, d.line...)
}
