package drift

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/moorpin/moorpin/pkg/fieldpath"
	"github.com/moorpin/moorpin/pkg/object"
)

// fixRows are the kinds of fixes that each mechanism may have, the primary first.
var fixRows = map[Mechanism][]FixKind{
	ManualEdit:                {FixDecideCommitOrSync},
	ForeignApply:              {FixRemoveSecondWriter},
	RolloutRestart:            {FixNoneNeeded, FixDropFieldFromGit},
	HiddenLiveAddition:        {FixAddToGitOrRemoveLive},
	ResourceMissing:           {FixSyncOrRemoveFromGit},
	GitAhead:                  {FixSync},
	ApplicationSpecEdit:       {FixDecideCommitOrSync, FixIgnoreDifferencesNarrow},
	HPAReplicas:               {FixRemoveReplicasFromGit, FixIgnoreDifferencesAndRespect},
	KedaReplicas:              {FixRemoveReplicasFromGit, FixIgnoreDifferencesAndRespect},
	ProgressiveDelivery:       {FixIgnoreDifferencesAndRespect},
	CABundleInjection:         {FixDropFieldFromGit, FixIgnoreDifferencesAndRespect},
	OperatorWriteback:         {FixIgnoreDifferencesAndRespect},
	AggregatedClusterrole:     {FixDropFieldFromGit, FixIgnoreDifferencesNarrow},
	RuntimePopulatedData:      {FixIgnoreDifferencesAndRespect},
	ListReordered:             {FixReorderInGit},
	CRDListDefault:            {FixPinDefaultInGit, FixEnableServerSideDiff},
	STSVolumeclaimtemplate:    {FixPinDefaultInGit},
	ExplicitDefaultDropped:    {FixDropFieldFromGit},
	EmptyVsAbsent:             {FixFixTemplateValue, FixDropFieldFromGit},
	QuantityFormat:            {FixCanonicaliseValueInGit},
	ValueCanonicalised:        {FixCanonicaliseValueInGit},
	StatusInGit:               {FixDropFieldFromGit},
	UnknownFieldPruned:        {FixFixTypoInGit, FixDropFieldFromGit},
	DeprecatedAlias:           {FixPinDefaultInGit, FixRenameDeprecatedField},
	CRDPreserveUnknownFields:  {FixDropFieldFromGit},
	DuplicateListKey:          {FixRemoveDuplicateInGit},
	LastAppliedInGit:          {FixDropFieldFromGit},
	WebhookOverwrite:          {FixEnableServerSideDiff, FixCanonicaliseValueInGit},
	WebhookInjection:          {FixEnableServerSideDiff, FixPinDefaultInGit},
	RandomRender:              {FixPinRandomValue},
	TimestampRender:           {FixIgnoreDifferencesNarrow, FixDropFieldFromGit},
	ChecksumChurn:             {FixPinRandomValue, FixIgnoreDifferencesNarrow},
	TrackingMissing:           {FixSyncToAdopt},
	SharedResource:            {FixSingleOwner},
	TrackingLabelCopied:       {FixChangeTrackingMethod, FixMarkIgnoreExtraneous},
	InstanceLabelConflict:     {FixChangeTrackingMethod},
	PendingPrune:              {FixPruneAfterReview},
	PruneProtected:            {FixMarkIgnoreExtraneous, FixPruneAfterReview},
	HookLeftover:              {FixHookDeletePolicy},
	TTLDeleted:                {FixConvertToHook},
	RepeatedResource:          {FixRemoveDuplicateInGit},
	ExcludedResource:          {FixUnexcludeOrRemove},
	ManagedNamespaceMetadata:  {FixSync, FixLabelOutOfBandOrFixChart},
	IgnoreWithoutRespect:      {FixAddRespectIgnoreDifferences},
	IgnoreRuleDead:            {FixFixIgnoreRule},
	RespectIgnoreBlocksChange: {FixFixIgnoreRule},
	SelfhealFight:             {FixRemoveSecondWriter, FixIgnoreDifferencesAndRespect},
	SSACoownerResidue:         {FixMigrateFieldManager},
	ComparisonErrorSchema:     {FixEnableServerSideDiff, FixSyncCRDFirst},
	StaleComparison:           {FixHardRefresh},
	ImmutableField:            {FixReplaceForce, FixConvertToHook, FixRecreateOrphan},
	AnnotationTooLong:         {FixServerSideApply},
	MissingCRD:                {FixSkipDryRunAndWave},
	MissingDependency:         {FixProvideDependency, FixReorderWaves},
	HookStuck:                 {FixFixHook, FixDropFieldFromGit},
	HookFailed:                {FixFixHook},
	WaveBlocked:               {FixFixWorkload},
	SyncInProgress:            {FixWait},
	ManifestGenerationError:   {FixFixManifestGeneration},
	ProjectNotPermitted:       {FixAllowKindInProject},
	SyncWindowBlocked:         {FixWaitOrManualSync},
	AutosyncGaveUp:            {FixSync, FixTerminateAndResync},
	AutosyncEmptyGuard:        {FixFixManifestGeneration},
	AdmissionDenied:           {FixFixManifestToPolicy},
	ResourceVersionInGit:      {FixDropFieldFromGit},
	DeletionStuck:             {FixClearFinalizer},
	RemovedAPIVersion:         {FixMigrateAPIVersion},
	MergeKeyConflict:          {FixReplaceResource},
	InvalidManifest:           {FixFixManifestType},
	ControllerStale:           {FixFixArgocdController},
	UnhealthyNotDrift:         {FixFixWorkload},
	None:                      {FixNoneNeeded},
	Unexplained:               {FixDecideCommitOrSync, FixIgnoreDifferencesNarrow},
}

