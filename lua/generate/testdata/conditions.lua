-- Health of Database (example.org/v1), derived from its CRD by Moorpin.
-- Evidence (column):
--   printer columns show the conditions Ready
local uncommon
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
-- Common names: 1 well, 2 under way, 3 paused, 4 wrong, 5 running.
local known, more, rare = {Accepted=1,Active=1,Available=1,Completed=1,Creating=2,Degraded=4,Deleting=2,Error=4,Failed=4,Healthy=1,Initialized=1,Invalid=4,NotReady=2,Paused=3,Pending=2,Progressing=2,Provisioning=2,Ready=1,Reconciling=2,Rejected=4,Running=5,Stalled=4,Succeeded=1,Successful=1,Suspended=3,Synced=1,Unhealthy=4,Updating=2,Waiting=2}
local function say(grave, code, c)
  note(grave, code, text(c.message) or c.type .. " is " .. c.status .. (text(c.reason) and ": " .. c.reason or ""))
end
local function needed(c, class)
  if c.status == "True" and class ~= 4 then return say(2, "Healthy", c) end
  if c.status ~= "False" and not class then return say(4, "Progressing", c) end
  class = class or known[c.reason] or rare().why(c)
  if class == 3 then
    say(6, "Suspended", c)
  elseif class == 4 and (c.status == "False" or c.status == "True") then
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
function rare()
  if more then return more end
  more = {}
  loadstring(uncommon)(more, known, note, text, say, needed)
  return more
end
if get(obj["spec"], "suspend") == true then return {status = "Suspended", message = "the object says " .. "suspend" .. ": true"} end
if status == nil or type(status) == "table" and next(status) == nil then return {status = "Progressing", message = "waiting for the controller to report"} end
if stale(get(status, "observedGeneration")) then return {status = "Progressing", message = "waiting for the controller to observe the latest change"} end
conditions(get(status, "conditions"), "Ready", {"Ready"})
return answer
end
-- For names that are not common. This stays text until it is wanted, because Argo CD
-- compiles the script for every object that it looks at.
uncommon = [==[
local more, known, note, text, say, needed = ...
-- As above, and 6 wrong when denied, 7 denies, 8 says nothing, 9 warns.
local vocabulary = {
a="aborted=4,accepted=6,active=1,alive=1,allowed=6,applied=1,approved=1,attached=1,authorized=6,autoscaling=8,available=1",
b="backoff=4,bad=4,billing=8,binding=8,blocked=2,bootstrapped=1,bound=1,broken=4",
c="caching=8,canceled=4,cancelled=4,cannot=4,complete=1,completed=1,configured=1,conflict=4,conflicted=4,conflicting=4,conflicts=4,connected=1,corrupt=4,corrupted=4,crash=4,crashed=4,crashing=4,created=1",
d="dead=4,degraded=4,deleted=2,denied=4,deployed=1,disabled=3,disconnected=4,done=1,drifted=2",
e="enabled=1,err=4,error=4,errored=4,errors=4,established=1,eventing=8,everything=8,evicted=4,exceeded=4,exception=4,exhausted=4,exist=1,existing=8,exists=1,expired=4",
f="fail=4,failed=4,failing=4,fails=4,failure=4,failures=4,fallback=4,fatal=4,finished=1,forbidden=4,found=6",
g="green=1",
h="halted=3,healthy=1,hibernated=3",
i="illegal=4,incompatible=4,incomplete=2,inconsistent=4,init=2,initialized=1,inprogress=2,installed=1,insufficient=4,invalid=4,issued=1",
k="killed=4,king=8",
l="listening=1,logging=8,lost=4",
m="malformed=4,mapping=8,messaging=8,misconfigured=4,mismatch=4,missing=4,monitoring=8",
n="networking=8,never=7,no=7,non=7,normal=1,['not']=7,nothing=8",
o="offline=4,ok=1,online=1,operational=1,orphan=4,orphaned=4,out=2,outdated=2",
p="panic=4,partial=2,partially=2,passed=1,pause=3,paused=3,peering=8,pending=2,permitted=6,pricing=8,programmed=1,progress=2,provisioned=1,published=1",
q="queued=2",
r="ready=1,reconciled=1,reconciliation=2,red=4,refused=4,registered=1,rejected=4,released=2,requested=2,resolved=1,retry=2,revoked=4,ring=8,routing=8,running=5",
s="scaling=8,serving=1,setting=8,sharding=8,spring=8,stable=1,stale=2,stalled=4,started=2,stopped=3,streaming=8,string=8,submitted=2,succeeded=1,success=1,successful=1,supported=6,suspend=3,suspended=3,synced=1,synchronized=1",
t="terminal=4,thing=8,throttled=2,timed=4,timeout=4,tracing=8",
u="unable=4,unauthorized=4,unavailable=2,unhealthy=4,unknown=2,unreachable=4,unready=2,unrecoverable=4,unresolved=4,unresponsive=4,unstable=4,unsuccessful=4,unsupported=4,updated=1",
v="valid=6,validated=1,verified=1,violation=4",
w="wait=2,waits=2,warning=9,warnings=9,without=7,working=1,wrong=4",
y="yellow=2",
}
local letters = (function() return {" ","!","\"","#","$","%","&","'","(",")","*","+",",","-",".","/","0","1","2","3","4","5","6","7","8","9",":",";","<","=",">","?","@","A","B","C","D","E","F","G","H","I","J","K","L","M","N","O","P","Q","R","S","T","U","V","W","X","Y","Z","[","\\","\093","^","_","`","a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q","r","s","t","u","v","w","x","y","z","{","|","}","~"} end)()
local senses = {}
local function senseOf(word, first)
senses[first] = senses[first] or loadstring("return {" .. (vocabulary[first] or "") .. "}")()
return senses[first][word]
end
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
function more.why(c)
local class = meaning(text(c.reason)).class
if class ~= 0 or not text(c.message) or read == 60 then return class end
read = read + 1
for at, word in ipairs(split(c.message, 3)) do
if at < 4 and word.sense == 4 then return 4 end
end
return 0
end
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
]==]
local fine, status = pcall(check)
if fine then return status end
return {status = "Unknown", message = "the health check failed: " .. tostring(status)}
