package keyfile_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"postern/core/keyfile"
	"postern/testkit/keyfiles"
)

// counter counts the bytes that are read of a file.
type counter struct {
	io.Reader
	read int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

// endless is a file that doesn't end.
type endless struct {
	begin, unit string
	at          int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		if e.at < len(e.begin) {
			p[i] = e.begin[e.at]
		} else {
			p[i] = e.unit[(e.at-len(e.begin))%len(e.unit)]
		}
		e.at++
	}
	return len(p), nil
}

// Nothing that is read beyond a limit counts: the bytes that were read are what a file can cost.
func TestOpen_endless(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]*endless{
		"line of CSV":        {begin: "owner,key\n", unit: "a"},
		"cell":               {begin: "owner,key\na,\"", unit: "a\n"},
		"quotes":             {begin: "owner,key\n", unit: `"`},
		"columns":            {unit: "a,"},
		"cells":              {begin: "owner,key\n", unit: ","},
		"line of NDJSON":     {begin: `{"owner":"a","key":"b"}` + "\n" + `{"owner":"`, unit: "a"},
		"text of JSON":       {begin: `[{"owner":"`, unit: "a"},
		"number of JSON":     {begin: `[`, unit: "1"},
		"nested lists":       {begin: `[`, unit: "["},
		"nested objects":     {begin: `[`, unit: `{"a":`},
		"nested in document": {begin: `{"a":`, unit: `{"a":`},
		"escapes":            {begin: `["`, unit: `\"`},
		"member":             {begin: `{"`, unit: `a`},
		"names of members":   {begin: `{`, unit: `"`},
		"spaces":             {begin: `[`, unit: " "},
		"lines of NDJSON":    {begin: `{"owner":"a","key":"b"}` + "\n", unit: "\n"},
		"lines of CSV":       {begin: "owner,key\n", unit: "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := &counter{Reader: file}
			r, err := keyfile.Open(in, keyfile.Options{Now: now})
			for err == nil {
				_, _, err = r.Next()
			}
			var refused *keyfile.Error
			if !errors.As(err, &refused) || refused.Detail == "" {
				t.Fatalf("the error is %v", err)
			}
			if most := 3 << 20; in.read > most {
				t.Errorf("%d bytes were read, at most %d are needed", in.read, most)
			}
		})
	}
}

