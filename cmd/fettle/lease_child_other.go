//go:build !linux

package main

import "syscall"

// whenKilled tells what becomes of the command when fettle is killed.
const whenKilled = "Where fettle itself is killed, or stands still, the command goes on, also after the lease has expired."

// endWithUs cannot tie a command to this process here.
func endWithUs(*syscall.SysProcAttr) (release func()) { return func() {} }
