package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

// discover asks the world for the objects that the model does not list, and
// returns the universe with them.
func discover(ctx context.Context, l *loaded) (*model.Universe, []world.Found) {
	if !l.world.Discovers() {
		return model.NewUniverse(l.Model), nil
	}
	found := l.world.Discover(ctx)
	var all []model.Discovery
	for _, f := range found {
		all = append(all, model.Discovery{Type: f.Type, Objects: f.Objects, Failed: f.Err != ""})
	}
	return model.NewUniverse(l.Model, all...), found
}

// discoverer finds objects for a run, nil where the model lists them all.
func discoverer(l *loaded) executor.Discoverer {
	if !l.world.Discovers() {
		return nil
	}
	return l.world
}

// goalUniverse knows the objects that a goal names, if they are of types whose
// objects are discovered: a run has yet to do that when it is begun.
func goalUniverse(m *model.Model, goal string) *model.Universe {
	if of, _, ok := noWorse(goal); ok {
		return goalUniverse(m, of)
	}
	u := model.NewUniverse(m)
	name, args, err := model.ParseAtom(goal)
	g := m.Goal(name)
	if err != nil || g == nil || len(args) != len(g.Params) {
		return u // What is wrong with it is told where it is looked up.
	}
	var named []model.Discovery
	for i, p := range g.Params {
		t := discoveredType(m, p.Type)
		if _, known := u.Find(p.Type, args[i]); !known && t != nil {
			named = append(named, model.Discovery{Type: t, Objects: args[i : i+1]})
		}
	}
	return u.With(named...)
}

// discoveredType is the one type whose objects are discovered that is below t; t
// itself where they are its own or those of several, nil where there is none.
func discoveredType(m *model.Model, t *model.Type) *model.Type {
	var below []*model.Type
	for _, s := range m.Types {
		if s.Discovered && s.IsA(t) {
			below = append(below, s)
		}
	}
	switch len(below) {
	case 0:
		return nil
	case 1:
		return below[0]
	}
	return t
}

// foundJSON is what was found of a type.
type foundJSON struct {
	Found []string `json:"found"`
	sourceJSON
}

func foundObjects(found []world.Found) map[string]foundJSON {
	out := map[string]foundJSON{}
	now := time.Now()
	for _, f := range found {
		j := foundJSON{Found: f.Objects, sourceJSON: sourceJSON{Kind: f.Source.Kind, Query: f.Source.Query, Server: f.Source.Server, Error: f.Err, Note: f.Note}}
		if j.Found == nil {
			j.Found = []string{}
		}
		if !f.Sampled.IsZero() {
			at, age := f.Sampled.UTC(), now.Sub(f.Sampled).Seconds()
			j.Sampled, j.AgeS = &at, &age
		}
		out[f.Type.Name] = j
	}
	return out
}

// observedObjects reads the objects back from a document that observe wrote: an
// object need not be in a fact, and a discovery that failed leaves its type open.
func observedObjects(m *model.Model, data []byte) []model.Discovery {
	var doc struct {
		Objects map[string]struct {
			Found []string `json:"found"`
			Error string   `json:"error"`
		} `json:"objects"`
	}
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &doc) != nil {
		return nil // A bare state, or a mistake, which is told where it is read.
	}
	var out []model.Discovery
	for _, t := range m.Types {
		if o, ok := doc.Objects[t.Name]; ok && t.Discovered {
			out = append(out, model.Discovery{Type: t, Objects: o.Found, Failed: o.Error != ""})
		}
	}
	return out
}

// maxNamed is how many objects are named on one line.
const maxNamed = 12

// named lists names for a person, the first ones where there are many. There are
// n in all, of which the list may be the beginning.
func named(names []string, n int) string {
	shown := make([]string, 0, maxNamed)
	for _, n := range names[:min(len(names), maxNamed)] {
		shown = append(shown, model.Quote(model.Clip(n)))
	}
	s := strings.Join(shown, ", ")
	if more := n - len(shown); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return plain(s)
}

// warnOfUnfound tells of the types that may have objects that were not found.
func (a *app) warnOfUnfound(found []world.Found) {
	for _, f := range found {
		if f.Err != "" {
			fmt.Fprintf(a.err, "Warning: there may be more of type %s than are known: %s\n", f.Type.Name, plain(f.Err))
		}
	}
}

// writeFound tells which objects were found, and where.
func writeFound(w io.Writer, found []world.Found) {
	p := newPaint(w)
	now := time.Now()
	for _, f := range found {
		age := ""
		if !f.Sampled.IsZero() {
			age = ago(now.Sub(f.Sampled).Seconds()) + " ago  "
		}
		line := fmt.Sprintf("type %s  %d found  %s%s %s", f.Type.Name, len(f.Objects), age, p.faint(askedAt(f.Source)), legible(f.Source.Query))
		switch {
		case f.Err != "":
			line += "  " + p.bad(plain(f.Err))
		case f.Note != "":
			line += "  " + plain(f.Note)
		}
		fmt.Fprintln(w, line)
		if len(f.Objects) > 0 {
			fmt.Fprintln(w, "  "+named(f.Objects, len(f.Objects)))
		}
	}
}
