package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestWithoutGraphvizThePictureIsRefusedInPlainWords(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, errw bytes.Buffer
	code := run(t.Context(), []string{"graph", "-o", "svg", "../../examples/classic"}, strings.NewReader(""), &out, &errw)
	want := "Error: -o svg needs the program dot of Graphviz, which is not on the PATH: install Graphviz, or draw what -o dot writes elsewhere\n"
	if code != exitFailed || out.Len() > 0 || errw.String() != want {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out.String(), errw.String())
	}
}