// nasty is text that breaks whatever quotes badly.
const nasty = "x'; echo \"$(boom)\" `boom` #\n--all\r\u2028: - {\\(.)} \u0000\x1b[31m|>"

// parseYAML reads a snapshot.
func parseYAML(t *testing.T, text string) *Snapshot {
	t.Helper()
	snapshot, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

const workload = `
application:
  apiVersion: argoproj.io/v1alpha1
  kind: Application
  metadata: {name: web, namespace: argocd}
  spec:
    project: shop
    destination: {server: https://kubernetes.default.svc, namespace: shop}
    syncPolicy: {automated: {selfHeal: true}}
settings: {argocdVersion: v3.6.1, trackingMethod: annotation}
resources:
- target:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: app, image: "web:1"}
          - {name: side, image: "side:1"}
  live:
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: shop
      uid: 5f0c
      annotations:
        kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"name":"web","namespace":"shop"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"image":"web:1","name":"app"},{"image":"side:1","name":"side"}]}}}}'
    spec:
      replicas: 5
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: injected, image: "proxy:1"}
          - {name: app, image: "web:1"}
          - {name: side, image: "side:2"}
`

// arrange compares a snapshot's resources and prepares the first.
func arrange(t *testing.T, snapshot *Snapshot) (*situation, *resource) {
	t.Helper()
	s, err := newSituation(t.Context(), snapshot)
	if err != nil {
		t.Fatal(err)
	}
	s.compare()
	for _, r := range s.resources {
		r.prepare()
	}
	return s, s.resources[0]
}

// flagged are the fields that differ.
func flagged(r *resource) []Field {
	var found []Field
	for _, d := range r.differences {
		found = append(found, Field{Pointer: d.pointer, Target: d.target, Live: d.live, InTarget: d.inTarget, InLive: d.inLive, Owner: &Owner{Manager: nasty, Operation: "Update"}})
	}
	return found
}

func TestEveryMechanismHasFixes(t *testing.T) {
	snapshot := parseYAML(t, workload)
	hostile := parseYAML(t, workload)
	hostile.Resources[0].Live["metadata"].(map[string]any)["name"] = nasty
	hostile.Resources[0].Target["metadata"].(map[string]any)["name"] = nasty
	hostile.Resources[0].Live["spec"].(map[string]any)[nasty] = nasty
	hostile.Application["metadata"].(map[string]any)["name"] = nasty
	hostile.Resources[0].ResourceRef = ResourceRef{}
	oneSided := parseYAML(t, workload)
	oneSided.Resources[0].Target = nil
	missing := parseYAML(t, workload)
	missing.Resources[0].Live = nil

	rows := map[string]struct {
		reason   string
		snapshot *Snapshot
		whole    bool
	}{
		"two-sided":   {"the ordinary case", snapshot, false},
		"hostile":     {"names and values come from whoever may create objects", hostile, false},
		"live alone":  {"leftovers have no target", oneSided, false},
		"Git alone":   {"missing resources have no live object", missing, false},
		"Application": {"a claim about the whole has no resource", snapshot, true},
	}
	var script strings.Builder
	for name, row := range rows {
		for _, mechanism := range append(slices.Clone(Mechanisms), None, Unexplained) {
			s, r := arrange(t, row.snapshot)
			c := &claim{mechanism: mechanism, sync: OverwritesLive, evidence: []string{nasty}, loss: []string{nasty}}
			fields := flagged(r)
			if row.whole {
				r, fields = nil, nil
			}
			fixes := fixesFor(s, r, c, fields)
			if len(fixes) == 0 || len(fixes) > maxFixes {
				t.Errorf("%s: %s: %d fixes (%s)", name, mechanism, len(fixes), row.reason)
			}
			for _, fix := range fixes {
				if !slices.Contains(fixRows[mechanism], fix.Kind) {
					t.Errorf("%s: %s: a fix of kind %s", name, mechanism, fix.Kind)
				}
				if fix.Why == "" || fix.Snippet == "" {
					t.Errorf("%s: %s: %s says nothing: %+v", name, mechanism, fix.Kind, fix)
				}
				checkSnippet(t, name+": "+string(mechanism), fix, &script)
			}
		}
	}
	checkShell(t, script.String())
}

// checkSnippet holds a snippet against its place: YAML, or commands.
func checkSnippet(t *testing.T, name string, fix Fix, script *strings.Builder) {
	t.Helper()
	switch fix.Where {
	case InCluster, InOperation:
		script.WriteString(fix.Snippet + "\n")
		for line := range strings.Lines(fix.Snippet) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(word, "#") && !slices.Contains([]string{"kubectl", "argocd", "helm", "umask"}, word) {
				t.Errorf("%s: %s: a line that is no command: %q", name, fix.Kind, line)
			}
		}
	default:
		var parsed map[string]any
		if err := yaml.Unmarshal([]byte(fix.Snippet), &parsed); err != nil {
			t.Errorf("%s: %s: %v:\n%s", name, fix.Kind, err, fix.Snippet)
		}
		allowed := map[string]bool{"apiVersion": true, "kind": true, "metadata": true, "spec": true, "data": true, "rules": true, "status": true}
		for key := range parsed {
			if !allowed[key] {
				t.Errorf("%s: %s: the snippet has a key %q:\n%s", name, fix.Kind, key, fix.Snippet)
			}
		}
	}
}

