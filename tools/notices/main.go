// Command notices writes docs/THIRD_PARTY_NOTICES, and the same compressed for the program: the license texts of all
// modules that are linked into the program, on any system that it is released for, and of the assets that others made.
//
//	go run ./tools/notices           writes the file
//	go run ./tools/notices -check    fails if the file is not up to date
//
// It reads the texts from the module cache and from static/vendor. It fails for a module without a license that it
// recognizes, and for licenses that the program must not contain.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"

	"postern/docs"
)

const file = "docs/THIRD_PARTY_NOTICES"

func main() {
	check := flag.Bool("check", false, "fail if the file is not up to date")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	parts, err := linked()
	if err != nil {
		return err
	}
	assets, err := assets()
	if err != nil {
		return err
	}
	text, err := write(append(parts, assets...))
	if err != nil {
		return err
	}
	if !check {
		compressed, err := compress(text)
		if err == nil {
			err = os.WriteFile(file, text, 0o644)
		}
		if err == nil {
			err = os.WriteFile(file+".gz", compressed, 0o644)
		}
		return err
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	embedded, err := docs.Notices()
	if err != nil {
		return err
	}
	if !bytes.Equal(committed, text) || embedded != string(text) {
		return errors.New(file + " or " + file + ".gz is not up to date: run go run ./tools/notices and commit both")
	}
	return nil
}

func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	to, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = to.Write(text)
	}
	if err == nil {
		err = to.Close()
	}
	return out.Bytes(), err
}
