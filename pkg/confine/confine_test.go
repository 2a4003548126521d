package confine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moorpin/moorpin/pkg/confine"
)

const argument = "confine-test-child"

func TestMain(m *testing.M) {
	if confine.IsChild(argument) {
		os.Exit(confine.Serve(work))
	}
	if confine.IsChild("confine-test-parent") {
		parent()
	}
	if confine.IsChild("confine-test-remove") {
		removeLocked()
	}
	os.Exit(m.Run())
}

// work does what the first word of a request says, and answers with what came of it.
func work(request []byte, ask func([]byte) ([]byte, error)) []byte {
	var words []string
	if err := json.Unmarshal(request, &words); err != nil {
		return []byte(err.Error())
	}
	answer, err := tricks[words[0]](words[1:], ask)
	if err != nil {
		return []byte("error: " + err.Error())
	}
	return []byte(answer)
}

var (
	kept   [][]byte
	leaked []*os.File
)

var tricks = map[string]func(words []string, ask func([]byte) ([]byte, error)) (string, error){
	"read": func(words []string, _ func([]byte) ([]byte, error)) (string, error) {
		text, err := os.ReadFile(words[0])
		return string(text), err
	},
	"list": func(words []string, _ func([]byte) ([]byte, error)) (string, error) {
		entries, err := os.ReadDir(words[0])
		return fmt.Sprint(len(entries)), err
	},
	"write": func(words []string, _ func([]byte) ([]byte, error)) (string, error) {
		return "written", os.WriteFile(words[0], []byte(words[1]), 0o600)
	},
	"run": func(words []string, _ func([]byte) ([]byte, error)) (string, error) {
		text, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		return string(text), err
	},
	"leave": func(words []string, _ func([]byte) ([]byte, error)) (string, error) {
		return "left", exec.Command(words[0], words[1:]...).Start()
	},
	"signal": func(words []string, _ func([]byte) ([]byte, error)) (string, error) {
		process, err := strconv.Atoi(words[0])
		if err != nil {
			return "", err
		}
		return "signalled", syscall.Kill(process, 0)
	},
	"hold": func(words []string, _ func([]byte) ([]byte, error)) (string, error) {
		for range 64 {
			piece := make([]byte, 16<<20)
			for i := 0; i < len(piece); i += 4096 {
				piece[i] = 1
			}
			kept = append(kept, piece)
			time.Sleep(2 * time.Millisecond)
		}
		return fmt.Sprint(len(kept)), nil
	},
	"burst": func([]string, func([]byte) ([]byte, error)) (string, error) {
		kept = append(kept, make([]byte, 8<<30))
		return "got it", nil
	},
	"spin": func([]string, func([]byte) ([]byte, error)) (string, error) {
		for { //nolint:staticcheck // it is what it is for
		}
	},
	"overflow": func(words []string, ask func([]byte) ([]byte, error)) (string, error) {
		var down func(n int) int
		down = func(n int) int { return down(n+1) + 1 }
		return fmt.Sprint(down(0)), nil
	},
	"files": func([]string, func([]byte) ([]byte, error)) (string, error) {
		for i := 0; ; i++ {
			if err := os.WriteFile(fmt.Sprintf("file-%d", i), nil, 0o600); err != nil {
				return "", err
			}
		}
	},
	"map": func([]string, func([]byte) ([]byte, error)) (string, error) {
		piece, err := syscall.Mmap(-1, 0, 256<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_ANON)
		if err != nil {
			return "", err
		}
		for i := 0; i < len(piece); i += 4096 {
			piece[i] = 1
		}
		time.Sleep(time.Second)
		return "mapped", nil
	},
	"long": func([]string, func([]byte) ([]byte, error)) (string, error) { return strings.Repeat("x", 1<<20+1), nil },
	"env": func([]string, func([]byte) ([]byte, error)) (string, error) {
		return strings.Join(os.Environ(), "\n"), nil
	},
	"print": func([]string, func([]byte) ([]byte, error)) (string, error) {
		fmt.Println("zzzz")
		return "printed", nil
	},
	"twice": func([]string, func([]byte) ([]byte, error)) (string, error) {
		answers := os.NewFile(4, "answers")
		frame := append([]byte{'z', 0, 0, 0, 0, 0, 0, 0, 20}, []byte("0123456789abcdefFAKE")...)
		_, err := answers.Write(frame)
		syscall.CloseOnExec(4)
		kept = append(kept, frame)
		leaked = append(leaked, answers) // or it is closed with the value
		return "answered", err
	},
	"ask": func(words []string, ask func([]byte) ([]byte, error)) (string, error) {
		reply, err := ask([]byte(words[0]))
		return "heard " + string(reply), err
	},
}

