package main

import "fmt"

// lingering tells why a command that is done does not end.
func lingering(n int) string {
	uses, they := "use", "they end"
	if n == 1 {
		uses, they = "uses", "that one ends"
	}
	return fmt.Sprintf("%s on this host still %s the store that this process holds; it goes on until %s (interrupt it to end now)",
		count(n, "process"), uses, they)
}
