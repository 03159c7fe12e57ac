package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/fettleops/fettle/model/graph"
)

type graphFlags struct {
	format  string
	fluents bool
}

func newGraphCommand(a *app) *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:   "graph [MODEL]",
		Short: "Draw which action enables and which threatens which",
		Long: `Draws the model's actions. An edge from one to another says that an effect of the first can make
a part of the second's precondition true (it enables it) or false (it threatens it), and through
which fluents of that precondition. A blue dashed edge says that the first can relieve an invariant
that the second can make worse, and which: the order of the two may matter. It says what can be for
some objects, in some state. An action is joined to itself only where it bears on itself for other
objects.

With --fluents the fluents are drawn too: which action makes which true or false, which action needs
which, and which defines which.

-o dot is the language of Graphviz, svg the picture that its program dot makes of it, mermaid a
flowchart as code hosts show it in a Markdown page, json the graph as data.`,
		Example: `  fettle graph examples/classic | dot -Tpng > classic.png
  fettle graph -o svg examples/fleet > fleet.svg
  fettle graph -o mermaid --fluents examples/fleet`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("-o", f.format, "dot", "mermaid", "svg", "json"); err != nil {
				return err
			}
			return a.graph(cmd.Context(), modelPath(args), f)
		},
	}
	cmd.Flags().StringVarP(&f.format, "output", "o", "dot", "dot, mermaid, svg or json")
	cmd.Flags().BoolVar(&f.fluents, "fluents", false, "draw the fluents too")
	return cmd
}

func (a *app) graph(ctx context.Context, path string, f graphFlags) error {
	l, err := a.load(path)
	if err != nil {
		return err
	}
	defer l.world.Close()
	g := graph.Actions(l.Model)
	if f.fluents {
		g = graph.Fluents(l.Model)
	}
	switch f.format {
	case "mermaid":
		return g.WriteMermaid(a.out)
	case "json":
		return writeJSON(a.out, g)
	case "svg":
		return writeSVG(ctx, a.out, g)
	}
	return g.WriteDOT(a.out)
}

// writeSVG has Graphviz draw the graph.
func writeSVG(ctx context.Context, w io.Writer, g *graph.Graph) error {
	program, err := exec.LookPath("dot")
	if err != nil {
		return errors.New("-o svg needs the program dot of Graphviz, which is not on the PATH: install Graphviz, or draw what -o dot writes elsewhere")
	}
	var text, picture, said bytes.Buffer
	if err := g.WriteDOT(&text); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "-Tsvg")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &text, &picture, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("dot could not draw the graph: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	_, err = w.Write(picture.Bytes())
	return err
}
