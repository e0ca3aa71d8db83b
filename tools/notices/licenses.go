package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// licenses are recognized by sentences that all of them must have, without regard to case and line breaks. The first
// one that fits is taken.
var licenses = []struct {
	id        string
	sentences []string
}{
	{"MPL-2.0", []string{"mozilla public license", "2.0"}}, // names the GNU licenses
	{"AGPL", []string{"gnu affero general public license"}},
	{"LGPL", []string{"gnu lesser general public license"}},
	{"GPL", []string{"gnu general public license"}},
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"OFL-1.1", []string{"sil open font license", "version 1.1"}},
	{"BSD-3-Clause", []string{
		"redistribution and use in source and binary forms", "endorse or promote products derived from this software",
	}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"ISC", []string{
		"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",
		"provided that the above copyright notice",
	}},
	{"ISC", []string{
		"permission to use, copy, modify, and distribute this software for any purpose with or without fee",
		"provided that the above copyright notice",
	}},
	{"0BSD", []string{
		"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",
	}},
	{"MIT", []string{"permission is hereby granted, free of charge", "the software is provided \"as is\""}},
	{"Zlib", []string{"this software is provided 'as-is'", "altered source versions must be plainly marked as such"}},
	{"CC0-1.0", []string{"creative commons", "cc0 1.0"}},
	{"Unlicense", []string{"this is free and unencumbered software released into the public domain"}},
}

// forbidden are the licenses that the program must not contain: their terms would apply to all of it.
var forbidden = []string{"AGPL", "LGPL", "GPL"}

// licenseOf returns the license that a text is, by its SPDX identifier, and "" for another text.
func licenseOf(content string) string {
	plain := strings.Join(strings.Fields(strings.ToLower(content)), " ")
	for _, license := range licenses {
		if !slices.ContainsFunc(license.sentences, func(s string) bool { return !strings.Contains(plain, s) }) {
			return license.id
		}
	}
	return ""
}

// licensesOf returns the licenses of a part, and an error if there is none or a forbidden one.
func licensesOf(p part) ([]string, error) {
	var found []string
	for _, t := range p.texts {
		if id := licenseOf(t.content); id != "" && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no license that is recognized: look at it, and add its sentences to licenses",
			p.name)
	}
	for _, id := range forbidden {
		if slices.Contains(found, id) {
			return nil, fmt.Errorf("%s is licensed under the %s, which the program must not contain", p.name, id)
		}
	}
	return found, nil
}

// write returns the file: the list of parts, then each text once, with the parts that it belongs to.
func write(parts []part) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("Third-party notices\n\nPostern is licensed under the Apache License 2.0. It contains the " +
		"following software of others,\nunder the licenses below. Their source code is at the addresses given.\n\n")
	type block struct {
		content string
		of      []string
	}
	var blocks []*block
	byContent := map[string]*block{}
	for _, p := range parts {
		ids, err := licensesOf(p)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSpace(p.name + " " + p.version)
		fmt.Fprintf(&out, "- %s: %s, %s\n", name, strings.Join(ids, " and "), p.source)
		for _, t := range p.texts {
			key := strings.Join(strings.Fields(t.content), " ")
			if byContent[key] == nil {
				byContent[key] = &block{content: t.content}
				blocks = append(blocks, byContent[key])
			}
			byContent[key].of = append(byContent[key].of, name+" ("+t.name+")")
		}
	}
	for _, b := range blocks {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(b.of, "\n"), tidy(b.content))
	}
	return out.Bytes(), nil
}

// tidy removes white space at the ends of lines and of the text, and carriage returns.
func tidy(content string) string {
	lines := strings.Split(strings.TrimLeft(strings.TrimPrefix(content, "\ufeff"), "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r\f")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
