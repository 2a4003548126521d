package verify

import (
	"context"
	"strings"
	"time"

	argolua "github.com/argoproj/argo-cd/v2/util/lua"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/moorpin/moorpin/pkg/health"
)

// program is a script compiled once, to be run on many objects. Argo CD's VM compiles
// a script anew for each object, which takes several times as long as running it. The
// program runs in the same Lua, with the same libraries and the same time limit. It is
// for one goroutine at a time.
type program struct {
	script   Script
	compiled *lua.FunctionProto            // nil where the script does not compile
	loaded   map[string]*lua.FunctionProto // what loadstring was given
}

// timeLimit is that of Argo CD's VM.
const timeLimit = time.Second

func compile(script Script) program {
	made := program{script: script, loaded: map[string]*lua.FunctionProto{}}
	if compiled, err := compileText(script.Text); err == nil {
		made.compiled = compiled
	}
	return made
}

func compileText(text string) (*lua.FunctionProto, error) {
	const name = "<string>" // as Argo CD's VM calls it in messages
	chunk, err := parse.Parse(strings.NewReader(text), name)
	if err != nil {
		return nil, err //nolint:wrapcheck // Lua sees it
	}
	return lua.Compile(chunk, name) //nolint:wrapcheck // the same
}

// load is Lua's loadstring, which compiles each text only once.
func (p program) load(state *lua.LState) int {
	text := state.CheckString(1)
	if p.loaded[text] == nil {
		compiled, err := compileText(text)
		if err != nil {
			state.Push(lua.LNil)
			state.Push(lua.LString(err.Error()))
			return 2
		}
		p.loaded[text] = compiled
	}
	state.Push(state.NewFunctionFromProto(p.loaded[text]))
	return 1
}

// run is Script.Run. It takes plain answers only from the compiled script; of
// everything else Argo CD's VM has the verdict.
func (p program) run(ctx context.Context, object map[string]any) (health.Status, error) {
	if ctx.Err() == nil && p.compiled != nil && !p.script.OpenLibs {
		if status, plain := p.quick(ctx, object); plain {
			return status, nil
		}
	}
	return p.script.Run(ctx, object)
}

// quick runs the compiled script in a new state, and returns false unless the answer is
// a status with a message.
func (p program) quick(ctx context.Context, object map[string]any) (status health.Status, plain bool) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	defer func() {
		if recover() != nil {
			plain = false // Argo CD's VM says how it broke
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	state.SetContext(ctx)
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}, {lua.OsLibName, argolua.OpenSafeOs}} {
		state.Push(state.NewFunction(library.open))
		state.Push(lua.LString(library.name))
		if err := state.PCall(1, 0, nil); err != nil {
			return status, false
		}
	}
	state.PreloadModule(lua.OsLibName, argolua.SafeOsLoader)
	state.SetGlobal("loadstring", state.NewFunction(p.load))
	state.SetGlobal("obj", toLua(state, object))
	state.Push(state.NewFunctionFromProto(p.compiled))
	if err := state.PCall(0, lua.MultRet, nil); err != nil {
		return status, false
	}
	return fromLua(state.Get(-1))
}

// fromLua reads a plain answer.
func fromLua(value lua.LValue) (health.Status, bool) {
	answer, isTable := value.(*lua.LTable)
	if !isTable {
		return health.Status{}, false
	}
	code, isText := answer.RawGetString("status").(lua.LString)
	message, isAlso := answer.RawGetString("message").(lua.LString)
	status := health.Status{Code: health.Code(code), Message: string(message)}
	switch status.Code {
	case health.Healthy, health.Progressing, health.Degraded, health.Suspended, health.Missing, health.Unknown:
		return status, isText && isAlso
	}
	return health.Status{}, false
}

// toLua turns JSON values into Lua's as Argo CD does: integers are floats, and null
// vanishes.
func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case string:
		return lua.LString(value)
	case float64:
		return lua.LNumber(value)
	case int64:
		return lua.LNumber(value)
	case []any:
		list := state.CreateTable(len(value), 0)
		for _, item := range value {
			list.Append(toLua(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(value))
		for name, item := range value {
			table.RawSetH(lua.LString(name), toLua(state, item))
		}
		return table
	}
	return lua.LNil
}
