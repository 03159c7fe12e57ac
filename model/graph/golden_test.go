package graph_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fettleops/fettle/model"
	"github.com/fettleops/fettle/model/graph"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var examples = []string{"classic", "coordinated", "fleet"}

func TestTheExamplesAreDrawnAsTheyWere(t *testing.T) {
	for _, name := range examples {
		t.Run(name, func(t *testing.T) {
			m := loadModel(t, "../../examples/"+name)
			golden(t, "testdata/"+name+".txtar", []drawing{
				{"actions.dot", graph.Actions(m).WriteDOT},
				{"actions.mermaid", graph.Actions(m).WriteMermaid},
				{"fluents.dot", graph.Fluents(m).WriteDOT},
				{"fluents.mermaid", graph.Fluents(m).WriteMermaid},
			})
		})
	}
}

// drawing is one file of a golden archive.
type drawing struct {
	name  string
	write func(io.Writer) error
}

func golden(t *testing.T, file string, drawings []drawing) {
	t.Helper()
	var got txtar.Archive
	for _, d := range drawings {
		var b bytes.Buffer
		if err := d.write(&b); err != nil {
			t.Fatal(err)
		}
		got.Files = append(got.Files, txtar.File{Name: d.name, Data: b.Bytes()})
	}
	text := txtar.Format(&got)
	if *update {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("got:\n%s\nwant:\n%s\n(-update rewrites %s)", text, want, file)
	}
}

// evil is a name that would end every form of quotes, and say something else.
const evil = "a\"]; x -> y [label=\"`**b**`\n<script>&amp;#quot;\\|\u202e\x00\xff"

func TestNamesAreWrittenAsData(t *testing.T) {
	m := model.New()
	f := &model.Fluent{Name: evil, Doc: evil, Kind: model.KindBool}
	m.AddFluent(f)
	read := &model.Expr{Op: model.OpFluent, Kind: model.KindBool, Fluent: f}
	m.AddAction(&model.Action{Name: "one", Doc: evil, Effects: []model.Effect{{Op: model.Add, Fluent: f}}})
	m.AddAction(&model.Action{Name: evil, Precondition: model.NewCond(0, read)})
	m.Link()
	golden(t, "testdata/evil.txtar", []drawing{
		{"actions.dot", graph.Actions(m).WriteDOT},
		{"actions.mermaid", graph.Actions(m).WriteMermaid},
		{"fluents.dot", graph.Fluents(m).WriteDOT},
	})
}

func TestALongListOfFluentsIsCutAtTheEdge(t *testing.T) {
	var b strings.Builder
	for _, n := range []string{"f1", "f2", "f3", "f4", "f5", "f6"} {
		b.WriteString("fluent \"" + n + "\" {}\n")
	}
	g := graph.Actions(write(t, b.String()+text(
		action{name: "a", effect: `add = ["f1", "f2", "f3", "f4", "f5", "f6"]`},
		action{name: "b", needs: `"f1", "f2", "f3", "f4", "f5", "f6"`, effect: `del = ["f1"]`})))
	var out strings.Builder
	if err := g.WriteDOT(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`label="f1\nf2\nf3\nf4\nand 2 more"`, `tooltip="a enables b by f1, f2, f3, f4, f5, f6"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in\n%s", want, out.String())
		}
	}
}

func TestAModelWithoutActionsIsAnEmptyPicture(t *testing.T) {
	var out strings.Builder
	if err := graph.Actions(model.New()).WriteMermaid(&out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "flowchart LR\n" {
		t.Errorf("got %q", got)
	}
}
