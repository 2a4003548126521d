-- Health of Snapshot (example.org/v1), derived from its CRD by Moorpin.
-- Evidence (convention):
--   status.readyToUse is true when all is well
local function check()
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
local function flag(value, name, detail)
  if value == true then
    note(detail and 1 or 2, "Healthy", name .. " is true")
  elseif value == false then
    note(4, "Progressing", name .. " is false")
  elseif value == nil and not detail then
    note(4, "Progressing", "waiting for " .. name)
  end
end
if status == nil or type(status) == "table" and next(status) == nil then return {status = "Progressing", message = "waiting for the controller to report"} end
flag(get(status, "readyToUse"), "readyToUse", false)
return answer
end
local fine, status = pcall(check)
if fine then return status end
return {status = "Unknown", message = "the health check failed: " .. tostring(status)}
