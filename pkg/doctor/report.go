package doctor

// Status is the answer of a check.
type Status string

// The answers, from good to bad; Unknown is what could not be looked at.
const (
	OK      Status = "ok"
	Warn    Status = "warn"
	Fail    Status = "fail"
	Unknown Status = "unknown"
)

// Finding is what a check has found.
type Finding struct {
	// Check is its id, About what it looks at.
	Check string `json:"check"`
	About string `json:"about"`

	Status Status `json:"status"`
	// Says is one sentence or two.
	Says string `json:"says"`
	// Remedy are the lines to run or to write, in order; none where all is well.
	Remedy []string `json:"remedy,omitempty"`
}

// Report is what all checks have found.
type Report struct {
	// Version is that of the binary that looked, ArgoCDVersion that of the Argo CD.
	Version       string         `json:"version"`
	Namespace     string         `json:"namespace"`
	ArgoCDVersion string         `json:"argocdVersion,omitempty"`
	Counts        map[Status]int `json:"counts"`
	Findings      []Finding      `json:"findings"`
}

// Well reports whether no check warns or fails.
func (r Report) Well() bool { return r.Counts[Warn]+r.Counts[Fail] == 0 }

// finding is what a check returns; the table adds the rest.
type finding struct {
	status Status
	says   string
	remedy []string
}

func fine(says string) finding { return finding{status: OK, says: says} }

func warn(says string, remedy ...string) finding { return finding{Warn, says, remedy} }

func bad(says string, remedy ...string) finding { return finding{Fail, says, remedy} }

func unknown(obstacle string, remedy ...string) finding {
	return finding{Unknown, obstacle, remedy}
}

// unread is the answer about something that could not be read. What was not asked needs
// no subject.
func unread(what, obstacle string) finding {
	if obstacle == noCluster || obstacle == noServer {
		return unknown(obstacle)
	}
	return unknown(what + " " + obstacle)
}

// check is one row of the table.
type check struct {
	id, about string
	judge     func(Facts) finding
}

// checks are in the order in which an installation is put together, so that the first
// that fails is the one to mend first.
var checks = []check{
	{"cluster", "the cluster that Argo CD runs in", judgeCluster},
	{"argocd-version", "Argo CD's version", judgeVersion},
	{"settings-size", "the size of argocd-cm", judgeSize},
	{"sidecar", "the sidecar of argocd-repo-server", judgeSidecar},
	{"sidecar-tools", "helm, kustomize and git of the sidecar", judgeTools},
	{"socket", "the plugin's socket", judgeSocket},
	{"confinement", "what holds back whatever a repository has rendered", judgeConfinement},
	{"discovery", "what discovery costs", judgeDiscovery},
	{"schemas", "where the sidecar has its CRDs from", judgeSchemas},
	{"backend", "the Deployment of the backend", judgeBackend},
	{"service", "the Service in front of the backend", judgeService},
	{"secret", "the secret that argocd-server sends", judgeSecret},
	{"extension-config", "the extension's key in argocd-cm", judgeConfig},
	{"extension-flag", "proxy extensions in argocd-server", judgeFlag},
	{"rbac", "who may ask the backend", judgePolicy},
	{"ui", "the pages in Argo CD's UI", judgeUI},
	{"answer", "an answer of the backend through argocd-server", judgeAnswer},
	{"skew", "the versions of Moorpin's parts", judgeSkew},
}

// Examine judges the facts. The checks of skip are answered with [Unknown].
func Examine(facts Facts, skip ...string) Report {
	report := Report{
		Version: facts.Version, Namespace: facts.Namespace, ArgoCDVersion: facts.argoVersion(),
		Counts: map[Status]int{}, Findings: make([]Finding, 0, len(checks)),
	}
	left := map[string]bool{}
	for _, id := range skip {
		left[id] = true
	}
	for _, c := range checks {
		found := unknown("left out by --skip")
		if !left[c.id] {
			found = c.judge(facts)
		}
		report.Counts[found.status]++
		report.Findings = append(report.Findings, Finding{Check: c.id, About: c.about, Status: found.status, Says: found.says, Remedy: found.remedy})
	}
	return report
}

// Checks returns the ids of all checks, in order.
func Checks() []string {
	ids := make([]string, len(checks))
	for i, c := range checks {
		ids[i] = c.id
	}
	return ids
}
