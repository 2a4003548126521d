-- The functions of package health in Lua. Each section begins with its name; comments do
-- not go into the scripts.
---- core
-- What every check needs.
local status, rank, answer = obj.status, 0, {status = "Progressing", message = "waiting for a sign of health"}
local function note(grave, code, message)
  if grave > rank then rank, answer = grave, {status = code, message = message} end
end
local function text(value)
  if type(value) == "string" and value ~= "" then return value end
end
local function number(value)
  local read = tonumber(value)
  if read and (read == value or tostring(read) == value and read % 1 == 0) and read > -2^53 and read < 2^53 then return read end
end
local function get(value, name)
  if type(value) == "table" then return value[name] end
end
local generation = number(get(obj.metadata, "generation")) or 0
local function stale(observed)
  return observed ~= nil and (number(observed) or generation) < generation
end
---- each
-- Paths through every item.
-- The items of a list, or the values of a map in the order of its keys.
local function items(value)
  if type(value) ~= "table" then return {} end
  if value[1] ~= nil or next(value) == nil then return value end
  local keys, list = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys)
  for at, key in ipairs(keys) do list[at] = value[key] end
  return list
end
-- Calls visit with every value that a path leads to and with what holds it.
local function each(path, visit, value, step, holder)
  if step > #path then
    visit(value, holder)
  elseif path[step] == "*" then
    for _, item in ipairs(items(value)) do each(path, visit, item, step + 1, value) end
  elseif get(value, path[step]) ~= nil then
    each(path, visit, value[path[step]], step + 1, value)
  end
end
---- conditions
-- Lists of conditions.
local function say(grave, code, c)
  note(grave, code, text(c.message) or c.type .. " is " .. c.status .. (text(c.reason) and ": " .. c.reason or ""))
end
local function needed(c, class)
  if c.status == "True" and class ~= 4 then return say(2, "Healthy", c) end
  if c.status ~= "False" and not class then return say(4, "Progressing", c) end
  class = class or known[c.reason] or rare().why(c)
  if class == 3 then
    say(6, "Suspended", c)
  elseif DEGRADED then
    say(7, "Degraded", c)
  else
    say(4, "Progressing", c)
  end
