package verify

import (
	"testing"
)

// TestProgram holds the compiled script against Argo CD's VM, for answers of every sort.
func TestProgram(t *testing.T) {
	object := map[string]any{
		"a": []any{int64(1), nil, 2.5, "x", true, map[string]any{}}, "b": map[string]any{"c": nil, "d": "e"}, "n": int64(7), "none": nil,
	}
	const dump = `
local function dump(value)
  if type(value) ~= "table" then return type(value) .. " " .. tostring(value) end
  local keys, text = {}, "{"
  for key in pairs(value) do keys[#keys + 1] = tostring(key) end
  table.sort(keys)
  for _, key in ipairs(keys) do text = text .. key .. "=" .. dump(value[key] or value[tonumber(key)]) .. ";" end
  return text .. "}"
end
`
	tests := map[string]struct {
		reason string
		script string
		plain  bool // whether the compiled script's own answer counts
	}{
		"object":        {"the object looks the same to Lua", dump + `return {status = "Healthy", message = dump(obj)}`, true},
		"libraries":     {"the same functions are there", dump + `local names = {} for name, value in pairs(_G) do names[name] = type(value) end names.obj = nil return {status = "Unknown", message = dump(names)}`, true},
		"table library": {"with the same functions in it", dump + `local names = {} for name, value in pairs(table) do names[name] = type(value) end return {status = "Unknown", message = dump(names)}`, true},
		"time":          {"os can be required", `return {status = "Healthy", message = type(require("os").time())}`, true},
		"pcall":         {"errors can be caught", `return {status = "Healthy", message = tostring(select(2, pcall(function() return obj.x.y end)))}`, true},
		"loadstring":    {"a text becomes a function with the same globals", `known = "k" local f = loadstring("return known .. ...") return {status = "Healthy", message = f("a") .. loadstring("return known .. ...")("b")}`, true},
		"bad text":      {"or says why not", `local f, why = loadstring("return {") return {status = "Healthy", message = tostring(f) .. type(why)}`, true},
		"global":        {"a run leaves nothing to the next", `seen = (seen or 0) + 1 return {status = "Healthy", message = tostring(seen)}`, true},
		"two values":    {"the last one counts", `return {status = "Healthy", message = "a"}, {status = "Degraded", message = "b"}`, true},
		"no answer":     {"Argo CD's VM has the verdict", `local a`, false},
		"no message":    {"so it has", `return {status = "Healthy"}`, false},
		"other message": {"so it has", `return {status = "Healthy", message = 3}`, false},
		"other status":  {"so it has", `return {status = "healthy", message = "x"}`, false},
		"text":          {"so it has", `return "Healthy"`, false},
		"error":         {"so it has", `error("no")`, false},
		"no Lua":        {"so it has", `return {`, false},
		"deep":          {"so it has", `local function f(n) return 1 + f(n + 1) end return {status = "Healthy", message = tostring(f(1))}`, false},
		"without end":   {"so it has", `while true do end`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			made := compile(Script{Text: test.script})
			if test.plain {
				if status, plain := made.quick(t.Context(), object); !plain {
					t.Fatalf("%s: no plain answer: %v", test.reason, status)
				}
			}
			want, wantErr := Run(t.Context(), test.script, object)
			have, err := made.run(t.Context(), object)
			if have != want || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%s: Argo CD's VM says %v, %v\nthe program %v, %v", test.reason, want, wantErr, have, err)
			}
		})
	}
}