func start(t *testing.T, change func(*confine.Spec)) *confine.Child {
	t.Helper()
	spec := confine.Spec{
		Argument: argument, Folder: filepath.Join(t.TempDir(), "own"), Mode: confine.Auto,
		Env: []string{"PATH=" + os.Getenv("PATH")}, Limits: confine.Limits{Memory: 256 << 20, AnswerBytes: 1 << 20},
	}
	if change != nil {
		change(&spec)
	}
	check(t, os.MkdirAll(spec.Folder, 0o700))
	child, err := confine.Start(spec)
	check(t, err)
	t.Cleanup(func() { check(t, child.Close()) })
	return child
}

func call(t *testing.T, child *confine.Child, words ...string) (string, error) {
	t.Helper()
	request, err := json.Marshal(words)
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	answer, err := child.Call(ctx, request, func(question []byte) ([]byte, error) { return append([]byte("you said "), question...), nil })
	return string(answer), err
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// secret is a file that a child must not reach.
func secret(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	check(t, os.WriteFile(file, []byte("s3cret"), 0o600))
	return file
}

// Where the kernel has Landlock, a child is confined; nothing here is skipped there.
func TestConfined(t *testing.T) {
	if confine.Supported() == 0 {
		t.Skip("this kernel has no Landlock")
	}
	file := secret(t)
	link := func(child *confine.Child) string { return filepath.Join(child.Folder(), "link") }
	self := strconv.Itoa(os.Getpid())
	other := start(t, nil)
	check(t, os.WriteFile(filepath.Join(other.Folder(), "theirs"), []byte("s3cret"), 0o600))
	cases := map[string]struct {
		reason string
		words  func(child *confine.Child) []string
	}{
		"file": {"a file elsewhere", func(*confine.Child) []string { return []string{"read", file} }},
		"link": {"a link that leads elsewhere", func(child *confine.Child) []string {
			check(t, os.Symlink(file, link(child)))
			return []string{"read", link(child)}
		}},
		"tool":           {"what it starts is confined as well", func(*confine.Child) []string { return []string{"run", "cat", file} }},
		"own environ":    {"not even of its own process", func(*confine.Child) []string { return []string{"read", "/proc/self/environ"} }},
		"parent environ": {"the parent holds secrets", func(*confine.Child) []string { return []string{"read", "/proc/" + self + "/environ"} }},
		"parent cwd":     {"through a link of /proc", func(*confine.Child) []string { return []string{"list", "/proc/" + self + "/cwd/"} }},
		"parent root":    {"through a link of /proc", func(*confine.Child) []string { return []string{"read", "/proc/" + self + "/root" + file} }},
		"other child":    {"children have folders of their own", func(*confine.Child) []string { return []string{"read", filepath.Join(other.Folder(), "theirs")} }},
		"processes":      {"/proc tells who else works", func(*confine.Child) []string { return []string{"list", "/proc"} }},
		"write":          {"only its folder is written", func(*confine.Child) []string { return []string{"write", file, "x"} }},
		"write system":   {"the system is read only", func(*confine.Child) []string { return []string{"write", "/usr/moorpin-test", "x"} }},
		"shadow":         {"of /etc only what programs need", func(*confine.Child) []string { return []string{"read", "/etc/shadow"} }},
		"signal":         {"processes that it has not started are out of reach", func(*confine.Child) []string { return []string{"signal", self} }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			child := start(t, nil)
			if status := child.Status(); !status.Confined || status.ABI < 1 || status.Reason != "" {
				t.Fatalf("got %+v", status)
			}
			if name == "signal" && child.Status().ABI < 6 {
				t.Skip("this kernel's Landlock is older")
			}
			answer, err := call(t, child, c.words(child)...)
			check(t, err)
			if !strings.HasPrefix(answer, "error: ") || !strings.Contains(answer, "permission denied") && !strings.Contains(answer, "not permitted") && !strings.Contains(answer, "exit status") {
				t.Errorf("%s: got %q", c.reason, answer)
			}
			if strings.Contains(answer, "s3cret") {
				t.Error("it read the secret")
			}
		})
	}
}

