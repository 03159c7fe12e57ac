package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/world"
)

func newObserveCommand(a *app) *cobra.Command {
	var path, format string
	cmd := &cobra.Command{
		Use:   "observe [FLUENT…]",
		Short: "Read the world once",
		Long: "Reads the world once and prints each fluent's value, how old it is and where it came from,\n" +
			"and which objects were found of each type that has a discover block. Where one answer serves many objects\n" +
			"it tells how many of its series or items name one, and the first that do not. Of a fluent that nothing observes (a belief)\n" +
			"it prints what the last action left, and which action that was; unknown while that one is under way or in doubt.\n" +
			"FLUENT is the name of a fluent; without any, all are read. Nothing is changed.",
		Example: "  fettle observe --model examples/fleet in_lb\n  fettle observe -o json > state.json && fettle plan --state state.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", format, "text", "json"); err != nil {
				return err
			}
			return a.observe(cmd.Context(), path, args, format)
		},
	}
	modelFlag(cmd, &path)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	a.stateDirFlag(cmd)
	return cmd
}

func (a *app) observe(ctx context.Context, path string, names []string, format string) error {
	l, err := a.load(path)
	if err != nil {
		return err
	}
	defer l.world.Close()
	u, found := discover(ctx, l)
	readings, err := a.observeNamed(ctx, l, u, names)
	if err != nil {
		return err
	}
	if format == "json" {
		return writeObservationJSON(a.out, u, found, readings)
	}
	writeFound(a.out, found)
	writeObservation(a.out, u, readings)
	writeMatches(a.out, readings)
	return nil
}

// observeNamed reads the named fluents, or all: those that have a source, and
// what is believed of those that only actions change. A derived fluent stands
// for those it is derived from. The store is opened only where it is asked.
func (a *app) observeNamed(ctx context.Context, l *loaded, u *model.Universe, names []string) ([]world.Reading, error) {
	chosen := map[*model.Fluent]bool{}
	for _, n := range names {
		f := l.Model.Fluent(n)
		if f == nil {
			return nil, unknownName("fluent", n, fluentNames(l.Model))
		}
		(&model.Expr{Op: model.OpFluent, Fluent: f}).BaseFluents(chosen)
	}
	var refs []model.Ref
	var beliefs []*model.Fluent
	for _, f := range l.Model.Fluents {
		switch {
		case len(names) > 0 && !chosen[f]:
		case l.world.Observes(f):
			refs = append(refs, model.Ref{Fluent: f})
		case f.Initial != nil:
			beliefs = append(beliefs, f)
		}
	}
	if len(refs)+len(beliefs) == 0 {
		if len(names) == 0 && l.world.Discovers() {
			return nil, nil
		}
		return nil, fmt.Errorf("nothing to observe: give the fluents an observe block")
	}
	s, err := a.observedStore(ctx, l, u, len(beliefs) > 0)
	if err != nil {
		return nil, err
	}
	if s != nil {
		defer s.Close()
		locker := a.locker(s)
		defer locker.Close()
		l.world.UseLeases(world.NewLeases(locker, ""))
	}
	believed, err := a.observeBeliefs(ctx, s, u, beliefs)
	if err != nil {
		return nil, err
	}
	return append(l.world.Observe(ctx, u, refs, time.Time{}), believed...), nil
}

// observedStore opens the store where what is observed is in it: named leases,
// or beliefs, which are the initial ones as long as there is no store.
func (a *app) observedStore(ctx context.Context, l *loaded, u *model.Universe, beliefs bool) (*store, error) {
	if len(l.world.LeaseNames(u)) > 0 {
		return a.openStore(ctx, l.Loaded)
	}
	if !beliefs {
		return nil, nil
	}
	s, err := a.existingStore(ctx, l.Loaded)
	if none := (*noStoreError)(nil); errors.As(err, &none) {
		return nil, nil
	}
	return s, err
}

func fluentNames(m *model.Model) []string {
	var out []string
	for _, f := range m.Fluents {
		out = append(out, f.Name)
	}
	return out
}