// checkShell has bash parse the commands.
func checkShell(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snippets.sh")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), "bash", "-n", path).CombinedOutput(); err != nil {
		t.Errorf("bash -n: %v\n%s", err, output)
	}
}

func TestFixFitsTheFacts(t *testing.T) {
	field := func(pointer string, inTarget, inLive bool) Field {
		return Field{Pointer: fieldpath.Pointer(pointer), InTarget: inTarget, InLive: inLive}
	}
	rows := map[string]struct {
		reason    string
		mechanism Mechanism
		sync      Sync
		set       map[string]any // in target, by pointer of maps alone
		live      map[string]any
		field     Field
		want      FixKind
	}{
		"restart that is only live": {"nothing to do", RolloutRestart, Noop, nil, nil, field("/spec/template/metadata/annotations/a", false, true), FixNoneNeeded},
		"restart pinned in Git": {
			"every restart is drift", RolloutRestart, OverwritesLive,
			map[string]any{"/spec/template/metadata/annotations/a": "1"},
			nil,
			field("/spec/template/metadata/annotations/a", true, true), FixDropFieldFromGit,
		},
		"null from a template":        {"the template left it", EmptyVsAbsent, Noop, map[string]any{"/spec/strategy": nil}, nil, field("/spec/strategy", true, false), FixFixTemplateValue},
		"empty map":                   {"the template left it, too", EmptyVsAbsent, Noop, map[string]any{"/spec/strategy": map[string]any{}}, nil, field("/spec/strategy", true, false), FixFixTemplateValue},
		"typo":                        {"the schema has a near name", UnknownFieldPruned, Noop, map[string]any{"/spec/replica": int64(2)}, nil, field("/spec/replica", true, false), FixFixTypoInGit},
		"unknown field":               {"it stands at the wrong place", UnknownFieldPruned, Noop, map[string]any{"/spec/zzzzzz": "x"}, nil, field("/spec/zzzzzz", true, false), FixFixTypoInGit},
		"application by a controller": {"the sync fights", ApplicationSpecEdit, FightsController, nil, nil, field("/spec/replicas", true, true), FixIgnoreDifferencesNarrow},
		"application by a person":     {"the sync overwrites", ApplicationSpecEdit, OverwritesLive, nil, nil, field("/spec/replicas", true, true), FixDecideCommitOrSync},
		"StatefulSet":                 {"pods and volumes can stay", ImmutableField, WillFail, nil, map[string]any{"/spec/volumeClaimTemplates": []any{}}, field("/spec/replicas", true, true), FixRecreateOrphan},
		"run to the end":              {"a run is made anew", ImmutableField, WillFail, nil, map[string]any{"/spec/template/spec/restartPolicy": "Never"}, field("/spec/replicas", true, true), FixConvertToHook},
		"selector":                    {"nothing else helps", ImmutableField, WillFail, nil, nil, field("/spec/replicas", true, true), FixReplaceForce},
		"alias in Git":                {"the old name is in Git", DeprecatedAlias, Noop, map[string]any{"/spec/template/spec/serviceAccount": "x"}, nil, field("/spec/template/spec/serviceAccountName", false, true), FixRenameDeprecatedField},
		"alias that is only live":     {"the removal does not stick", DeprecatedAlias, Noop, nil, nil, field("/spec/template/spec/serviceAccountName", false, true), FixPinDefaultInGit},
		"prune to be confirmed":       {"it waits for a word", PruneProtected, Noop, nil, map[string]any{"/metadata/annotations/argocd.argoproj.io~1sync-options": "Prune=confirm"}, Field{}, FixPruneAfterReview},
		"prune forbidden":             {"it is to stay", PruneProtected, Noop, nil, map[string]any{"/metadata/annotations/argocd.argoproj.io~1sync-options": "Prune=false"}, Field{}, FixMarkIgnoreExtraneous},
		"retry of an old revision":    {"it has to be ended", AutosyncGaveUp, Waits, nil, nil, Field{}, FixTerminateAndResync},
		"gave up":                     {"a sync by hand", AutosyncGaveUp, Safe, nil, nil, Field{}, FixSync},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			snapshot := parseYAML(t, workload)
			snapshot.Resources[0].Target = with(t, snapshot.Resources[0].Target, row.set)
			snapshot.Resources[0].Live = with(t, snapshot.Resources[0].Live, row.live)
			s, r := arrange(t, snapshot)
			fixes := fixesFor(s, r, &claim{mechanism: row.mechanism, sync: row.sync}, []Field{row.field})
			if fixes[0].Kind != row.want {
				t.Errorf("%s first, want %s: %s", fixes[0].Kind, row.want, row.reason)
			}
		})
	}
}

