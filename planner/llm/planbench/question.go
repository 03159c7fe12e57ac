package planbench

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/fettleops/fettle/model"
)

// question is what the generator reads in the text that it is asked.
type question struct {
	actions  []action
	objects  []string
	last     []string // the last plan as steps, such as drain(api); nil: none is told
	critique []string // its lines; nil where nothing is said beyond that the plan failed
}

// action is an action's name and how many objects it takes.
type action struct {
	name string
	args int
}

var (
	actionsPart = regexp.MustCompile(`(?s)\nActions\n(.*?)\n\nFacts\n`)
	signature   = regexp.MustCompile(`(?m)^- (\w+)(?:\((.*)\))?$`)
)

// readQuestion reads the user text of a question.
func readQuestion(text string) (question, error) {
	var q question
	part := actionsPart.FindStringSubmatch(text)
	if part == nil {
		return q, fmt.Errorf("the question lists no actions")
	}
	for _, m := range signature.FindAllStringSubmatch(part[1], -1) {
		a := action{name: m[1]}
		if m[2] != "" {
			a.args = strings.Count(m[2], ", ") + 1
		}
		q.actions = append(q.actions, a)
	}
	if err := q.readObjects(text); err != nil {
		return q, err
	}
	for _, line := range section(text, "last_plan") {
		st, err := readStep(line)
		if err != nil {
			return q, err
		}
		q.last = append(q.last, st)
	}
	for _, line := range section(text, "critique") {
		var s string
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return q, fmt.Errorf("critique %s: %w", line, err)
		}
		q.critique = append(q.critique, s)
	}
	return q, nil
}

// section returns the lines of a data section, nil where it is not there.
func section(text, name string) []string {
	_, rest, ok := strings.Cut(text, fmt.Sprintf("<data name=%q>\n", name))
	if !ok {
		return nil
	}
	lines, _, _ := strings.Cut(rest, "\n</data>")
	return strings.Split(lines, "\n")
}

func (q *question) readObjects(text string) error {
	for _, line := range section(text, "objects") {
		var of struct{ Objects []string }
		if err := json.Unmarshal([]byte(line), &of); err != nil {
			return fmt.Errorf("objects %s: %w", line, err)
		}
		q.objects = append(q.objects, of.Objects...)
	}
	return nil
}

// readStep reads a step of the last plan.
func readStep(line string) (string, error) {
	var st struct {
		Action string
		Args   []string
	}
	if err := json.Unmarshal([]byte(line), &st); err != nil {
		return "", fmt.Errorf("step %s: %w", line, err)
	}
	if st.Action == "" {
		return "", fmt.Errorf("step %s names no action", line)
	}
	return model.Step{Action: st.Action, Args: st.Args}.String(), nil
}

// answer writes a plan as the question asks for it.
func answer(steps []string) (string, error) {
	type step struct {
		Action string   `json:"action"`
		Args   []string `json:"args"`
	}
	doc := struct {
		Steps  []step  `json:"steps"`
		NoPlan *string `json:"no_plan"`
	}{Steps: []step{}}
	for _, text := range steps {
		name, args, err := model.ParseAtom(text)
		if err != nil {
			return "", fmt.Errorf("step %s: %w", text, err)
		}
		doc.Steps = append(doc.Steps, step{name, append([]string{}, args...)})
	}
	out, err := json.Marshal(doc)
	return string(out), err
}