// unknownName is the error for a name that the model does not have.
func unknownName(what, name string, known []string) error {
	if near := model.Nearest(name, known); near != "" {
		return fmt.Errorf("there is no %s %q; did you mean %q?", what, name, near)
	}
	return fmt.Errorf("there is no %s %q", what, name)
}

// oneOf checks a flag's value.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q: use one of %v", flag, value, allowed)
}

// stateOf makes a state of readings; what was not read is unknown.
func stateOf(u *model.Universe, readings []world.Reading) *model.State {
	s := u.NewState(false)
	for _, f := range u.Fluents {
		if f.Initial != nil {
			s.SetInitial(f)
		}
	}
	for _, r := range readings {
		s.Set(r.Atom, r.Value)
	}
	return s
}

// sourceJSON is where a value came from.
type sourceJSON struct {
	Kind    string     `json:"kind"`
	Query   string     `json:"query"`
	Server  string     `json:"server,omitempty"` // the address that was asked, where the query does not tell it
	Sampled *time.Time `json:"sampled"`
	AgeS    *float64   `json:"age_s"`
	Error   string     `json:"error,omitempty"`
	Note    string     `json:"note,omitempty"`
}

func writeObservationJSON(w io.Writer, u *model.Universe, found []world.Found, readings []world.Reading) error {
	state := map[string]any{}
	sources := map[string]sourceJSON{}
	now := time.Now()
	for _, r := range readings {
		text := u.Text(r.Atom)
		state[text] = jsonValue(u, r.Atom.Fluent, r.Value)
		s := sourceJSON{Kind: r.Source.Kind, Query: r.Source.Query, Server: r.Source.Server, Error: r.Err, Note: r.Note}
		if !r.Sampled.IsZero() {
			at, age := r.Sampled.UTC(), now.Sub(r.Sampled).Seconds()
			s.Sampled, s.AgeS = &at, &age
		}
		sources[text] = s
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		State   map[string]any         `json:"state"`
		Objects map[string]foundJSON   `json:"objects,omitempty"`
		Sources map[string]sourceJSON  `json:"sources"`
		Matched map[string]matchedJSON `json:"matched,omitempty"`
	}{state, foundObjects(found), sources, matchesJSON(readings)})
}

// jsonValue returns a value as JSON shows it; nil is unknown.
func jsonValue(u *model.Universe, f *model.Fluent, v model.Value) any {
	switch v.Kind() {
	case model.KindBool:
		return v.Tri() == model.True
	case model.KindNumber:
		n, _ := v.Number()
		return n
	case model.KindString:
		s, _ := v.Text()
		return s
	case model.KindObject:
		return u.Name(f.Type, v.Object())
	}
	return nil
}

func writeObservation(w io.Writer, u *model.Universe, readings []world.Reading) {
	p := newPaint(w)
	texts := make([]string, len(readings))
	values := make([]string, len(readings))
	for i, r := range readings {
		texts[i] = plain(u.Text(r.Atom))
		values[i] = plain(u.ValueText(r.Atom.Fluent, r.Value))
	}
	tw, vw := widest(40, texts...), widest(24, values...)
	now := time.Now()
	for i, r := range readings {
		age := ""
		if !r.Sampled.IsZero() {
			age = ago(now.Sub(r.Sampled).Seconds()) + " ago"
		}
		value := pad(values[i], vw)
		if !r.Value.Known() {
			value = p.warn(value)
		}
		why := legible(r.Source.Query)
		switch {
		case r.Err != "":
			why += "  " + p.bad(legible(r.Err))
		case r.Note != "":
			why += "  " + legible(r.Note)
		}
		fmt.Fprintf(w, "%s  %s  %s  %s\n", pad(texts[i], tw), value, pad(age, 10), p.faint(askedAt(r.Source)+" ")+why)
	}
}

// askedAt names the kind of a source, and the server that was asked where the
// query does not tell it.
func askedAt(s world.Source) string {
	if s.Server == "" {
		return plain(s.Kind)
	}
	return plain(s.Kind) + " " + legible(s.Server)
}

// legible is plain, and escapes what a terminal does not show, or shows in
// another order, as the name of an object has it: \u{202e}.
func legible(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}
