package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/fettleops/fettle/model"
)

// functions are those of configuration expressions: go-cty's, except what
// reads a clock, and env and file. Package world adds urlencode to bodies.
func (ld *loader) functions() map[string]function.Function {
	return map[string]function.Function{
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "chomp": stdlib.ChompFunc, "chunklist": stdlib.ChunklistFunc,
		"coalesce": stdlib.CoalesceFunc, "coalescelist": stdlib.CoalesceListFunc, "compact": stdlib.CompactFunc,
		"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "csvdecode": stdlib.CSVDecodeFunc,
		"distinct": stdlib.DistinctFunc, "element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc, "formatdate": stdlib.FormatDateFunc, "timeadd": stdlib.TimeAddFunc,
		"floor": stdlib.FloorFunc, "format": stdlib.FormatFunc, "formatlist": stdlib.FormatListFunc,
		"indent": stdlib.IndentFunc, "index": stdlib.IndexFunc, "int": stdlib.IntFunc, "join": stdlib.JoinFunc,
		"jsondecode": stdlib.JSONDecodeFunc, "jsonencode": stdlib.JSONEncodeFunc, "keys": stdlib.KeysFunc,
		"length": stdlib.LengthFunc, "log": stdlib.LogFunc, "lookup": stdlib.LookupFunc, "lower": stdlib.LowerFunc,
		"max": stdlib.MaxFunc, "merge": stdlib.MergeFunc, "min": stdlib.MinFunc, "parseint": stdlib.ParseIntFunc,
		"pow": stdlib.PowFunc, "range": stdlib.RangeFunc, "regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc,
		"regexreplace": stdlib.RegexReplaceFunc, "replace": stdlib.ReplaceFunc, "reverse": stdlib.ReverseListFunc,
		"setintersection": stdlib.SetIntersectionFunc, "setproduct": stdlib.SetProductFunc, "setsymmetricdifference": stdlib.SetSymmetricDifferenceFunc,
		"setsubtract": stdlib.SetSubtractFunc, "setunion": stdlib.SetUnionFunc, "signum": stdlib.SignumFunc,
		"slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "split": stdlib.SplitFunc, "strlen": stdlib.StrlenFunc,
		"strrev": stdlib.ReverseFunc, "substr": stdlib.SubstrFunc, "title": stdlib.TitleFunc, "trim": stdlib.TrimFunc,
		"trimprefix": stdlib.TrimPrefixFunc, "trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc,
		"upper": stdlib.UpperFunc, "values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,
		"tostring": stdlib.MakeToFunc(cty.String), "tonumber": stdlib.MakeToFunc(cty.Number), "tobool": stdlib.MakeToFunc(cty.Bool),
		"env": ld.envFunc(), "file": ld.fileFunc(),
	}
}

func (ld *loader) envFunc() function.Function {
	lookup := ld.o.LookupEnv
	return function.New(&function.Spec{
		Description: "The value of an environment variable; the second argument is used where it is not set.",
		Params:      []function.Parameter{{Name: "name", Type: cty.String}},
		VarParam:    &function.Parameter{Name: "default", Type: cty.String},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if v, ok := lookup(args[0].AsString()); ok {
				return cty.StringVal(v), nil
			}
			if len(args) > 1 {
				return args[1], nil
			}
			return cty.NilVal, &unsetError{args[0].AsString()}
		},
	})
}

// unsetError tells that env() was asked for a variable that is not set.
type unsetError struct{ name string }

// Error says how to do without.
func (e *unsetError) Error() string {
	return fmt.Sprintf("the environment variable %s is not set; a second argument is used as its default", e.name)
}

// maxInclude is the size in bytes above which file() refuses a file.
const maxInclude = 1 << 20

func (ld *loader) fileFunc() function.Function {
	folder := ld.l.Folder
	return function.New(&function.Spec{
		Description: "The text of a file, whose path is relative to the model's folder.",
		Params:      []function.Parameter{{Name: "path", Type: cty.String}},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			data, err := include(folder, args[0].AsString())
			if err != nil {
				return cty.NilVal, err
			}
			return cty.StringVal(string(data)), nil
		},
	})
}

// include reads a text file that a model refers to.
func include(folder, name string) ([]byte, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, readError(name, err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file, and reading it may never end", name)
	case info.Size() > maxInclude:
		return nil, fmt.Errorf("%s has %d bytes, and a model takes in files of at most %d", name, info.Size(), maxInclude)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, readError(name, err)
	}
	if at := invalid(data); at >= 0 {
		return nil, fmt.Errorf("%s is not UTF-8 text: byte %d is 0x%02x", name, at, data[at])
	}
	return data, nil
}

// readError names a file as the author wrote it.
func readError(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Scoped returns the context in which a body's expressions are evaluated: the
// parameters as strings, var, local and the functions. Nil args stand for
// arguments that are not known yet.
func (l *Loaded) Scoped(params []model.Param, args []string) *hcl.EvalContext {
	ctx := l.Eval.NewChild()
	ctx.Variables = make(map[string]cty.Value, len(params))
	for i, p := range params {
		v := cty.UnknownVal(cty.String).RefineNotNull()
		if args != nil {
			v = cty.StringVal(args[i])
		}
		ctx.Variables[p.Name] = v
	}
	return ctx
}
