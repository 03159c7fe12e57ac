package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reference is what the classic validator VAL (3c7a1f3) needs for the same
// kind of problem, measured once on a two-core machine; a figure that no
// measurement gave follows from its 6.5 µs and 0.8 KB a step.
type reference struct {
	seconds  float64
	mebibyte float64
	scaled   bool // not measured, scaled linearly
}

// BenchmarkValidateProcess tells what the whole process costs, its start
// included, to validate a generated plan against a generated PDDL problem. VAL
// runs beside it, in turn, where the environment's VAL names its binary;
// elsewhere recorded figures stand for it.
func BenchmarkValidateProcess(b *testing.B) {
	built, bin := filepath.Join(b.TempDir(), "built"), filepath.Join(b.TempDir(), "fettle")
	if out, err := exec.Command("go", "build", "-o", built, ".").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	// As an installed file is: what the linker wrote stands in the page cache in
	// such large pieces that more of it counts as resident than is looked at.
	if out, err := exec.Command("cp", built, bin).CombinedOutput(); err != nil {
		b.Fatalf("install: %v\n%s", err, out)
	}
	for _, c := range []struct {
		name  string
		task  task
		other reference
	}{
		{"gripper/balls=20/steps=1000", gripper(20, 1_000), reference{0.0065, 4, true}},
		{"gripper/balls=20/steps=10000", gripper(20, 10_000), reference{0.065, 10, true}},
		{"gripper/balls=20/steps=100000", gripper(20, 100_000), reference{0.65, 80, false}},
		{"gripper/balls=20/steps=1000000", gripper(20, 1_000_000), reference{6.5, 800, true}},
		{"gripper/balls=9000/steps=9000", gripper(9_000, 9_000), reference{0.16, 0, false}},
		{"gripper/balls=100000/steps=100000", gripper(100_000, 100_000), reference{}},
		{"grid/nodes=100000/steps=100", grid(100_000, 100), reference{1.18, 105, false}},
	} {
		b.Run(c.name, func(b *testing.B) { c.task.measure(b, bin, c.other) })
	}
}

// task is a problem with a plan for it.
type task struct {
	domain        string
	problem, plan func(*bufio.Writer)
}

func (t task) measure(b *testing.B, bin string, other reference) {
	b.Helper()
	dir := b.TempDir()
	files := [3]string{}
	for i, part := range []struct {
		name  string
		write func(*bufio.Writer)
	}{{"domain.pddl", func(w *bufio.Writer) { fmt.Fprint(w, t.domain) }}, {"problem.pddl", t.problem}, {"plan", t.plan}} {
		files[i] = filepath.Join(dir, part.name)
		f, err := os.Create(files[i])
		if err != nil {
			b.Fatal(err)
		}
		w := bufio.NewWriter(f)
		part.write(w)
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	val := os.Getenv("VAL")
	var ours, theirs usage
	for b.Loop() {
		ours.add(b, "valid", bin, "validate", files[0], files[1], "--plan", files[2])
		if val != "" {
			theirs.add(b, "Plan valid", val, files[0], files[1], files[2])
		}
	}
	n := float64(b.N)
	cpu := ours.cpu.Seconds() / n
	b.ReportMetric(cpu*1000, "cpu-ms")
	b.ReportMetric(ours.mebibyte, "MiB")
	if val != "" {
		other = reference{seconds: theirs.cpu.Seconds() / n, mebibyte: theirs.mebibyte}
	}
	if other.seconds > 0 {
		b.ReportMetric(other.seconds/cpu, "VAL-cpu/cpu")
	}
	if other.mebibyte > 0 {
		b.ReportMetric(other.mebibyte/ours.mebibyte, "VAL-mem/mem")
	}
}

// usage sums processor time, and keeps the largest resident set.
type usage struct {
	cpu      time.Duration
	mebibyte float64
}

func (u *usage) add(b *testing.B, says, bin string, args ...string) {
	b.Helper()
	cmd := exec.Command(bin, args...)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), says) {
		b.Fatalf("%s: %v\n%.500s", bin, err, out)
	}
	u.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.mebibyte = max(u.mebibyte, float64(r.Maxrss)/1024) // Linux counts in KiB.
	}
}