func utf16le(text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

func TestOpen_refused(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	packed := gzip.NewWriter(&bomb)
	for range 100 {
		_, _ = packed.Write(make([]byte, 1<<20))
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	csv := "owner,key\na," + strong + "\n"
	for name, c := range map[string]struct{ text, code, says string }{
		"empty":              {"", keyfile.CodeNoKeys, "empty"},
		"spaces":             {" \n\n", keyfile.CodeNoKeys, "empty"},
		"empty array":        {"[]", keyfile.CodeNoKeys, "no keys"},
		"empty list":         {`{"items":[]}`, keyfile.CodeNoKeys, "no keys"},
		"gzip":               {bomb.String(), keyfile.CodeFormat, "gunzip"},
		"zip":                {"PK\x03\x04aaaa", keyfile.CodeFormat, "CSV UTF-8"},
		"zstd":               {"\x28\xb5\x2f\xfdaaaa", keyfile.CodeFormat, "unzstd"},
		"UTF-16":             {"\xff\xfe" + string(utf16le(csv)), keyfile.CodeFormat, "iconv -f UTF-16"},
		"UTF-16, no mark":    {string(utf16le(csv)), keyfile.CodeFormat, "iconv -f UTF-16"},
		"UTF-16, big endian": {"\xfe\xff\x00o\x00w", keyfile.CodeFormat, "iconv -f UTF-16"},
		"Latin-1 header":     {"owner,cl\xe9\na,b\n", keyfile.CodeFormat, "Latin-1"},
		"NUL in the header":  {"owner,k\x00ey\na,b\n", keyfile.CodeFormat, "NUL"},
		"YAML":               {"_format_version: \"3.0\"\nconsumers:\n- username: a\n", keyfile.CodeFormat, "yq"},
		"5,000 columns":      {strings.Repeat("a,", 5000) + "\nb", keyfile.CodeLimit, "200 columns"},
		"text in JSON":       {`["` + strong + `"]`, "", ""},
		"not JSON":           {"{\n\"owner\" \"a\"\n}", keyfile.CodeFormat, "JSON"},
		"half of JSON":       {`{"data":[{"owner":"a"`, keyfile.CodeFormat, "middle of a value"},
		"list twice":         {"{\"items\":[{}],\n\"items\":[]}", keyfile.CodeRepeated, "items twice"},
		"two columns":        {"owner,key,key\na,b,c\n", keyfile.CodeRepeated, "key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, refused, _, err := read(t, []byte(c.text), nil)
			if c.code == "" {
				if err != nil || len(rows) != 0 || len(refused) != 1 ||
					strings.Contains(refused[0].Detail, strong[:5]) {
					t.Errorf("refused %+v, %v", refused, err)
				}
				return
			}
			wrong := checkError(t, err, c.code)
			if !strings.Contains(wrong.Detail, c.says) || strings.Contains(wrong.Detail, strong[:5]) {
				t.Errorf("%q doesn't say %q", wrong.Detail, c.says)
			}
		})
	}
}

// A bad row never loses the good ones.
func TestNext_badRows(t *testing.T) {
	t.Parallel()
	good := `{"owner":"a","key":"` + strong + `"}`
	deep := strings.Repeat("[", 60) + strings.Repeat("]", 60)
	for name, c := range map[string]struct{ bad, code, says string }{
		"not JSON":      {`{"owner":"a","key":}`, keyfile.CodeFormat, "JSON"},
		"NUL":           {"{\"owner\":\"a\x00\"}", keyfile.CodeFormat, "NUL"},
		"Latin-1":       {"{\"owner\":\"Andr\xe9\"}", keyfile.CodeFormat, "iconv"},
		"a text":        {`"` + strong + `"`, keyfile.CodeFormat, "object"},
		"a list":        {`["` + strong + `"]`, keyfile.CodeFormat, "object"},
		"member twice":  {`{"owner":"a","key":"x","key":"y"}`, keyfile.CodeRepeated, "twice"},
		"inside twice":  {`{"owner":"a","key":"x","metadata":{"a":[{"b":1,"b":2}]}}`, keyfile.CodeRepeated, "twice"},
		"twice by case": {`{"owner":"a","key":"x","Key":"y","OWNER":"b"}`, keyfile.CodeRepeated, "owner"},
		"deep":          {`{"metadata":` + deep + `}`, keyfile.CodeLimit, "50"},
		"values":        {`{"metadata":[` + strings.Repeat("1,", 30000) + `1]}`, keyfile.CodeLimit, "20,000"},
		"members":       {members(300), keyfile.CodeLimit, "200"},
		"surrogate":     {`{"owner":"\ud800","key":"x"}`, keyfile.CodeFormat, "surrogate"},
		"one unknown":   {good[:len(good)-1] + `,"apiToken":"x"}`, keyfile.CodeUnknown, "--map apiToken=key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, refused, _, err := read(t, []byte(good+"\n"+c.bad+"\n"+good+"\n"), nil)
			if err != nil || len(rows) != 2 || len(refused) == 0 {
				t.Fatalf("%d rows, refused %+v, %v", len(rows), refused, err)
			}
			if refused[0].Row != 2 || refused[0].Code != c.code || !strings.Contains(refused[0].Detail, c.says) {
				t.Errorf("%+v, want %s with %q", refused[0], c.code, c.says)
			}
			if rows[1].Number != 3 {
				t.Errorf("the row after it is %d", rows[1].Number)
			}
		})
	}
	rows, refused, _, err := read(t, []byte("owner,key\na,"+strong+"\nAndr\xe9,x\nb\x00,y\nb,"+strong+"\n"), nil)
	if err != nil || len(rows) != 2 || len(refused) != 2 || refused[0].Row != 3 || refused[1].Row != 4 {
		t.Errorf("%d rows, refused %+v, %v", len(rows), refused, err)
	}
	rows, refused, _, err = read(t, []byte("{\"owner\":\"a\",\"key\":\n"+good+"\n"), nil)
	if err != nil || len(rows) != 1 || len(refused) != 1 || refused[0].Row != 1 {
		t.Errorf("broken first line: %d rows, refused %+v, %v", len(rows), refused, err)
	}
}

