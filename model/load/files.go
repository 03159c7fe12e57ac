package load

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// The endings of the files of a model and of its tests.
const (
	modelSuffix = ".fettle.hcl"
	testSuffix  = ".fettletest.hcl"
)

// maxFile is the size in bytes above which a file is refused.
const maxFile = 16 << 20

// readFiles reads and parses what the path names; false where there is nothing
// to go on with.
func (ld *loader) readFiles(path string) bool {
	names, err := Files(path)
	if err != nil {
		ld.trouble("Cannot read the model", err)
		return false
	}
	ld.l.Folder = path
	if len(names) == 1 && names[0] == path {
		ld.l.Folder = filepath.Dir(path)
	}
	for _, name := range names {
		if err := ld.readFile(name); err != nil {
			ld.trouble("Cannot read the model", err)
			return false
		}
	}
	return true
}

// Files returns the files of a model and of its tests: those of a folder in the
// order of their names, or the one file itself. Each is a regular file, or a
// link to one: anything else by such a name is an error, since reading a pipe or
// a device may never end.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, regular(path, info)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names []string
	found := false
	for _, e := range entries {
		n := e.Name()
		if strings.HasPrefix(n, ".") {
			continue
		}
		if strings.HasSuffix(n, modelSuffix) {
			found = true
		} else if !strings.HasSuffix(n, testSuffix) {
			continue
		}
		name := filepath.Join(path, n)
		if info, err = os.Stat(name); err == nil {
			err = regular(name, info)
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if !found {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNoFiles}
	}
	return names, nil
}

// regular returns an error for what is no regular file.
func regular(name string, info fs.FileInfo) error {
	what := ""
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	default:
		what = "a device"
	}
	return &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is %s, and a model is read from regular files alone; rename or remove it", what)}
}

func (ld *loader) readFile(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.Size() > maxFile {
		return &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("larger than %d MiB", maxFile>>20)}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	ld.parse(name, data)
	return nil
}

func (ld *loader) parse(name string, data []byte) {
	ld.sources[name] = data
	f, diags := Parse(name, data)
	ld.diags.extend(diags)
	ld.unparsed = ld.unparsed || diags.HasErrors()
	ld.l.Files[name] = f
	if f.Body != nil {
		ld.bodies = append(ld.bodies, f.Body)
	}
}

// Parse reads a file's syntax. The file is never nil, but has no body where
// nothing could be read.
func Parse(name string, data []byte) (*hcl.File, hcl.Diagnostics) {
	if d := notText(name, data); d != nil {
		return &hcl.File{Bytes: data}, hcl.Diagnostics{d}
	}
	if rng, deep := tooDeep(data, name); deep {
		return &hcl.File{Bytes: data}, hcl.Diagnostics{{
			Severity: hcl.DiagError, Summary: "Nested too deeply", Subject: &rng,
			Detail: "Nothing sensible nests this deeply; the file is not read further.",
		}}
	}
	f, diags := hclsyntax.ParseConfig(data, name, hcl.InitialPos)
	if f == nil {
		f = &hcl.File{Bytes: data}
	}
	return f, firstUnclosed(diags)
}

// firstUnclosed leaves out what HCL says behind a quote that is never closed:
// everything there looks wrong to it, line by line.
func firstUnclosed(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Summary != "Invalid multi-line string" || d.Subject == nil {
			continue
		}
		out := hcl.Diagnostics{{
			Severity: hcl.DiagError, Summary: "Unclosed string", Subject: d.Subject,
			Detail: `A string that starts on this line does not end on it. Close it with ", or write it over several lines as <<EOT … EOT; a quote within it is written \".`,
		}}
		for _, other := range diags {
			if other.Subject != nil && other.Subject.Start.Byte < d.Subject.Start.Byte {
				out = append(out, other)
			}
		}
		return out
	}
	return diags
}

// hash covers what the model was read from.
func (ld *loader) hash() string {
	h := sha256.New()
	var names []string
	for n := range ld.sources {
		if !strings.HasSuffix(n, testSuffix) {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	for _, n := range names {
		hashPart(h, filepath.Base(n), ld.sources[n])
	}
	var vars []string
	for n := range ld.vars {
		vars = append(vars, n)
	}
	sort.Strings(vars)
	for _, n := range vars {
		if v := ld.vars[n].value; v.IsWhollyKnown() {
			text, err := ctyjson.Marshal(v, cty.DynamicPseudoType)
			if err == nil {
				hashPart(h, "var."+n, text)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func hashPart(h hash.Hash, name string, data []byte) {
	fmt.Fprintf(h, "%d:%s%d:", len(name), name, len(data))
	h.Write(data)
}
