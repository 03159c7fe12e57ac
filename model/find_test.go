package model_test

import (
	"strings"
	"testing"

	"github.com/fettleops/fettle/model"
)

func TestNearestNames(t *testing.T) {
	names := []string{"drain", "restart", "take_lock", "ready", "api", "a"}
	tests := []struct{ name, want string }{
		{"drian", "drain"},
		{"drains", "drain"},
		{"redy", "ready"},
		{"Restart", "restart"},
		{"takelock", "take_lock"},
		{"tke_lokc", "take_lock"},
		{"ap", "api"},
		{"reboot", ""},
		{"drain", ""},
		{"x", ""},
		{"", ""},
		{strings.Repeat("x", 1000), ""},
	}
	for _, tt := range tests {
		if got := model.Nearest(tt.name, names); got != tt.want {
			t.Errorf("%s is near %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestStepsAreBound(t *testing.T) {
	s := newSmall()
	sub := s.AddType("gateway", s.svc)
	sub.AddObject("edge")
	s.action("drain", []*model.Type{s.svc}, nil)
	s.action("open", []*model.Type{sub}, nil)
	s.action("move", []*model.Type{s.svc, s.node}, nil)
	s.action("set_mode", []*model.Type{s.AddEnum([]string{"on", "off"})}, nil)
	s.action("wait", []*model.Type{s.svc}, nil).Params[0].Name = "seconds"
	u := s.done()
	tests := []struct {
		step model.Step
		want string
	}{
		{model.Step{Action: "drain", Args: []string{"edge"}}, "drain(edge)"},
		{model.Step{Action: "move", Args: []string{"n2", "api"}, Params: []string{"n", "s"}}, "move(api, n2)"},
		{model.Step{Action: "set_mode", Args: []string{"off"}}, "set_mode(off)"},
		{model.Step{Action: "move", Args: []string{"n2", "api"}, Params: []string{"n", "x"}}, `wrong_arity: "x" is no parameter of move; it takes 2 arguments (s service, n node)`},
		{model.Step{Action: "move", Args: []string{"n2", "api"}, Params: []string{"n", "n"}}, "wrong_arity: move has no argument for s; it takes 2 arguments (s service, n node)"},
		{model.Step{Action: "wait", Args: []string{"5"}, Params: []string{"second"}}, `wrong_arity: "second" is no parameter of wait; it takes 1 argument (seconds service); did you mean seconds?`},
		{model.Step{Action: "drain", Args: []string{"api", "yes"}, Params: []string{"s", "force"}}, `wrong_arity: "force" is no parameter of drain; it takes 1 argument (s service)`},
		{model.Step{Action: "open", Args: []string{"api"}}, "wrong_type: open(api): api is a service, open takes a gateway"},
		{model.Step{Action: "drain", Args: []string{"n1"}}, "wrong_type: drain(n1): n1 is a node, drain takes a service"},
		{model.Step{Action: "drain"}, "wrong_arity: drain takes 1 argument (s service), got 0"},
		{model.Step{Action: "set_mode", Args: []string{"of"}}, `unknown_object: set_mode(of): there is no enum("on", "off") "of"; did you mean on? set_mode takes 1 argument (e enum("on", "off"))`},
		{model.Step{Action: "reboot"}, "unknown_action: there is no action reboot; the model has drain, open, move, set_mode, wait"},
	}
	for _, tt := range tests {
		g, fault := u.Bind(tt.step, nil)
		got := ""
		if fault != nil {
			got = string(fault.Kind) + ": " + fault.Message
		} else {
			got = u.StepText(g)
		}
		if got != tt.want {
			t.Errorf("%v: got %s\nwant %s", tt.step, got, tt.want)
		}
	}
}

// Who proposes a plan knows what an action does, not what it is called.
func TestAnActionIsFoundByWhatItIsLike(t *testing.T) {
	tests := []struct{ name, want string }{
		{"reboot", "did you mean restart(service)?"},
		{"restrat", "did you mean restart(service)?"},
		{"drian", "did you mean drain(service)?"},
		{"release_lock", "the model has drain, restart, take_lock, revert, readd, release"},
		{"scale", "the model has drain, restart, take_lock, revert, readd, release"},
		{"stop", "the model has drain, restart, take_lock, revert, readd, release"},
	}
	s := newSmall()
	for _, name := range []string{"drain", "restart", "take_lock", "revert", "readd", "release"} {
		s.action(name, []*model.Type{s.svc}, nil)
	}
	u := s.done()
	for _, tt := range tests {
		_, fault := u.Bind(model.Step{Action: tt.name}, nil)
		if want := "there is no action " + tt.name + "; " + tt.want; fault == nil || fault.Message != want {
			t.Errorf("got  %v\nwant %s", fault, want)
		}
	}
}

// A plan may name anything at any length; what is said of it stays readable.
func TestMessagesShowTheBeginningOfLongNames(t *testing.T) {
	s := newSmall()
	s.bool("up", s.svc)
	s.action("drain", []*model.Type{s.svc}, nil)
	u := s.done()
	long := strings.Repeat("ä", 1<<20)
	for _, st := range []model.Step{
		{Action: long, Args: []string{"api"}},
		{Action: "drain", Args: []string{long}},
		{Action: "drain", Args: []string{"n1", long}},
		{Action: "drain", Args: []string{"api"}, Params: []string{long}},
	} {
		if _, fault := u.Bind(st, nil); fault == nil || len(fault.Message) > 1000 {
			t.Errorf("%.40s…: a message of %d bytes", st, len(fault.Message))
		}
	}
	for _, doc := range []string{`{"up(` + long + `)": true}`, `{"` + long + `": true}`, `{"up(\'` + long + `\')": 1}`} {
		if _, err := u.ParseState([]byte(doc)); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%.40s…: a message of %d bytes", doc, len(err.Error()))
		}
	}
	for _, name := range []string{"", "api", strings.Repeat("ä", 120)} {
		if got := model.Clip(name); got != name {
			t.Errorf("%s is shown as %s", name, got)
		}
	}
	if got := model.Clip(strings.Repeat("ä", 121)); got != strings.Repeat("ä", 120)+"…" {
		t.Errorf("121 characters are shown as %s", got)
	}
}