// with sets values at pointers that lead through maps alone.
func with(t *testing.T, document object.Object, values map[string]any) object.Object {
	t.Helper()
	for pointer, value := range values {
		path := gitPath(nil, fieldpath.Pointer(pointer).Steps())
		made, ok := edited(document, []change{{path: path, value: value}}, true)
		if !ok {
			t.Fatalf("cannot set %s", pointer)
		}
		document = made
	}
	return document
}

func TestShellWordIsOneWord(t *testing.T) {
	for _, word := range []string{"", "plain", "-n", "a b", "a'b", `a\b`, "a\nb'c", "$(boom)", "`boom`", "!x", "ünïcode", "\x1b[31m", "a\tb\\'"} {
		quoted := shellWord(word)
		if strings.ContainsAny(quoted, "\n\r") {
			t.Errorf("%q takes several lines: %q", word, quoted)
		}
		output, err := exec.CommandContext(t.Context(), "bash", "-c", "printf %s "+quoted).CombinedOutput()
		if err != nil || string(output) != word {
			t.Errorf("%q becomes %q (%v): %s", word, output, err, quoted)
		}
	}
}

// FuzzFragment holds the text of an edit against a YAML parser: what is set is what
// was meant, and what is removed is nowhere.
func FuzzFragment(f *testing.F) {
	f.Add("key", "value", "name")
	f.Add("y", "on", "1e3")
	f.Add(nasty, nasty, nasty)
	f.Add("a: b", "- x\n  y: |\n\n z", "# no")
	f.Add("true", "  lead\ntrail  \n", "0x1f")
	f.Fuzz(func(t *testing.T, key, value, name string) {
		key, value, name = strings.ToValidUTF8(key, "?"), strings.ToValidUTF8(value, "?"), strings.ToValidUTF8(name, "?")
		if key == "" || key == "gone" || len(key) > 200 {
			return
		}
		item := pathStep{item: true, inGit: 0, identity: []itemKey{{"name", name}}}
		set := map[string]any{"text": value, "list": []any{value, map[string]any{key: value}, []any{}}, "none": nil}
		changes := []change{
			{path: []pathStep{{field: "spec"}, {field: "items"}, item, {field: "a"}, {field: key}}, value: set},
			{path: []pathStep{{field: "spec"}, {field: "items"}, item, {field: "gone"}}, value: set, remove: true},
		}
		text := fragment(ResourceRef{Kind: "Thing", Name: name}, "v1", changes)
		var parsed map[string]any
		if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		want := map[string]any{
			"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"items": []any{map[string]any{"name": name, "a": map[string]any{key: set}}}},
		}
		if diff := cmp.Diff(want, parsed); diff != "" {
			t.Fatalf("-want +got:\n%s\n%s", diff, text)
		}
	})
}