// What the work needs is within reach.
func TestWithinReach(t *testing.T) {
	file := secret(t)
	cases := map[string]struct{ words []string }{
		"own file": {[]string{"write", "here", "x"}},
		"told":     {[]string{"read", file}},
		"program":  {[]string{"run", "sh", "-c", "mkdir a b && echo x > a/x && mv a/x b/x && cat b/x && ls /usr > /dev/null"}},
		"names":    {[]string{"read", "/etc/hosts"}},
		"question": {[]string{"ask", "what"}},
		"print":    {[]string{"print"}},
	}
	child := start(t, func(spec *confine.Spec) { spec.Read = []string{file, "/not/there"} })
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer, err := call(t, child, c.words...)
			if err != nil || strings.HasPrefix(answer, "error") {
				t.Errorf("got %q, %v", answer, err)
			}
		})
	}
	if !child.Usable(plenty) {
		t.Error("the child cannot be used again")
	}
}

// Off leaves the bounds and lets the child read; the checks in front of it are tried so.
func TestOff(t *testing.T) {
	child := start(t, func(spec *confine.Spec) { spec.Mode = confine.Off })
	answer, err := call(t, child, "read", secret(t))
	if err != nil || answer != "s3cret" || child.Status().Confined || child.Status().Reason == "" {
		t.Errorf("got %q, %v, %+v", answer, err, child.Status())
	}
}

// A child has the environment that it was given, and nothing of its parent's.
func TestEnvironment(t *testing.T) {
	t.Setenv("TOKEN", "s3cret")
	child := start(t, func(spec *confine.Spec) { spec.Env = []string{"ONLY=this"} })
	answer, err := call(t, child, "env")
	if err != nil || answer != "ONLY=this" {
		t.Errorf("got %q, %v", answer, err)
	}
}

// plenty is more memory than any child here holds.
const plenty = 1 << 40

// A bound that is passed ends the child with all that it has started, and is named.
func TestBounds(t *testing.T) {
	const loop = "while :; do :; done"
	cases := map[string]struct {
		reason string
		limits confine.Limits
		words  []string
		bound  confine.Bound
	}{
		"memory":          {"the heap grows", confine.Limits{Memory: 128 << 20}, []string{"hold"}, confine.Memory},
		"burst":           {"one allocation, faster than anybody can watch", confine.Limits{Memory: 128 << 20}, []string{"burst"}, confine.Memory},
		"tool's memory":   {"what a tool holds counts", confine.Limits{Memory: 96 << 20}, []string{"run", "sh", "-c", "head -c 200000000 /dev/zero | tail -c 190000000 | wc -c"}, confine.Memory},
		"tools' memory":   {"what several hold is added up", confine.Limits{Memory: 256 << 20}, []string{"run", "sh", "-c", strings.Repeat("(head -c 100000000 /dev/zero | tail -c 99000000 | (sleep 1; wc -c)) & ", 4) + "wait"}, confine.Memory},
		"processor time":  {"the child spins", confine.Limits{CPU: time.Second}, []string{"spin"}, confine.CPU},
		"tools' time":     {"what tools work counts", confine.Limits{CPU: time.Second}, []string{"run", "sh", "-c", "(" + loop + ") & (" + loop + ") & wait"}, confine.CPU},
		"ended tools":     {"those that have ended too", confine.Limits{CPU: time.Second}, []string{"run", "sh", "-c", "while :; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; done"}, confine.CPU},
		"disk":            {"many files", confine.Limits{DiskBytes: 1 << 20}, []string{"run", "sh", "-c", "for i in 1 2 3 4; do head -c 600000 /dev/zero > f$i; done; sleep 20"}, confine.Disk},
		"disk of names":   {"empty files take blocks, and folders do", confine.Limits{DiskBytes: 2 << 20}, []string{"files"}, confine.Disk},
		"processes":       {"a tool that starts others without end", confine.Limits{Processes: 20}, []string{"run", "sh", "-c", "for i in $(seq 60); do sleep 20 & done; wait"}, confine.Processes},
		"shared memory":   {"files in memory that are mapped", confine.Limits{Memory: 96 << 20}, []string{"map"}, confine.Memory},
		"files":           {"empty files", confine.Limits{DiskFiles: 1000}, []string{"files"}, confine.Files},
		"answer":          {"a long answer is not read", confine.Limits{AnswerBytes: 1 << 20}, []string{"long"}, confine.Answer},
		"stack of orphan": {"a process whose parent has ended is found", confine.Limits{CPU: time.Second}, []string{"run", "sh", "-c", "(sh -c '" + loop + "' &) ; sleep 20"}, confine.CPU},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if raced && (name == "memory" || name == "burst") {
				t.Skip("the race detector ends such a process in a way of its own")
			}
			child := start(t, func(spec *confine.Spec) { spec.Limits = c.limits })
			_, err := call(t, child, c.words...)
			var exceeded *confine.Exceeded
			if !errors.As(err, &exceeded) || exceeded.Bound != c.bound {
				t.Fatalf("%s: got %v", c.reason, err)
			}
			if child.Usable(plenty) {
				t.Error("the child is still said to be of use")
			}
		})
	}
}

