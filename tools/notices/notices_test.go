package main

import (
	"strings"
	"testing"
)

const (
	mit = "MIT License\r\n\r\nCopyright (c) 2026 A\r\n\r\nPermission is hereby granted, free of charge, to any " +
		"person\r\n... THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY\r\n"
	gpl = "                    GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007\n"
)

func TestLicenseOf(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{mit, "MIT"},
		{"Mozilla Public License Version 2.0\n... the GNU Affero General Public License, Version 3.0", "MPL-2.0"},
		{gpl, "GPL"},
		{"Redistribution and use in source\nand binary forms, with or without", "BSD-2-Clause"},
		{"Copyright (c) 2026 A. All rights reserved.", ""},
	} {
		if got := licenseOf(tt.text); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestWrite(t *testing.T) {
	first := part{name: "example.com/a", version: "v1.0.0", texts: []text{{"LICENSE", mit}}}
	second := part{name: "example.com/b", version: "v2.0.0", texts: []text{
		{"LICENSE", strings.ReplaceAll(mit, "\r\n", "\n")}, {"NOTICE", "B says hello"},
	}}
	got, err := write([]part{first, second})
	if err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{
		"- example.com/a v1.0.0: MIT":                            1,
		"example.com/a v1.0.0 (LICENSE)\nexample.com/b v2.0.0 (": 1,
		"Copyright (c) 2026 A\n":                                 1, // the same text once
		"B says hello\n":                                         1,
		"\r":                                                     0,
	} {
		if n := strings.Count(string(got), text); n != times {
			t.Errorf("%q occurs %d times, want %d, in\n%s", text, n, times, got)
		}
	}
}

func TestWrite_refusals(t *testing.T) {
	for name, texts := range map[string][]text{
		"no license":  nil,
		"unknown":     {{"LICENSE", "All rights reserved."}},
		"copyleft":    {{"LICENSE", gpl}},
		"one of them": {{"LICENSE", mit}, {"sub/COPYING", gpl}},
	} {
		if _, err := write([]part{{name: "example.com/a", texts: texts}}); err == nil ||
			!strings.Contains(err.Error(), "example.com/a") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestIsNotice(t *testing.T) {
	for name, want := range map[string]bool{
		"LICENSE": true, "LICENSE.txt": true, "License-MIT.md": true, "COPYING": true, "NOTICE": true, "PATENTS": true,
		"license.go": false, "README.md": false, "copyright.tmpl": false,
	} {
		if got := isNotice(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
