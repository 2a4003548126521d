package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/reposerver/apiclient"

	"github.com/moorpin/moorpin/e2e/attack"
	"github.com/moorpin/moorpin/e2e/controlplane"
	"github.com/moorpin/moorpin/pkg/confine"
)

// attacked is a sidecar as the component runs it, with a token in its reach.
type attacked struct {
	process *os.Process
	token   string
	log     string
}

// startAttacked starts the sidecar in the folder of its token, by way of a wrapper that
// may put it into a control group.
func startAttacked(t *testing.T, wrapper string, args ...string) attacked {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := attack.Neighbour()
	files["token"] = attack.Secret
	for name, text := range files {
		file := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	binary, err := buildMoorpin()
	if err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{"-c", wrapper + `exec "$0" "$@"`, binary, "cmp", "serve", "--kubeconfig", plane.Kubeconfig(), "--work-dir", t.TempDir()}, args...)
	sidecar := exec.Command("sh", arguments...)
	sidecar.Dir = folder
	sidecar.Env = append(os.Environ(), "ARGOCD_PLUGINSOCKFILEPATH="+plane.PluginDir(), "PATH="+plane.ToolPath()+string(os.PathListSeparator)+os.Getenv("PATH"),
		attack.SecretVariable+"="+attack.Secret)
	log := filepath.Join(t.TempDir(), "sidecar.log")
	file, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	sidecar.Stdout, sidecar.Stderr = file, file
	if err := sidecar.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sidecar.Process.Signal(os.Interrupt); err != nil {
			t.Errorf("the sidecar has ended: %v", err)
		}
		if err := sidecar.Wait(); err != nil {
			t.Errorf("the sidecar ended with %v", err)
		}
		if t.Failed() {
			if text, err := os.Open(log); err == nil {
				_, _ = io.Copy(t.Output(), io.LimitReader(text, 1<<20))
			}
		}
	})
	waitForSocket(t, filepath.Join(plane.PluginDir(), "moorpin.sock"))
	return attacked{process: sidecar.Process, token: filepath.Join(folder, "token"), log: log}
}

// repoServer is a client of the real repo-server.
func repoServer(t *testing.T) apiclient.RepoServerServiceClient {
	t.Helper()
	closer, client, err := apiclient.NewRepoServerClientset(plane.RepoServerAddress(), 60, apiclient.TLSConfiguration{}).NewRepoServerClient()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closer.Close() })
	return client
}

// throughPlugin asks for the folder app of a repository, through the plugin.
func throughPlugin(name, url, kind, block string) *apiclient.ManifestRequest {
	request := manifestRequest(url, way{plugin: "moorpin"})
	request.AppName = name
	if kind != "" {
		request.ApplicationSource.Plugin.Parameters = v1alpha1.ApplicationSourcePluginParameters{{Name: kind, String_: &block}}
	}
	return request
}

