package accesslog

import (
	"bytes"
	"strings"
	"testing"
)

func TestStartAndEndAreNumberedFromOneCounter(t *testing.T) {
	var buf bytes.Buffer
	l := New(&buf, nil)
	slow, quick := &Entry{Kind: Act, Path: "/slow"}, &Entry{Kind: Observe, Path: "/quick"}
	l.Begin(slow)
	l.Begin(quick)
	for _, e := range []*Entry{quick, slow} {
		if err := l.Finish(e); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Path != "/quick" || got[0].Seq != 2 || got[0].End != 3 || got[1].Seq != 1 || got[1].End != 4 {
		t.Fatalf("got %+v", got)
	}
}

func TestALineThatIsNotEndedYetIsLeft(t *testing.T) {
	got, err := Read(strings.NewReader("{\"seq\":1}\n{\"seq\":"))
	if err != nil || len(got) != 1 || got[0].Seq != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestALineThatCannotBeReadIsNamed(t *testing.T) {
	_, err := Read(strings.NewReader("{\"seq\":1}\nnonsense\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "access log line 2: ") {
		t.Fatalf("got %v", err)
	}
}

func TestNumbersGoOnAfterThoseOfAFormerProcess(t *testing.T) {
	e := &Entry{}
	New(&bytes.Buffer{}, []Entry{{Seq: 1, End: 4}, {Seq: 2, End: 3}}).Begin(e)
	if e.Seq != 5 {
		t.Fatalf("got %d, want 5", e.Seq)
	}
}
