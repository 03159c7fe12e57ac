// Package audit folds the journals of many runs into where the model and the
// world disagree: how often the declared effects of each action were seen, how
// long that took, what its time limits should be; and into how well planners use
// critiques. A wrong model is the one thing that the validator cannot see: this
// is where it shows.
//
// It is a pure function of events and of the model's present settings. Events of
// older versions lack fields, which then count for nothing; those that cannot be
// read are counted, and passed over.
package audit
