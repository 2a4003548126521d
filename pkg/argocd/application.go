package argocd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// Managed is one resource of an Application, as Argo CD compared it last. A side that
// is not there is nil. Argo CD has masked the values of Secrets already.
type Managed struct {
	Group, Kind, Namespace, Name string

	// Target is what Git renders, Live what the cluster holds.
	Target, Live map[string]any
	// NormalizedLive and PredictedLive are what Argo CD compared with one another.
	NormalizedLive, PredictedLive map[string]any
}

// Node is one object of an Application's tree: managed by it, or owned by one that is.
type Node struct {
	Group, Version, Kind, Namespace, Name, UID string

	// Health is Argo CD's word for it, or "".
	Health string
	// Restarts are those of a Pod's containers, as far as Argo CD says.
	Restarts int
	// Orphaned tells that the object is in the Application's namespace, but not of it.
	Orphaned bool
}

// restartCount is what Argo CD calls the restarts of a Pod, where there are any.
const restartCount = "Restart Count"

// Application returns the whole object.
func (c *Client) Application(ctx context.Context, ref Ref) (map[string]any, error) {
	data, err := c.askAbout(ctx, ref, "", nil)
	if err != nil {
		return nil, err
	}
	app, err := object(data)
	if err != nil {
		return nil, fmt.Errorf("read application %s: %w", ref, err)
	}
	if _, ok := app["spec"].(map[string]any); !ok {
		return nil, fmt.Errorf("read application %s: what the server sent is no Application", ref)
	}
	// The API leaves out what every Application says of itself.
	app["apiVersion"], app["kind"] = Group+"/v1alpha1", ApplicationKind
	return app, nil
}

// ManagedResources returns what Argo CD compared last, without hooks.
func (c *Client) ManagedResources(ctx context.Context, ref Ref) ([]Managed, error) {
	data, err := c.askAbout(ctx, ref, "/managed-resources", nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Items []struct {
			Group               string `json:"group"`
			Kind                string `json:"kind"`
			Namespace           string `json:"namespace"`
			Name                string `json:"name"`
			TargetState         string `json:"targetState"`
			LiveState           string `json:"liveState"`
			NormalizedLiveState string `json:"normalizedLiveState"`
			PredictedLiveState  string `json:"predictedLiveState"`
		} `json:"items"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("read managed resources of %s: %w", ref, err)
	}
	resources := make([]Managed, len(answer.Items))
	for i, item := range answer.Items {
		r := Managed{Group: item.Group, Kind: item.Kind, Namespace: item.Namespace, Name: item.Name}
		sides := []struct {
			into *map[string]any
			text string
		}{{&r.Target, item.TargetState}, {&r.Live, item.LiveState}, {&r.NormalizedLive, item.NormalizedLiveState}, {&r.PredictedLive, item.PredictedLiveState}}
		for _, side := range sides {
			if side.text == "" || side.text == "null" {
				continue
			}
			if *side.into, err = c.inner(side.text); err != nil {
				return nil, fmt.Errorf("read managed resources of %s: %s %s/%s: %w", ref, r.Kind, r.Namespace, r.Name, err)
			}
		}
		resources[i] = r
	}
	return resources, nil
}

// ResourceTree returns the Application's objects and what they own.
func (c *Client) ResourceTree(ctx context.Context, ref Ref) ([]Node, error) {
	data, err := c.askAbout(ctx, ref, "/resource-tree", nil)
	if err != nil {
		return nil, err
	}
	type node struct {
		Group     string `json:"group"`
		Version   string `json:"version"`
		Kind      string `json:"kind"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		UID       string `json:"uid"`
		Health    struct {
			Status string `json:"status"`
		} `json:"health"`
		Info []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"info"`
	}
	var answer struct {
		Nodes         []node `json:"nodes"`
		OrphanedNodes []node `json:"orphanedNodes"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("read resource tree of %s: %w", ref, err)
	}
	nodes := make([]Node, 0, len(answer.Nodes)+len(answer.OrphanedNodes))
	for i, n := range append(answer.Nodes, answer.OrphanedNodes...) {
		made := Node{Group: n.Group, Version: n.Version, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name, UID: n.UID, Health: n.Health.Status, Orphaned: i >= len(answer.Nodes)}
		for _, info := range n.Info {
			if restarts, err := strconv.Atoi(info.Value); info.Name == restartCount && err == nil {
				made.Restarts = restarts
			}
		}
		nodes = append(nodes, made)
	}
	return nodes, nil
}