// Time is counted for each call: one that was used for long does not refuse the next,
// and is not used for ever.
func TestTimeOfOneCall(t *testing.T) {
	child := start(t, func(spec *confine.Spec) { spec.Limits.CPU = time.Second })
	work := []string{"run", "sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"}
	calls := 0
	for ; child.Usable(plenty) && calls < 50; calls++ {
		if _, err := call(t, child, work...); err != nil {
			t.Fatalf("call %d: %v", calls, err)
		}
	}
	if calls < 2 || calls == 50 {
		t.Errorf("it was used %d times", calls)
	}
}

// An answer that nobody has asked for is not taken for the next one's.
func TestStrayAnswer(t *testing.T) {
	child := start(t, nil)
	answer, err := call(t, child, "twice")
	if err == nil && strings.Contains(answer, "FAKE") {
		t.Errorf("got %q, %v", answer, err)
	}
	if child.Usable(plenty) {
		t.Error("a child that says more than it is asked is said to be of use")
	}
	if answer, err = call(t, child, "ask", "x"); err == nil && answer != "heard you said x" {
		t.Errorf("got %q", answer)
	}
}

// Nobody is left behind, whatever they do to get away: neither running nor as a zombie.
func TestStrays(t *testing.T) {
	cases := map[string][]string{
		"daemon":     {"run", "sh", "-c", "setsid sh -c 'echo $$ > id; sleep 300' & while [ ! -s id ]; do sleep 0.01; done; kill -9 $PPID; sleep 300"},
		"leaves":     {"run", "sh", "-c", "(setsid sh -c 'echo $$ > id; sleep 300' &); while [ ! -s id ]; do sleep 0.01; done"},
		"many ended": {"run", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (setsid true &); done; echo $$ > id; sleep 300"},
	}
	for name, words := range cases {
		t.Run(name, func(t *testing.T) {
			child := start(t, nil)
			request, err := json.Marshal(words)
			check(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, _ = child.Call(ctx, request, nil)
			id := processIn(t, filepath.Join(child.Folder(), "id"))
			check(t, child.Close())
			await(t, func() bool { _, err := os.Stat(fmt.Sprintf("/proc/%d", id)); return errors.Is(err, os.ErrNotExist) })
			entries, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
			check(t, err)
			for _, entry := range entries {
				if text, err := os.ReadFile(entry); err == nil && len(strings.Fields(string(text))) > 0 {
					t.Errorf("processes are left: %s", text)
				}
			}
		})
	}
}

// A folder is removed also where its owner has no rights to what is in it. Root has them
// all, so that somebody else tries.
func TestLockedFolder(t *testing.T) {
	base, err := os.MkdirTemp("", "confine-test-") //nolint:usetesting // nobody else may enter the test's own
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(base)) })
	self, err := os.Executable()
	check(t, err)
	program, err := os.ReadFile(self)
	check(t, err)
	folder, binary := filepath.Join(base, "own"), filepath.Join(base, "program")
	check(t, os.WriteFile(binary, program, 0o755))
	check(t, os.MkdirAll(folder, 0o700))
	check(t, os.Chmod(base, 0o755))
	command := exec.Command(binary, "confine-test-remove")
	command.Env = []string{"FOLDER=" + folder}
	if os.Getuid() == 0 {
		const nobody = 65534
		check(t, os.Chown(folder, nobody, nobody))
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}

// removeLocked locks folders below its own and removes them.
func removeLocked() {
	folder := filepath.Join(os.Getenv("FOLDER"), "a")
	err := os.MkdirAll(filepath.Join(folder, "b", "c"), 0o700)
	for _, locked := range []string{"b/c", "b", "."} {
		err = errors.Join(err, os.Chmod(filepath.Join(folder, locked), 0))
	}
	if os.RemoveAll(folder) == nil {
		err = errors.Join(err, errors.New("it can be removed as it is, so that nothing is shown"))
	}
	err = errors.Join(err, confine.RemoveAll(folder))
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}