func TestSnippetsHoldNoSecrets(t *testing.T) {
	const value = "c2VjcmV0LXZhbHVl"
	snapshot := parseYAML(t, workload)
	secret := func(data string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "shop", "annotations": map[string]any{lastAppliedAnnotation: `{"data":{"k":"` + data + `"}}`}},
			"data": map[string]any{"k": data}, "stringData": map[string]any{"t": data},
		}
	}
	snapshot.Resources = []Resource{{Target: secret(value), Live: secret(value + "b2xk")}}
	s, r := arrange(t, snapshot)
	fields := r.masked(flagged(r))
	for _, mechanism := range append(slices.Clone(Mechanisms), Unexplained) {
		for _, fix := range fixesFor(s, r, &claim{mechanism: mechanism}, slices.Clone(fields)) {
			if strings.Contains(fix.Snippet+fix.Why, value) || strings.Contains(fix.Snippet+fix.Why, maskTarget) {
				t.Errorf("%s: %s shows the value:\n%s", mechanism, fix.Kind, fix.Snippet)
			}
		}
	}
}

func TestEveryMechanismHasARow(t *testing.T) {
	for _, mechanism := range append(slices.Clone(Mechanisms), None) {
		if _, found := fixers[mechanism]; !found {
			t.Errorf("%s has no fixes", mechanism)
		}
	}
	if len(fixers) != len(Mechanisms)+1 {
		t.Errorf("%d mechanisms have fixes, want %d", len(fixers), len(Mechanisms)+1)
	}
	if rows := slices.Collect(maps.Keys(fixRows)); len(rows) != len(Mechanisms)+2 {
		t.Errorf("the table has %d rows", len(rows))
	}
}
