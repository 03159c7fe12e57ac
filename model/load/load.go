package load

import (
	"regexp"
	"time"

	"github.com/expr-lang/expr/conf"
	"github.com/hashicorp/hcl/v2"

	"github.com/fettleops/fettle/model"
)

// Options are what a model takes from outside its files.
type Options struct {
	Vars      map[string]string           // values of variables given on the command line
	LookupEnv func(string) (string, bool) // nil: no environment
}

// Loaded is an action model and what was written around it. It is read-only
// and safe for concurrent use.
type Loaded struct {
	Model  *model.Model
	Files  map[string]*hcl.File // by the name that ranges carry
	Folder string               // where relative paths start
	Scope  string               // the name under which leases and journal are kept
	Doc    string
	// Hash is the SHA-256, in hex, over the names and contents of the model's
	// files and the values of its variables.
	Hash string
	Eval *hcl.EvalContext // var, local and the functions

	Fluents  map[*model.Fluent]*Fluent
	Actions  map[*model.Action]*Action
	Discover map[*model.Type]*Block

	Providers, Planners, Critics, Triggers, Notifies, Tests []*Block

	Policy    *Block          // nil where there is none
	Etcd      *Etcd           // nil: embedded
	Sensitive map[string]bool // names of variables whose values are redacted
	Secrets   []string        // the values of sensitive variables, as text
	// Redact are patterns of what is taken out of texts that are shown or
	// recorded, besides the built-in ones. None matches the empty string.
	Redact []*regexp.Regexp

	given    []model.Assignment     // in tests
	expected map[*model.Fluent]bool // by tests
	noted    hcl.Diagnostics        // doubts that only the text shows
}

// Block is a block whose body is decoded elsewhere. Kind is its first label,
// Name its second, each empty where the block has none.
type Block struct {
	Kind, Name string
	Body       hcl.Body
	Range      hcl.Range
	// Params are in scope of the body's expressions, see [Loaded.Scoped].
	Params []model.Param
}

// Fluent is what the model's files say of a fluent beyond its meaning.
type Fluent struct {
	Observe   *Block // nil: not observed
	Derived   bool
	Belief    bool // has an initial value, carried by effects
	DeclRange hcl.Range
}

// Sourced tells whether the fluent's value can come from anywhere.
func (f *Fluent) Sourced() bool { return f.Observe != nil || f.Derived || f.Belief }

// Settle bounds how long an action's effects may take to be seen.
type Settle struct{ Timeout, Interval time.Duration }

// Retry says how often an idempotent action is tried; zero Attempts: once.
type Retry struct {
	Attempts int
	Backoff  time.Duration
}

// Action is what the model's files say of an action beyond its meaning.
type Action struct {
	Run        *Block // nil: nothing carries it out
	Timeout    time.Duration
	Settle     Settle
	Idempotent bool
	Retry      Retry
	Risk       string // low, medium or high; empty where not given
	Reversible bool
	Labels     hcl.Expression // an object of strings over the parameters; nil where not given
	Undo       string         // the action that takes it back, over the parameters
	DeclRange  hcl.Range

	retryRange *hcl.Range
}

// Etcd is where leases and journal are kept.
type Etcd struct {
	Endpoints                 []string
	CAFile, CertFile, KeyFile string
	User, Password, Prefix    string
	Range                     hcl.Range
}

// Model reads the folder's *.fettle.hcl files, or the one file, and reports
// every mistake at once. Where the files could not be read at all the result
// is nil, and [Trouble] tells why. The model of a result that comes with
// errors is incomplete: it is good for looking at, not for planning.
func Model(path string, o Options) (*Loaded, hcl.Diagnostics) {
	ld := newLoader(o)
	if !ld.readFiles(path) {
		return nil, ld.diags.sorted()
	}
	ld.build()
	return ld.l, ld.diags.sorted()
}

// build turns the parsed files into the model.
func (ld *loader) build() {
	ld.sortBlocks()
	ld.variables()
	ld.locals()
	ld.types()
	ld.declareNames()
	ld.declareFluents()
	ld.declareActions()
	ld.settings()
	ld.deriveFluents()
	ld.fillActions()
	ld.invariants()
	ld.goals()
	ld.states()
	ld.foreign()
	ld.m.Link()
	ld.l.Hash = ld.hash()
}

// loader is the work in progress of one call of [Model].
type loader struct {
	o     Options
	l     *Loaded
	m     *model.Model
	diags collector
	names map[string]declared
	// tainted names are declared as two things: what uses them is not blamed.
	tainted map[string]bool

	unparsed bool // a file has mistakes of syntax, so parts of the model are missing

	sources map[string][]byte // file contents by the name that ranges carry
	bodies  []hcl.Body
	blocks  map[string]hcl.Blocks // by block type, in the order read

	typeOf   map[string]*typeDecl
	cyclic   map[*model.Type]bool           // roots of which a cycle of types was cut
	members  map[*model.Type]map[int32]bool // declared objects of a type and its subtypes
	objects  map[string][]*model.Type       // root types that have a declared object of the name
	standing map[*hcl.Block]bool            // fluents and actions whose names are their own
	fluents  []*fluentDecl
	fluentOf map[string]*fluentDecl
	actionOf map[string]*actionDecl
	actions  []*actionDecl
	vars     map[string]varValue
	patience int          // how many more near names are looked for among many
	conf     *conf.Config // of expr's parser
}

func newLoader(o Options) *loader {
	if o.LookupEnv == nil {
		o.LookupEnv = func(string) (string, bool) { return "", false }
	}
	m := model.New()
	return &loader{
		o: o, m: m, names: map[string]declared{}, tainted: map[string]bool{}, sources: map[string][]byte{},
		typeOf: map[string]*typeDecl{}, members: map[*model.Type]map[int32]bool{}, cyclic: map[*model.Type]bool{},
		objects: map[string][]*model.Type{}, vars: map[string]varValue{}, patience: 100,
		l: &Loaded{
			Model: m, Files: map[string]*hcl.File{}, Fluents: map[*model.Fluent]*Fluent{},
			Actions: map[*model.Action]*Action{}, Discover: map[*model.Type]*Block{}, Sensitive: map[string]bool{},
			expected: map[*model.Fluent]bool{},
		},
	}
}