end
local function conditions(list, lead, types)
  local listed, there, must, led = {}, {}, {}, false
  for _, c in ipairs(type(list) == "table" and list or {}) do
    if text(get(c, "type")) and text(c.status) then
      listed[#listed + 1], there[c.type] = c, c.status
    end
  end
  for _, kind in ipairs(types) do
    if there[kind] and (lead or not led) then must[kind], led = true, true end
  end
  if lead and listed[1] and not there[lead] then note(4, "Progressing", "waiting for the condition " .. lead) end
  for _, c in ipairs(listed) do
    local class, ready = known[c.type], there.Ready == "True"
    if stale(c.observedGeneration) then
      note(4, "Progressing", "waiting for the controller to observe the latest change")
    elseif must[c.type] then
      needed(c)
    elseif not led or class ~= 1 and (not ready or class and class < 5 and c.status == "True") then
      rare().other(c, led, ready)
    end
  end
end
---- word
-- Phases and states.
local function phase(value, holder, finite, detail)
  if not text(value) then return end
  local class, more = known[value], text(get(holder, "message"))
  local message = more and value .. ": " .. more or value
  if class == 1 or class == 5 and not finite then
    note(detail and 1 or 2, "Healthy", message)
  elseif class == 4 then
    note(7, "Degraded", message)
  elseif class == 3 then
    note(6, "Suspended", message)
  elseif class then
    note(4, "Progressing", message)
  else
    rare().phase(value, message, finite, detail)
  end
end
---- numbered
-- States that are numbers.
local function numbered(state)
  if state == 0 then
    note(4, "Progressing", "the state is not known yet")
  elseif state == 1 then
    note(1, "Healthy", "the state is accepted")
  elseif state then
    note(7, "Degraded", "the state is not accepted")
  end
end
---- flag
-- Booleans that are true when all is well.
local function flag(value, name, detail)
  if value == true then
    note(detail and 1 or 2, "Healthy", name .. " is true")
  elseif value == false then
    note(4, "Progressing", name .. " is false")
  elseif value == nil and not detail then
    note(4, "Progressing", "waiting for " .. name)
  end
end
---- fault
-- Fields that tell of an error.
local function fault(value, name, detail)
  local message = text(value) or text(get(value, "message"))
  if value == true then
    note(7, "Degraded", name .. " is true")
  elseif message then
    note(7, "Degraded", message)
  elseif not detail then
    note(1, "Healthy", "there is no " .. name)
  end
end
---- replicas
-- Numbers of replicas.
local function replicas(have, want, name)
  have, want = number(have) or 0, number(want)
  if want and have < want then
    note(4, "Progressing", name .. " is below what is wanted")
  elseif want then
    note(1, "Healthy", name .. " is what is wanted")
  end
end
---- names
-- What names mean.
local senses = {}
local function senseOf(word, first)
  senses[first] = senses[first] or loadstring("return {" .. (vocabulary[first] or "") .. "}")()
  return senses[first][word]
end
-- Strings cannot be taken apart here, only compared: each letter is the last one
-- that, put behind the letters before it, does not come after the name.
local function split(name, most)
  local words, known, spelled, capitals = {}, "", {}, 0
  local function flush(count)
    if count > 0 then
      local word = table.concat(spelled, "", 1, count)
      local ing = count > 2 and table.concat(spelled, "", count - 2, count) == "ing"
      words[#words + 1] = {name = word, sense = senseOf(word, spelled[1]) or ing and 2 or 0}
    end
    spelled = {spelled[count + 1]}
  end
  for _ = 1, 64 do
    local low, high = 0, 96
    while high - low > 1 do
      local middle = (low + high - (low + high) % 2) / 2
      if known .. letters[middle] <= name then low = middle else high = middle end
    end
    if low == 0 or #words == most or known .. "\127" <= name then break end
    known = known .. letters[low]
    if low >= 34 and low <= 59 then
      if capitals == 0 then flush(#spelled) end
      capitals = capitals + 1
      spelled[#spelled + 1] = letters[low + 32]
    elseif low >= 66 and low <= 91 then
      if capitals > 1 then flush(#spelled - 1) end
      capitals = 0
      spelled[#spelled + 1] = letters[low]
    else
      flush(#spelled)
      capitals = 0
    end
  end
  flush(#spelled)
  return words
end
-- What a name means: class is 0 nothing, 1 good, 2 wait, 3 pause, 4 bad.
local meanings, read = {}, 0
local function meaning(name)
  if name and meanings[name] then return meanings[name] end
  local result, deny = {class = 0, last = 0, words = {}}, false
  if not name or read == 60 and not known[name] then return result end
  if not known[name] then read = read + 1 end
  meanings[name], result.words = result, split(name)
  for _, word in ipairs(result.words) do
    local class = word.sense
    if class == 7 then
      class, deny = 0, true
    elseif class == 1 or class == 5 then
      result.running, class = result.running or class == 5, deny and 2 or 1
    elseif class == 6 then
      class = deny and 4 or 1
    elseif class > 7 then
      result.warning, class = result.warning or class == 9, 0
    elseif deny then
      class = 0
    end
    if class ~= 0 then result.last, result.denied = class, deny end
    if class > result.class then result.class = class end
  end
  return result
end
---- othercondition
-- Conditions that are not needed, and reasons that are not common.
function more.why(c)
  local class = meaning(text(c.reason)).class
  if class ~= 0 or not text(c.message) or read == 60 then return class end
  read = read + 1
  for at, word in ipairs(split(c.message, 3)) do
    if at < 4 and word.sense == 4 then return 4 end
  end
  return 0
end
-- A condition that is not needed.
function more.other(c, led, ready)
  local is, meant, reason = c.status == "True", meaning(c.type), meaning(text(c.reason))
  local class, first = reason.class, meant.words[1]
  if meant.warning then
    return
  elseif meant.last == 1 or meant.class < 2 and not (meant.class == 0 and first and first.sense == 7) then
    if is and c.type == "Running" and reason.running and not led then
      say(4, "Progressing", c)
    elseif not led then
      local why = more.why(c)
      if c.status ~= "False" or meant.class ~= 0 or why ~= 0 then needed(c, why) end
    end
  elseif meant.class == 3 then
    if is then say(6, "Suspended", c) end
  elseif meant.class == 2 and not meant.denied then
    if class == 4 then
      say(7, "Degraded", c)
    elseif class == 3 then
      say(6, "Suspended", c)
    elseif is and class == 1 then
      say(1, "Healthy", c)
    elseif is and not ready then
      say(4, "Progressing", c)
    end
  elseif not is then
    say(1, "Healthy", c)
  elseif class == 2 then
    say(4, "Progressing", c)
  else
    say(7, "Degraded", c)
  end
end
---- otherword
-- Phases that are not common.
local whole = {unknown = "Unknown", inconclusive = "Unknown", missing = "Missing", ["not found"] = "Missing", warning = "Degraded", up = "Healthy", ["up to date"] = "Healthy"}
function more.phase(value, message, finite, detail)
  local meant, names = meaning(value), {}
  for at, word in ipairs(meant.words) do names[at] = word.name end
  local code = whole[table.concat(names, " ")]
  if code == "Degraded" or not code and meant.class == 4 then
    note(7, "Degraded", message)
  elseif code == "Healthy" or not code and meant.class == 1 and not (finite and meant.running) then
    note(detail and 1 or 2, "Healthy", message)
  elseif code then
    if not detail then note(5, code, message) end
  elseif meant.class == 3 then
    note(6, "Suspended", message)
  elseif meant.class == 2 or meant.class == 1 then
    note(4, "Progressing", message)
  elseif not detail then
    note(3, "Progressing", message)
  end
end
