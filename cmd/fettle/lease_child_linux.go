package main

import (
	"runtime"
	"syscall"
)

// whenKilled tells what becomes of the command when fettle is killed.
const whenKilled = "Where fettle itself is killed, the command is killed with it. What the command started is not (let its shells end with\n" +
	"`exec CMD`), nor is a program that changes its user, such as sudo: these may go on after the lease has expired. Nor does\n" +
	"anything end while fettle stands still (SIGSTOP)."

// endWithUs makes a command that is started with these attributes end with this
// process, however that ends: nobody renews its lease any more. The kernel ties
// that to the thread which starts it, so the caller keeps this thread until it
// calls what is returned.
func endWithUs(attr *syscall.SysProcAttr) (release func()) {
	attr.Pdeathsig = syscall.SIGKILL
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