// gripper is the classic domain: a robot with two hands carries balls between
// two rooms, here to and fro for so many steps.
func gripper(balls, steps int) task {
	const domain = `(define (domain gripper)
  (:requirements :strips :typing)
  (:types room ball gripper)
  (:predicates (at-robby ?r - room) (at ?b - ball ?r - room) (free ?g - gripper) (carry ?b - ball ?g - gripper))
  (:action move :parameters (?from ?to - room)
    :precondition (at-robby ?from)
    :effect (and (at-robby ?to) (not (at-robby ?from))))
  (:action pick :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (at ?b ?r) (at-robby ?r) (free ?g))
    :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))
  (:action drop :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (carry ?b ?g) (at-robby ?r))
    :effect (and (at ?b ?r) (free ?g) (not (carry ?b ?g)))))
`
	rooms := [2]string{"rooma", "roomb"}
	return task{
		domain: domain,
		problem: func(w *bufio.Writer) {
			fmt.Fprint(w, "(define (problem p) (:domain gripper)\n(:objects rooma roomb - room left right - gripper")
			for i := range balls {
				fmt.Fprint(w, " b", i)
			}
			fmt.Fprint(w, " - ball)\n(:init (at-robby rooma) (free left) (free right)")
			for i := range balls {
				fmt.Fprintf(w, "\n(at b%d rooma)", i)
			}
			fmt.Fprint(w, ")\n(:goal (free left)))\n")
		},
		plan: func(w *bufio.Writer) { // pick, move, drop, move; back again in the next lap
			in := make([]int, balls)
			for i, robot, ball := 0, 0, 0; i < steps; i++ {
				switch b := ball % balls; i % 4 {
				case 0:
					fmt.Fprintf(w, "(pick b%d %s left)\n", b, rooms[in[b]])
				case 1:
					fmt.Fprintf(w, "(move %s %s)\n", rooms[robot], rooms[1-robot])
					robot = 1 - robot
				case 2:
					fmt.Fprintf(w, "(drop b%d %s left)\n", b, rooms[robot])
					in[b] = robot
					ball++
				case 3:
					if to := in[ball%balls]; to != robot {
						fmt.Fprintf(w, "(move %s %s)\n", rooms[robot], rooms[to])
						robot = to
						break
					}
					fmt.Fprintf(w, "(move %s %s)\n", rooms[robot], rooms[robot])
				}
			}
		},
	}
}

// grid is a robot on a ring of nodes, each connected with both neighbours.
func grid(nodes, steps int) task {
	const domain = `(define (domain grid)
  (:requirements :strips :typing)
  (:types node)
  (:predicates (at ?n - node) (conn ?a ?b - node))
  (:action move :parameters (?from ?to - node)
    :precondition (and (at ?from) (conn ?from ?to))
    :effect (and (at ?to) (not (at ?from)))))
`
	return task{
		domain: domain,
		problem: func(w *bufio.Writer) {
			fmt.Fprint(w, "(define (problem p) (:domain grid)\n(:objects")
			for i := range nodes {
				fmt.Fprint(w, " n", i)
			}
			fmt.Fprint(w, " - node)\n(:init (at n0)")
			for i := range nodes {
				next := (i + 1) % nodes
				fmt.Fprintf(w, "\n(conn n%d n%d) (conn n%d n%d)", i, next, next, i)
			}
			fmt.Fprint(w, ")\n(:goal (at n"+strconv.Itoa(steps%nodes)+")))\n")
		},
		plan: func(w *bufio.Writer) {
			for i := range steps {
				fmt.Fprintf(w, "(move n%d n%d)\n", i%nodes, (i+1)%nodes)
			}
		},
	}
}
