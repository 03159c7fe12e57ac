package graph

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/fettleops/fettle/model"
)

// maxLabels is how many fluents an edge shows; its tooltip has them all.
const maxLabels = 4

// clipped returns the labels to show at an edge.
func clipped(fluents []string) []string {
	shown := plainAll(fluents)
	if n := len(shown) - maxLabels; n > 1 {
		shown = append(shown[:maxLabels:maxLabels], fmt.Sprintf("and %d more", n))
	}
	return shown
}

func plainAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = plain(n)
	}
	return out
}

// plain makes a name or a doc fit for a picture: on one line, of bounded length,
// and without characters that cannot be seen.
func plain(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, model.Clip(s))
}
