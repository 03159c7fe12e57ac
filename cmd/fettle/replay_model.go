package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/fettleops/fettle/executor"
	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/policy"
	"github.com/fettleops/fettle/world/redaction"
)

// recordedModel is the model as the journal keeps it: its files, and what its
// variables are set to, of the sensitive ones the names alone, and nothing that
// looks like a secret.
func recordedModel(l *load.Loaded, given []string) *executor.ModelText {
	t := &executor.ModelText{Files: map[string]string{}, Vars: map[string]string{}}
	for name, f := range l.Files {
		if !strings.HasSuffix(name, ".fettletest.hcl") {
			t.Files[filepath.Base(name)] = withoutPatterns(withoutDefaults(f, l.Sensitive), name, l.Redact)
		}
	}
	set, _ := parseVars(given) // Loading has refused what is wrong.
	for name := range l.Eval.Variables["var"].AsValueMap() {
		value, ok := set[name]
		if !ok {
			value, ok = os.LookupEnv(varPrefix + name)
		}
		if ok && !l.Sensitive[name] {
			t.Vars[name] = redaction.Patterns(nil).Text(value)
		}
	}
	t.Sensitive = slices.Sorted(maps.Keys(l.Sensitive))
	return t
}

// withoutDefaults is the text of a file in which the defaults of sensitive
// variables are taken out, however they are written.
func withoutDefaults(f *hcl.File, names map[string]bool) string {
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok {
		return string(f.Bytes)
	}
	var out strings.Builder
	at := 0
	for _, b := range body.Blocks {
		if attr := b.Body.Attributes["default"]; b.Type == "variable" && len(b.Labels) == 1 && names[b.Labels[0]] && attr != nil {
			rng := attr.Expr.Range()
			out.Write(f.Bytes[at:rng.Start.Byte])
			out.WriteString(`"(sensitive)"`)
			at = rng.End.Byte
		}
	}
	out.Write(f.Bytes[at:])
	return out.String()
}

// varPrefix begins the names of the environment variables that set variables.
const varPrefix = "FETTLE_VAR_"

// replayModels finds the models that a replay asks for.
type replayModels struct {
	app   *app
	flags replayFlags
	body  func(sum string) ([]byte, error)
	notes []string // what a person should know of what was found
}

// find returns the model of --with; or the run's own: the one of --model where
// it is unchanged, else the recorded one.
func (m *replayModels) find(goal, hash string, rec *executor.RecordedModel) (executor.ReplayModel, error) {
	vars, err := parseVars(m.app.vars)
	if err != nil {
		return executor.ReplayModel{}, err
	}
	if m.flags.with != "" {
		l, err := readOnly(m.flags.with, load.Options{Vars: vars, LookupEnv: os.LookupEnv})
		if err != nil {
			return executor.ReplayModel{}, err
		}
		return replayModel(l, goal)
	}
	present, err := readOnly(m.flags.model, load.Options{Vars: vars, LookupEnv: os.LookupEnv})
	if err == nil && present.Hash == hash {
		return replayModel(present, goal)
	}
	if rec == nil || m.body == nil {
		return executor.ReplayModel{}, m.absent(rec, present, err)
	}
	text, err := rec.Text(m.body)
	if err != nil {
		return executor.ReplayModel{}, fmt.Errorf("%w; give the model as it was then with --model DIR", err)
	}
	l, err := m.again(text, hash)
	if err != nil {
		return executor.ReplayModel{}, err
	}
	return replayModel(l, goal)
}

// absent says why there is no model to replay with.
func (m *replayModels) absent(rec *executor.RecordedModel, present *loaded, err error) error {
	why := "the journal of an older version does not keep the model"
	if rec != nil {
		why = "the file has no bodies, and so no model (`fettle show RUN -o jsonl` of this version writes them)"
	}
	const mend = "give the model as it was when the run was driven, with the same --var, by --model DIR; --with DIR asks what another one would have decided"
	if err != nil {
		return fmt.Errorf("%s, and none can be read in %s: %w; %s", why, m.flags.model, err, mend)
	}
	return fmt.Errorf("%s, and the one in %s (with its variables) is not that of the run, its hash is %.12s…; %s", why, m.flags.model, present.Hash, mend)
}

