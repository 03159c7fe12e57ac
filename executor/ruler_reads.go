package executor

// Reads tells the search that the labels of a step depend on its action alone.
func (labelRule) Reads() (step, state bool) { return false, false }

// Reads tells the search that what the shared limits say of a step depends on its
// action alone.
func (sharedRule) Reads() (step, state bool) { return false, false }