// Resource returns the live object of a node of the Application's tree.
func (c *Client) Resource(ctx context.Context, ref Ref, node Node) (map[string]any, error) {
	query := url.Values{"resourceName": {node.Name}, "version": {node.Version}, "kind": {node.Kind}}
	if node.Group != "" {
		query.Set("group", node.Group)
	}
	if node.Namespace != "" {
		query.Set("namespace", node.Namespace)
	}
	data, err := c.askAbout(ctx, ref, "/resource", query)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Manifest string `json:"manifest"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("read %s %s of %s: %w", node.Kind, node.Name, ref, err)
	}
	found, err := c.inner(answer.Manifest)
	if err != nil {
		return nil, fmt.Errorf("read %s %s of %s: %w", node.Kind, node.Name, ref, err)
	}
	return found, nil
}

// Events returns the Events about the Application itself.
func (c *Client) Events(ctx context.Context, ref Ref) ([]map[string]any, error) {
	return c.events(ctx, ref, nil)
}

// ResourceEvents returns the Events about a node of the Application's tree.
func (c *Client) ResourceEvents(ctx context.Context, ref Ref, node Node) ([]map[string]any, error) {
	return c.events(ctx, ref, url.Values{"resourceName": {node.Name}, "resourceNamespace": {node.Namespace}, "resourceUID": {node.UID}})
}

func (c *Client) events(ctx context.Context, ref Ref, query url.Values) ([]map[string]any, error) {
	data, err := c.askAbout(ctx, ref, "/events", query)
	if err != nil {
		return nil, err
	}
	events, err := items(data)
	if err != nil {
		return nil, fmt.Errorf("read events of %s: %w", ref, err)
	}
	return events, nil
}

// Manifests returns what Git renders now, hooks included. Argo CD renders again
// where its cache is empty.
func (c *Client) Manifests(ctx context.Context, ref Ref) ([]map[string]any, error) {
	data, err := c.askAbout(ctx, ref, "/manifests", nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Manifests []string `json:"manifests"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("read manifests of %s: %w", ref, err)
	}
	manifests := make([]map[string]any, len(answer.Manifests))
	for i, text := range answer.Manifests {
		if manifests[i], err = c.inner(text); err != nil {
			return nil, fmt.Errorf("read manifests of %s: number %d: %w", ref, i+1, err)
		}
	}
	return manifests, nil
}

// CommitTime returns when a revision of the Application's source was made, as RFC
// 3339. The source is an index into spec.sources, or 0. A chart has no such time:
// then it is "".
func (c *Client) CommitTime(ctx context.Context, ref Ref, revision string, source int) (string, error) {
	part, err := segment(revision)
	if err != nil {
		return "", fmt.Errorf("revision of %s: %w", ref, err)
	}
	query := url.Values{}
	if source > 0 {
		query.Set("sourceIndex", strconv.Itoa(source))
	}
	data, err := c.askAbout(ctx, ref, "/revisions/"+part+"/metadata", query)
	if err != nil {
		return "", err
	}
	var answer struct {
		Date string `json:"date"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return "", fmt.Errorf("read revision %s of %s: %w", printable(revision), ref, err)
	}
	return answer.Date, nil
}

// Applications returns all Applications that the token may see, of one project or,
// when it is "", of all, each with metadata, spec and status.
func (c *Client) Applications(ctx context.Context, project string) ([]map[string]any, error) {
	query := url.Values{}
	if project != "" {
		query.Set("projects", project)
	}
	data, err := c.ask(ctx, question{path: "/api/v1/applications", query: query})
	if err != nil {
		return nil, err
	}
	apps, err := items(data)
	if err != nil {
		return nil, fmt.Errorf("read applications: %w", err)
	}
	return apps, nil
}

// askAbout asks for something of one Application.
func (c *Client) askAbout(ctx context.Context, ref Ref, below string, query url.Values) ([]byte, error) {
	if err := ref.validate(); err != nil {
		return nil, err
	}
	scope := "PROJECT/" + ref.Name
	asked := url.Values{}
	maps.Copy(asked, query)
	if ref.Namespace != "" {
		asked.Set("appNamespace", ref.Namespace)
		scope = "PROJECT/" + ref.Namespace + "/" + ref.Name
	}
	return c.ask(ctx, question{
		path: "/api/v1/applications/" + url.PathEscape(ref.Name) + below, query: asked,
		right: "p, ROLE, applications, get, " + scope + ", allow",
	})
}

var errNoObject = errors.New("it is no JSON object")

// object decodes one object, whole numbers as int64, as Kubernetes does.
func object(data []byte) (map[string]any, error) {
	var decoded map[string]any
	if err := kjson.Unmarshal(data, &decoded); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if decoded == nil {
		return nil, errNoObject
	}
	return decoded, nil
}

// inner decodes an object that an answer holds as a text.
func (c *Client) inner(text string) (map[string]any, error) {
	if err := c.take([]byte(text)); err != nil {
		return nil, err
	}
	return object([]byte(text))
}

// items decodes the items of a list.
func items(data []byte) ([]map[string]any, error) {
	list, err := object(data)
	if err != nil {
		return nil, err
	}
	raw, _ := list["items"].([]any)
	found := make([]map[string]any, 0, len(raw))
	for i, item := range raw {
		o, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("item %d: %w", i, errNoObject)
		}
		found = append(found, o)
	}
	return found, nil
}

// trimVersion is "v2.14.21" of "v2.14.21+abcdef.dirty".
func trimVersion(version string) string {
	short, _, _ := strings.Cut(version, "+")
	return printable(short)
}