func members(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `,"a%d":1`, i)
	}
	return `{"owner":"a"` + out.String() + `}`
}

func csvRow(i int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return fmt.Sprintf("owner-%d,%x,\"note %d\"\n", i%1000, sum[:16], i)
}

func jsonRow(i int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	return fmt.Sprintf(`{"owner":"owner-%d","key":"%x","metadata":{"n":%d}}`+"\n", i%1000, sum[:16], i)
}

// What is kept doesn't grow with the rows. A row costs the texts that it has, and nothing that stays.
func TestNext_memory(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		row    func(int) string
		most   float64
	}{
		"CSV":    {"owner,key,description\n", csvRow, 20},
		"NDJSON": {"", jsonRow, 45},
	} {
		t.Run(name, func(t *testing.T) {
			const rows = 2000
			var file strings.Builder
			file.WriteString(c.header)
			for i := range rows {
				file.WriteString(c.row(i))
			}
			perRow := testing.AllocsPerRun(3, func() {
				r, err := keyfile.Open(strings.NewReader(file.String()), keyfile.Options{Now: now})
				for err == nil {
					_, _, err = r.Next()
				}
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
			}) / rows
			if perRow > c.most {
				t.Errorf("%.1f allocations a row, at most %.0f are needed", perRow, c.most)
			}
		})
	}
}

// heap returns the memory that is in use.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func TestNext_million(t *testing.T) {
	const most = 1_000_000
	file := &endless{begin: "owner,key\n", unit: "a," + strong + "\n"}
	r, err := keyfile.Open(file, keyfile.Options{Now: now})
	rows, early := 0, uint64(0)
	for err == nil {
		var refused []keyfile.Refusal
		if _, refused, err = r.Next(); err == nil && len(refused) == 0 {
			rows++
		}
		if rows == 1000 && early == 0 {
			early = heap()
		}
	}
	if late := heap(); late > early+1<<20 {
		t.Errorf("%d bytes are in use after 1,000 rows, and %d after %d", early, late, rows)
	}
	refused := checkError(t, err, keyfile.CodeLimit)
	if rows < most || rows > most+1 || !strings.Contains(refused.Detail, "1,000,000") {
		t.Errorf("%d rows, and %s", rows, refused.Detail)
	}
	runtime.KeepAlive(r)
}

// FuzzNext checks that no file crashes the reader, and that none makes it repeat a key.
func FuzzNext(f *testing.F) {
	for _, file := range keyfiles.All() {
		f.Add(file.Text(f), "")
	}
	f.Add([]byte("owner,key\na,\"b\n"), "key=sha256")
	f.Add([]byte(`{"data":[{"a":{"b":[{}]}}],"x":1}{"items":[{}]}`), "a.b=-")
	f.Fuzz(func(t *testing.T, text []byte, mapped string) {
		mapping := map[string]string{}
		if column, field, found := strings.Cut(mapped, "="); found {
			mapping[column] = field
		}
		r, err := keyfile.Open(bytes.NewReader(text), keyfile.Options{Map: mapping, Now: now})
		last := int64(0)
		for err == nil {
			var row keyfile.Row
			var refused []keyfile.Refusal
			row, refused, err = r.Next()
			if err != nil {
				break
			}
			if row.Number < last {
				t.Fatalf("row %d comes after %d", row.Number, last)
			}
			last = row.Number
			for _, wrong := range refused {
				if wrong.Row != row.Number || wrong.Code == "" || wrong.Detail == "" {
					t.Fatalf("%+v", wrong)
				}
			}
			if len(refused) == 0 && (row.SHA256 == [32]byte{} || row.State == "" || len(row.Last4) > 4) {
				t.Fatalf("%+v", row)
			}
		}
		var wrong *keyfile.Error
		if !errors.Is(err, io.EOF) && !errors.As(err, &wrong) {
			t.Fatal(err)
		}
	})
}
