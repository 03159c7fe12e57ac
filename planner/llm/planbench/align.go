package planbench

import "slices"

// edit is one change that brings a plan nearer to the one that is meant: a step
// put in, taken out, replaced, or swapped with the next.
type edit struct {
	kind change
	at   int    // index in the plan; a step is put in before it
	step string // to be put in
}

type change uint8

const (
	keep change = iota
	putIn
	takeOut
	replace
	swap
)

// edits returns the fewest changes that make one plan of the other, in the order
// of the plan: the distance of optimal string alignment, by steps.
func edits(plan, meant []string) []edit {
	n, m := len(plan), len(meant)
	cost := make([][]int, n+1)
	for i := range cost {
		cost[i] = make([]int, m+1)
		for j := range cost[i] {
			cost[i][j] = cheapest(cost, plan, meant, i, j)
		}
	}
	var out []edit
	for i, j := n, m; i > 0 || j > 0; {
		e := edit{}
		switch c := cost[i][j]; {
		case i > 1 && plan[i-1] == plan[i-2] && c == cost[i-1][j]+1:
			i-- // Of a step that is there twice, the second is the one too many.
			e = edit{takeOut, i, ""}
		case i > 0 && j > 0 && plan[i-1] == meant[j-1] && c == cost[i-1][j-1]:
			i, j = i-1, j-1
		case crossed(plan, meant, i, j) && c == cost[i-2][j-2]+1:
			i, j = i-2, j-2
			e = edit{swap, i, ""}
		case i > 0 && j > 0 && c == cost[i-1][j-1]+1:
			i, j = i-1, j-1
			e = edit{replace, i, meant[j]}
		case i > 0 && c == cost[i-1][j]+1:
			i--
			e = edit{takeOut, i, ""}
		default:
			j--
			e = edit{putIn, i, meant[j]}
		}
		if e.kind != keep {
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}

// cheapest is the cost of making the first j steps of one of the first i of the
// other.
func cheapest(cost [][]int, plan, meant []string, i, j int) int {
	if i == 0 || j == 0 {
		return i + j
	}
	c := min(cost[i-1][j], cost[i][j-1]) + 1
	if plan[i-1] == meant[j-1] {
		c = min(c, cost[i-1][j-1])
	} else {
		c = min(c, cost[i-1][j-1]+1)
	}
	if crossed(plan, meant, i, j) {
		c = min(c, cost[i-2][j-2]+1)
	}
	return c
}

// crossed tells whether the last two of these steps have changed places.
func crossed(plan, meant []string, i, j int) bool {
	return i > 1 && j > 1 && plan[i-1] == meant[j-2] && plan[i-2] == meant[j-1]
}

// touches tells whether the edit is at a step, by its index, or right before it.
func (e edit) touches(step int) bool {
	return e.at == step || e.kind == swap && e.at+1 == step
}