// A single file cannot even be begun beyond the bound.
func TestLongFile(t *testing.T) {
	child := start(t, func(spec *confine.Spec) { spec.Limits.DiskBytes = 1 << 20 })
	answer, err := call(t, child, "run", "sh", "-c", "head -c 2000000 /dev/zero > long; wc -c < long")
	if err == nil && !strings.Contains(answer, "1048576") {
		t.Errorf("got %q, %v", answer, err)
	}
}

// A child that breaks down says why.
func TestDied(t *testing.T) {
	child := start(t, nil)
	_, err := call(t, child, "overflow")
	var died *confine.Died
	var exceeded *confine.Exceeded
	if !errors.As(err, &died) && !errors.As(err, &exceeded) {
		t.Fatalf("got %v", err)
	}
}

// Nothing that a child has started outlives it, whatever ends it.
func TestNothingIsLeft(t *testing.T) {
	cases := map[string]func(t *testing.T, child *confine.Child){
		"close": func(t *testing.T, child *confine.Child) {
			t.Helper()
			_, err := call(t, child, "leave", "sh", "-c", "echo $$ > id; exec sleep 300")
			check(t, err)
			await(t, func() bool { return !child.Usable(plenty) })
		},
		"context": func(t *testing.T, child *confine.Child) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			request, err := json.Marshal([]string{"run", "sh", "-c", "echo $$ > id; sleep 300"})
			check(t, err)
			if _, err := child.Call(ctx, request, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v", err)
			}
		},
	}
	for name, end := range cases {
		t.Run(name, func(t *testing.T) {
			child := start(t, nil)
			end(t, child)
			id := processIn(t, filepath.Join(child.Folder(), "id"))
			check(t, child.Close())
			await(t, func() bool { return !running(id) })
			if _, err := os.Stat(child.Folder()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder is still there: %v", err)
			}
		})
	}
}

// A child, and what it has started, ends with its parent, even when that is killed.
func TestEndsWithParent(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "own")
	check(t, os.MkdirAll(folder, 0o700))
	program, err := os.Executable()
	check(t, err)
	command := exec.Command(program, "confine-test-parent")
	command.Env = append(os.Environ(), "FOLDER="+folder)
	command.Stderr = os.Stderr
	check(t, command.Start())
	id := filepath.Join(folder, "id")
	process := processIn(t, id)
	check(t, command.Process.Kill())
	_ = command.Wait()
	await(t, func() bool { return !running(process) })
}

// parent starts a child that leaves a process behind, and waits to be killed.
func parent() {
	child, err := confine.Start(confine.Spec{Argument: argument, Folder: os.Getenv("FOLDER"), Mode: confine.Auto, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		panic(err)
	}
	_, err = child.Call(context.Background(), []byte(`["run", "sh", "-c", "echo $$ > id; sleep 300"]`), nil)
	panic(err)
}

// Of nothing that a child is told is anything inherited by what it starts.
func TestNoDescriptors(t *testing.T) {
	child := start(t, nil)
	answer, err := call(t, child, "run", "sh", "-c", "for n in 3 4 5 6 7 8 9; do (eval \"exec 0<&$n\") 2>/dev/null && echo open $n; done; true")
	if err != nil || answer != "" {
		t.Errorf("got %q, %v", answer, err)
	}
}

// Require does not start what cannot be confined; here it can, or the test says so.
func TestRequire(t *testing.T) {
	spec := confine.Spec{Argument: argument, Folder: filepath.Join(t.TempDir(), "own"), Mode: confine.Require}
	check(t, os.MkdirAll(spec.Folder, 0o700))
	child, err := confine.Start(spec)
	if confine.Supported() == 0 {
		if err == nil {
			t.Fatal("it started unconfined")
		}
		return
	}
	check(t, err)
	check(t, child.Close())
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	for range 1500 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}

func processIn(t *testing.T, file string) int {
	t.Helper()
	var text []byte
	var err error
	await(t, func() bool { text, err = os.ReadFile(file); return err == nil && strings.HasSuffix(string(text), "\n") })
	process, err := strconv.Atoi(strings.TrimSpace(string(text)))
	check(t, err)
	return process
}

func running(process int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	return err == nil && !strings.Contains(string(text), ") Z ")
}