// newLinkedRepository is one in which texts that say so are links.
func newLinkedRepository(t *testing.T, files map[string]string) *controlplane.Repository {
	t.Helper()
	repository := newRepository(t, files)
	for name, text := range files {
		if aim, isLink := strings.CutPrefix(text, attack.LinkTo); isLink {
			file := filepath.Join(repository.Dir(), name)
			if err := errors.Join(os.Remove(file), os.Symlink(aim, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := repository.Commit(t.Context(), "Add the links", nil); err != nil {
		t.Fatal(err)
	}
	return repository
}

// TestAttackReads: nothing that somebody can commit, or write into an Application, has
// the sidecar read its token, its environment or what belongs to another render.
func TestAttackReads(t *testing.T) {
	mode := "--confine=require"
	if confine.Supported() == 0 {
		mode = "--confine=auto" // then the checks alone hold, which is shown in package child
	}
	sidecar := startAttacked(t, "", mode)
	client := repoServer(t)
	for name, c := range attack.Reads(attack.Target{Token: sidecar.token, Process: sidecar.process.Pid}) {
		t.Run(name, func(t *testing.T) {
			repository := newLinkedRepository(t, c.Files)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			response, err := client.GenerateManifest(ctx, throughPlugin("reader", repository.URL(), c.Kind, c.Block))
			if text := fmt.Sprint(response.GetManifests(), err); attack.Leaks(text) {
				t.Errorf("%s: it came out: %.500s", c.Reason, text)
			}
		})
	}
	log, err := os.ReadFile(sidecar.log)
	if err != nil || attack.Leaks(string(log)) {
		t.Errorf("the log holds the secret, or cannot be read: %v", err)
	}
}

// component are the bounds of manifests/components/cmp.
var component = []string{"--parallelism=4", "--max-tree-bytes=2147483648", "--max-render-memory=536870912"}

const componentMemory = 3 << 30

// TestAttackWastes: with the limits of the component, in a control group of its size, all
// attacks on memory, time and disk at once neither end the sidecar nor keep honest
// Applications from their renders, and each is told which bound it has passed.
func TestAttackWastes(t *testing.T) {
	group := newControlGroup(t, componentMemory)
	startAttacked(t, group.enter(), component...)
	client := repoServer(t)
	honest := newRepository(t, attack.Honest()).URL()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var attackers, others sync.WaitGroup
	for name, c := range attack.Wastes() {
		url := newRepository(t, c.Files).URL()
		attackers.Go(func() {
			patience := time.Minute
			if c.Endless {
				patience = 12 * time.Second // or nobody else has a turn for long
			}
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			start := time.Now()
			response, err := client.GenerateManifest(ctx, throughPlugin(strings.ReplaceAll(name, " ", "-"), url, c.Kind, c.Block))
			judgeWaste(t, c, response, err)
			t.Logf("%s: %s, %.300v", name, time.Since(start).Round(time.Millisecond), err)
		})
	}
	asked := 0
	others.Go(func() {
		for ; ctx.Err() == nil; asked++ {
			response, err := client.GenerateManifest(t.Context(), throughPlugin("honest", honest, "", ""))
			if err != nil || len(response.GetManifests()) != 1 {
				t.Errorf("an honest render was not answered: %v", err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	attackers.Wait()
	stop()
	others.Wait()
	killed, peak := group.read(t)
	if killed > 0 {
		t.Errorf("the kernel killed %d processes for memory", killed)
	}
	t.Logf("%d honest renders were answered; at most %d MiB of %d were in use", asked, peak>>20, int64(componentMemory)>>20)
	if asked < 3 { // the first ones wait for their turn as long as the attacks have theirs
		t.Errorf("only %d honest renders were asked for", asked)
	}
}

func judgeWaste(t *testing.T, c attack.Waste, response *apiclient.ManifestResponse, err error) {
	t.Helper()
	if err == nil {
		if !c.Renders || len(response.GetManifests()) == 0 {
			t.Errorf("%s: answered with %d objects", c.Reason, len(response.GetManifests()))
		}
		return
	}
	says := c.Says
	if c.Endless {
		says = append(says, "--parallelism") // it may have waited for its turn until its time was over
	}
	for _, says := range says {
		if strings.Contains(err.Error(), says) {
			return
		}
	}
	t.Errorf("%s: no bound is named in %.500v", c.Reason, err)
}

// controlGroup bounds the memory of the processes in it, as a container's limit does.
type controlGroup struct{ folder, version string }

// newControlGroup makes a control group. Without the right to, the test goes on without.
func newControlGroup(t *testing.T, bytes int64) controlGroup {
	t.Helper()
	for _, group := range []controlGroup{{"/sys/fs/cgroup/memory", "1"}, {"/sys/fs/cgroup", "2"}} {
		limit := map[string]string{"1": "memory.limit_in_bytes", "2": "memory.max"}[group.version]
		group.folder = filepath.Join(group.folder, fmt.Sprintf("moorpin-%d-%s", os.Getpid(), t.Name()))
		if os.Mkdir(group.folder, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group.folder) })
		if os.WriteFile(filepath.Join(group.folder, limit), []byte(strconv.FormatInt(bytes, 10)), 0o600) == nil {
			return group
		}
	}
	t.Log("no control group can be made here: the container's limit is not shown, the rest is")
	return controlGroup{}
}

// enter is shell text that moves the shell into the group.
func (g controlGroup) enter() string {
	if g.folder == "" {
		return ""
	}
	return "echo $$ > " + g.folder + "/cgroup.procs; "
}

// read returns how many processes the kernel has killed, and the most memory in use.
func (g controlGroup) read(t *testing.T) (killed, peak int64) {
	t.Helper()
	if g.folder == "" {
		return 0, 0
	}
	events := map[string]string{"1": "memory.oom_control", "2": "memory.events"}[g.version]
	most := map[string]string{"1": "memory.max_usage_in_bytes", "2": "memory.peak"}[g.version]
	text, err := os.ReadFile(filepath.Join(g.folder, events))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if count, found := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); found {
			killed, _ = strconv.ParseInt(count, 10, 64)
		}
	}
	if text, err := os.ReadFile(filepath.Join(g.folder, most)); err == nil {
		peak, _ = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	return killed, peak
}
