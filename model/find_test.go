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
	u := s.done()
	tests := []struct {
		step model.Step
		want string
	}{
		{model.Step{Action: "drain", Args: []string{"edge"}}, "drain(edge)"},
		{model.Step{Action: "move", Args: []string{"n2", "api"}, Params: []string{"n", "s"}}, "move(api, n2)"},
		{model.Step{Action: "set_mode", Args: []string{"off"}}, "set_mode(off)"},
		{model.Step{Action: "move", Args: []string{"n2", "api"}, Params: []string{"n", "x"}}, "wrong_arity: move has no argument for s; it takes 2 arguments (s service, n node)"},
		{model.Step{Action: "open", Args: []string{"api"}}, "wrong_type: open(api): api is a service, open takes a gateway"},
		{model.Step{Action: "drain", Args: []string{"n1"}}, "wrong_type: drain(n1): n1 is a node, drain takes a service"},
		{model.Step{Action: "drain"}, "wrong_arity: drain takes 1 argument (s service), got 0"},
		{model.Step{Action: "set_mode", Args: []string{"of"}}, `unknown_object: set_mode(of): there is no enum("on", "off") "of"; did you mean on?`},
		{model.Step{Action: "reboot"}, "unknown_action: there is no action reboot; the model has drain, open, move, set_mode"},
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
