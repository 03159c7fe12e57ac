package validator

import (
	"errors"
	"io"
)

// lineCounter tells in which line an offset of what was read through it lies.
type lineCounter struct {
	r        io.Reader
	line     int // of the offset asked last
	read     int64
	newlines []int64 // offsets behind the one asked last
	asked    int64   // the offset asked last
	err      error   // of r, other than its end; errTooLong
}

// errTooLong says that one JSON value is longer than is read.
var errTooLong = errors.New("too long")

func (c *lineCounter) Read(b []byte) (int, error) {
	if c.read-c.asked > maxLine {
		c.err = errTooLong
		return 0, c.err
	}
	n, err := c.r.Read(b)
	for i := range b[:n] {
		if b[i] == '\n' {
			c.newlines = append(c.newlines, c.read+int64(i))
		}
	}
	c.read += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// at returns the line of an offset, not before one asked earlier.
func (c *lineCounter) at(offset int64) int {
	k := 0
	c.asked = max(c.asked, offset)
	for k < len(c.newlines) && c.newlines[k] < offset {
		k++
	}
	c.line += k
	c.newlines = append(c.newlines[:0], c.newlines[k:]...)
	return c.line
}

// ended tells whether nothing is left to be read.
func (c *lineCounter) ended() bool {
	var b [1]byte
	n, err := c.r.Read(b[:])
	return n == 0 && err == io.EOF
}
