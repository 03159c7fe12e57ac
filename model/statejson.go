package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// MarshalJSON writes the base fluents in the model's order, null for unknown:
// {"in_lb(api)": true, "replicas(api)": 3, "ready(db)": null}. Of a fluent kept
// sparsely, unknown instances are left out.
func (s *State) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for f, i := range s.instances {
		if len(b) > 1 {
			b = append(b, ", "...)
		}
		b = appendJSON(b, s.u.Text(Atom{f, s.u.Args(f, i)}))
		b = append(b, ": "...)
		b = s.appendValue(b, f, s.get(f, i))
	}
	return append(b, '}'), nil
}

// instances yields what MarshalJSON writes: fluents with instances' positions.
func (s *State) instances(yield func(*Fluent, uint64) bool) {
	for _, f := range s.u.Fluents {
		if f.Derived != nil {
			continue
		}
		if st := s.f[f.id]; st.sparse != nil && !st.rest.Known() {
			for _, i := range slices.Sorted(slices.Values(st.sparse.keys)) {
				if !yield(f, i) {
					return
				}
			}
			continue
		}
		for args := range s.u.Instances(f.Params) {
			if !yield(f, s.u.Index(f, args)) {
				return
			}
		}
	}
}

func (s *State) appendValue(b []byte, f *Fluent, v Value) []byte {
	switch v.kind {
	case KindBool:
		return strconv.AppendBool(b, v.num != 0)
	case KindNumber:
		return append(b, FormatNumber(v.num)...)
	case KindString:
		return appendJSON(b, v.str)
	case KindObject:
		return appendJSON(b, s.u.Name(f.Type, v.Object()))
	}
	return append(b, "null"...)
}

// appendJSON writes a string without escaping what only HTML would need.
func appendJSON(b []byte, s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string has a JSON form, whatever it holds
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// maxKey is how many bytes a key of a JSON state has at most. An atom has far
// fewer, and an error is told at once where one has far more.
const maxKey = 4 << 10

// ParseState reads a state as JSON: the bare object that [State.MarshalJSON]
// writes, or a document {"state": {…}, …} as observing prints it. What is
// missing is unknown. A byte order mark in front is skipped. The error names the
// place and the key.
func (u *Universe) ParseState(data []byte) (*State, error) {
	s := u.NewState(false)
	seen := map[leafKey]bool{}
	err := eachFact(data, func(key string, value json.Token) error {
		a, err := u.stateAtom(key)
		if err != nil {
			return err
		}
		k := leafKey{a.Fluent, u.Index(a.Fluent, a.Args)}
		if seen[k] {
			return errors.New("it is given twice")
		}
		seen[k] = true
		v, err := u.stateValue(a.Fluent, value)
		if err != nil {
			return err
		}
		s.Set(a, v)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// stateAtom looks up the base atom that a key names.
func (u *Universe) stateAtom(key string) (Atom, error) {
	name, args, err := ParseAtom(key)
	if err != nil {
		return Atom{}, err
	}
	a, err := u.FindAtom(name, args)
	if err == nil && a.Fluent.Derived != nil {
		return Atom{}, fmt.Errorf("%s is derived from other fluents and takes no value; leave it out", name)
	}
	return a, err
}

// stateValue converts a JSON scalar to a value of the fluent.
func (u *Universe) stateValue(f *Fluent, t json.Token) (Value, error) {
	switch x := t.(type) {
	case nil:
		return Value{}, nil
	case bool:
		if f.Kind == KindBool {
			return BoolValue(x), nil
		}
	case json.Number:
		if f.Kind == KindNumber {
			n, err := x.Float64()
			if err != nil {
				return Value{}, fmt.Errorf("%s is too large a number", x)
			}
			return NumberValue(n), nil
		}
	case string:
		switch f.Kind {
		case KindString:
			return StringValue(x), nil
		case KindObject:
			o, err := u.findObject(f.Type, x)
			return ObjectValue(o), err
		}
	}
	return Value{}, fmt.Errorf("expected %s or null, got %s", kindForm(f), tokenText(t))
}

func kindForm(f *Fluent) string {
	switch f.Kind {
	case KindBool:
		return "true, false"
	case KindObject:
		return "the name of " + article(f.Type.String())
	}
	return "a " + f.Kind.String()
}

func tokenText(t json.Token) string {
	switch x := t.(type) {
	case nil:
		return "null"
	case json.Delim:
		if x == '{' {
			return "an object"
		}
		return "a list"
	case string:
		if len(x) > 60 {
			return "a long string"
		}
		return fmt.Sprintf("%q", x)
	}
	return fmt.Sprint(t)
}

// eachFact calls visit for each key and scalar of a JSON state, in the order
// written. Errors are given their place. A byte order mark in front is skipped.
func eachFact(data []byte, visit func(key string, value json.Token) error) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r := &factReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), visit: visit}
	r.dec.UseNumber()
	t, err := r.dec.Token()
	if err != nil {
		return r.malformed(err)
	}
	if t != json.Delim('{') {
		return r.errorf(`expected an object such as {"ready(db)": true}, got %s`, tokenText(t))
	}
	document, err := r.object(true)
	if err != nil {
		return err
	}
	if r.sources && !document {
		return r.errorf(`the document has no "state"`)
	}
	if _, err = r.dec.Token(); !errors.Is(err, io.EOF) {
		return r.errorf("something follows the state")
	}
	return nil
}

type factReader struct {
	data    []byte
	dec     *json.Decoder
	visit   func(string, json.Token) error
	sources bool // a key that only a document has was met
}

// object reads an object behind its brace. At the top a key "state" with an
// object is the state itself, and what else holds an object is left alone.
func (r *factReader) object(top bool) (document bool, err error) {
	for r.dec.More() {
		k, err := r.dec.Token()
		if err != nil {
			return false, r.malformed(err)
		}
		key := k.(string)
		if len(key) > maxKey {
			return false, r.errorf("%q: a key has at most %d bytes, this one has %d", Clip(key), maxKey, len(key))
		}
		v, err := r.dec.Token()
		if err != nil {
			return false, r.malformed(err)
		}
		_, nested := v.(json.Delim)
		switch {
		case top && key == "state" && v == json.Delim('{'):
			if document {
				return false, r.errorf(`"state" is given twice`)
			}
			document = true
			_, err = r.object(false)
		case top && nested && (document || key == "sources"):
			r.sources = true
			err = r.skip()
		case top && document:
		default:
			if err = r.visit(key, v); err != nil {
				return false, r.errorf("%q: %w", Clip(key), err)
			}
			if nested { // One that the visit leaves to others to blame.
				err = r.skip()
			}
		}
		if err != nil {
			return false, err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return false, r.malformed(err)
	}
	return document, nil
}

// skip reads to the end of a value whose opening was read.
func (r *factReader) skip() error {
	for depth := 1; depth > 0; {
		t, err := r.dec.Token()
		if err != nil {
			return r.malformed(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

func (r *factReader) malformed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.errorf("the JSON ends too early")
	}
	return r.errorf("not well-formed JSON: %w", err)
}

// errorf gives an error the line and column of what was read last.
func (r *factReader) errorf(format string, args ...any) error {
	before := string(r.data[:min(int(r.dec.InputOffset()), len(r.data))])
	line := 1 + strings.Count(before, "\n")
	column := len(before) - strings.LastIndexByte(before, '\n') - 1
	return fmt.Errorf("line %d, byte %d: %w", line, max(1, column), fmt.Errorf(format, args...))
}
