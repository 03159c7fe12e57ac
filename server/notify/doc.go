// Package notify tells people and programs what becomes of a run: that it
// escalated or failed, that it waits, that an action is in doubt, that it left
// something worse than it found it. Whom to tell and on which occasions is said
// by the notify blocks of a model.
//
// It stands at the end of the flow and only reads: it folds the events of a
// run's journal into small messages, see [Message], and delivers them over HTTP
// or by a program, each notifier in a goroutine of its own.
//
// What it refuses: to hold a run up or to change how it ends, whatever a
// notifier does. One that fails or hangs is told of and no more; at the end of a
// run all of them together get [Grace]. A run that is killed tells nobody: who
// tells is its own process.
package notify
