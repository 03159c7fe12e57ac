package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model/load"
	"github.com/fettleops/fettle/model/pddl"
	"github.com/fettleops/fettle/validator"
)

// pddlFiles tells whether the arguments in place of a model are a PDDL domain
// and problem: two of them are.
func pddlFiles(args []string) (bool, error) {
	switch {
	case len(args) == 1 && strings.EqualFold(filepath.Ext(args[0]), ".pddl"):
		return false, fmt.Errorf("%s: a PDDL task is two files, DOMAIN.pddl PROBLEM.pddl", args[0])
	case len(args) < 2:
		return false, nil
	}
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && info.IsDir() || strings.HasSuffix(arg, ".hcl") {
			return false, fmt.Errorf("%s is no PDDL file: give one model, or a PDDL domain and its problem", arg)
		}
	}
	return true, nil
}

// loadTask reads a PDDL task for use. Its mistakes are printed, and answer 2.
func (a *app) loadTask(args []string) (*pddl.Task, error) {
	t, diags, err := pddl.Load(args[0], args[1])
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		a.printDiagnostics(taskFiles(t), onlyErrors(diags))
		return nil, answer(exitNo)
	}
	return t, nil
}

// taskFiles is what printing diagnostics needs of a task.
func taskFiles(t *pddl.Task) *load.Loaded { return &load.Loaded{Model: t.Model, Files: t.Files} }

// problemOf is the task as plans are held against it.
func problemOf(t *pddl.Task) validator.Problem {
	return validator.Problem{U: t.U, Start: t.Start, Goal: t.Goal.Cond, GoalName: t.Goal.Name}
}

// notForTasks refuses flags that say what a problem's file says already.
func notForTasks(given map[string]bool) error {
	for _, flag := range []string{"state", "goal", "observe"} {
		if given[flag] {
			return fmt.Errorf("--%s is not for PDDL: the problem's file gives the state and the goal", flag)
		}
	}
	return nil
}

// taskPlanning prepares planning for a PDDL task, which has no policy and no
// planners of its own.
func (a *app) taskPlanning(args []string, f planFlags) (*planning, error) {
	if err := notForTasks(map[string]bool{"state": f.state != "", "goal": f.goal != "", "observe": f.observe}); err != nil {
		return nil, err
	}
	t, err := a.loadTask(args)
	if err != nil {
		return nil, err
	}
	l := taskFiles(t)
	var hashes []string
	for _, file := range args {
		sum := sha256.Sum256(t.Files[file].Bytes)
		hashes = append(hashes, hex.EncodeToString(sum[:]))
	}
	l.Hash = hashes[0]
	p := &planning{loaded: &loaded{Loaded: l}, problem: problemOf(t), startHash: hashes[1]}
	p.limits, err = f.limits.limits(nil)
	return p, err
}

// checkTask prints every diagnostic of a PDDL task.
func (a *app) checkTask(args []string, format string) error {
	t, diags, err := pddl.Load(args[0], args[1])
	if err != nil {
		return err
	}
	code := exitDone
	if diags.HasErrors() {
		code = exitNo
	}
	if format == "json" {
		return errors.Join(writeJSON(a.out, diagnosticsJSON(taskFiles(t), diags)), answer(code))
	}
	writeDiagnostics(a.out, newPaint(a.out), taskFiles(t), diags)
	if len(diags) > 0 {
		fmt.Fprintln(a.out)
	}
	if code == exitDone {
		fmt.Fprintln(a.out, "fine: "+taskContents(t))
	} else {
		fmt.Fprintln(a.out, findings(hcl.Diagnostics(diags)))
	}
	return answer(code)
}

// taskContents counts what a task has.
func taskContents(t *pddl.Task) string {
	objects := 0
	for _, m := range t.Model.Types {
		if m.Root() == m {
			objects += len(t.U.Objects(m))
		}
	}
	return fmt.Sprintf("domain %s, problem %s: %s, %s, %s, %s", plain(t.Domain), plain(t.Problem), counted(len(t.Model.Actions), "action"),
		counted(len(t.Model.Fluents), "fluent"), counted(len(t.Model.Types), "type"), counted(objects, "object"))
}