// again reads the recorded model.
func (m *replayModels) again(text *executor.ModelText, hash string) (*loaded, error) {
	dir, err := os.MkdirTemp("", "fettle-replay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, body := range text.Files {
		if name != filepath.Base(name) {
			return nil, fmt.Errorf("the recorded model has a file %q, which is no name of a file", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			return nil, err
		}
	}
	vars := maps.Clone(text.Vars)
	if vars == nil {
		vars = map[string]string{}
	}
	for _, name := range text.Sensitive {
		vars[name] = "(sensitive)"
	}
	m.included(dir, text)
	l, err := readOnly(dir, load.Options{Vars: vars, LookupEnv: withoutVars})
	if err != nil {
		return nil, fmt.Errorf("the recorded model cannot be read as it was: %w; give it with --model DIR", err)
	}
	if len(text.Sensitive) > 0 {
		m.notes = append(m.notes, "sensitive variables are not in the journal: "+strings.Join(text.Sensitive, ", "))
	} else if l.Hash != hash {
		m.notes = append(m.notes, "the recorded model is not to the letter the one of the run: what is sensitive was taken out of it")
	}
	return l, nil
}

// withoutVars is the environment but for what sets variables.
func withoutVars(name string) (string, bool) {
	if strings.HasPrefix(name, varPrefix) {
		return "", false
	}
	return os.LookupEnv(name)
}

// included puts the files that the model reads beside it, as they are now in
// the folder of --model, and notes what else the journal does not keep.
func (m *replayModels) included(dir string, text *executor.ModelText) {
	folder := m.flags.model
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	calls := map[string]bool{}
	for name, body := range text.Files {
		f, _ := load.Parse(name, []byte(body))
		for _, c := range outside(f) {
			calls[fmt.Sprintf("%s(%q)", c.name, c.arg)] = true
			if c.name == "file" && filepath.IsLocal(c.arg) {
				copyInto(filepath.Join(dir, c.arg), filepath.Join(folder, c.arg))
			}
		}
	}
	if len(calls) > 0 {
		m.notes = append(m.notes, "taken as they are now, for the journal does not keep them: "+strings.Join(slices.Sorted(maps.Keys(calls)), ", "))
	}
}

// outward is a call of a function that reads something outside the model.
type outward struct{ name, arg string }

// outside finds the calls of env and file, with what they name.
func outside(f *hcl.File) (out []outward) {
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		if !ok || call.Name != "env" && call.Name != "file" || len(call.Args) == 0 {
			return nil
		}
		if v, diags := call.Args[0].Value(nil); !diags.HasErrors() && v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
			out = append(out, outward{call.Name, v.AsString()})
		}
		return nil
	})
	return out
}

// copyInto copies a file where it can be: what is missing is told where the model is read.
func copyInto(to, from string) {
	data, err := os.ReadFile(from)
	if err != nil {
		return
	}
	if os.MkdirAll(filepath.Dir(to), 0o700) == nil {
		_ = os.WriteFile(to, data, 0o600)
	}
}

// readOnly reads a model and its policy, without its world.
func readOnly(path string, o load.Options) (*loaded, error) {
	m, diags := load.Model(path, o)
	if err := load.Trouble(diags); err != nil {
		return nil, err
	}
	l := &loaded{Loaded: m}
	if p := m.Policy; p != nil && !diags.HasErrors() {
		var d hcl.Diagnostics
		l.policy, d = policy.Decode(p.Body, m.Eval, p.Range)
		diags = append(diags, d...)
	}
	if errs := onlyErrors(diags); len(errs) > 0 {
		return nil, fmt.Errorf("%s: %s (%s)", path, errs[0].Error(), count(len(errs), "mistake"))
	}
	if l.policy == nil {
		return nil, errors.New(path + ": the model has no policy, so no run was driven with it")
	}
	return l, nil
}

// replayModel is what decisions towards a goal are derived with.
func replayModel(l *loaded, text string) (executor.ReplayModel, error) {
	u := goalUniverse(l.Model, text)
	goal, args, _, err := pickGoal(l.Loaded, u, text)
	if err == nil && goal == nil {
		err = fmt.Errorf("the model has no goal %s", text)
	}
	return executor.ReplayModel{Universe: u, Goal: goal, GoalArgs: args, Policy: l.policy, Settings: settings(l)}, err
}
