package controlplane

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// startKubernetes starts etcd, and then kube-apiserver, which would wait longer
// between its attempts than etcd needs.
func (p *Plane) startKubernetes(ctx context.Context) error {
	var taken [3]string
	if err := p.ports.fill(ctx, taken[:]); err != nil {
		return err
	}
	token := rand.Text()
	if err := p.writeKeys(token); err != nil {
		return err
	}
	etcdURL := "http://" + host + ":" + taken[0]
	etcd := program{
		name: "etcd", path: p.programs["etcd"], env: p.environment(),
		args: []string{
			"--data-dir", p.path("etcd"), "--unsafe-no-fsync",
			"--listen-client-urls", etcdURL, "--advertise-client-urls", etcdURL,
			"--listen-peer-urls", "http://" + host + ":" + taken[1],
		},
		ready: func(ctx context.Context) error { return answersOK(ctx, http.DefaultClient, etcdURL+"/health") },
	}
	apiServer := program{
		name: "kube-apiserver", path: p.programs["kube-apiserver"], env: p.environment(),
		args: []string{
			"--etcd-servers", etcdURL,
			"--secure-port", taken[2], "--bind-address", host, "--advertise-address", host,
			// A loopback address may not stand in the endpoints of the service "kubernetes".
			"--endpoint-reconciler-type", "none",
			"--cert-dir", p.path("kubernetes"),
			"--service-account-key-file", p.path("kubernetes/sa.key"),
			"--service-account-signing-key-file", p.path("kubernetes/sa.key"),
			"--service-account-issuer", "https://kubernetes.default.svc",
			"--token-auth-file", p.path("kubernetes/tokens.csv"),
			"--authorization-mode", "RBAC",
			"--service-cluster-ip-range", "10.0.0.0/24",
			// Nothing makes the accounts that this plugin waits for.
			"--disable-admission-plugins", "ServiceAccount",
		},
		ready: func(ctx context.Context) error { return p.connect(ctx, "https://"+host+":"+taken[2], token) },
	}
	if err := p.run(ctx, etcd); err != nil {
		return err
	}
	return p.run(ctx, apiServer)
}

// writeKeys writes the key for service accounts and the token of the admin.
func (p *Plane) writeKeys(token string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	files := map[string][]byte{
		"sa.key":     pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
		"tokens.csv": []byte(token + `,admin,1,"system:masters"` + "\n"),
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(p.path("kubernetes"), name), data, 0o600); err != nil {
			return fmt.Errorf("write key: %w", err)
		}
	}
	return nil
}

// connect reads the certificate that the API server made for itself, and once
// the server is ready keeps the configuration and writes the kubeconfig.
func (p *Plane) connect(ctx context.Context, url, token string) error {
	authority, err := os.ReadFile(p.path("kubernetes/apiserver.crt"))
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	config := &rest.Config{
		Host: url, BearerToken: token, QPS: -1, // no limit on the client's side
		TLSClientConfig: rest.TLSClientConfig{CAData: authority},
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if err := answersOK(ctx, client, url+"/readyz"); err != nil {
		return err
	}
	if p.clients, err = newClients(config); err != nil {
		return err
	}
	p.config = config
	file := api.NewConfig()
	file.Clusters["plane"] = &api.Cluster{Server: url, CertificateAuthorityData: authority}
	file.AuthInfos["admin"] = &api.AuthInfo{Token: token}
	file.Contexts["plane"] = &api.Context{Cluster: "plane", AuthInfo: "admin", Namespace: Namespace}
	file.CurrentContext = "plane"
	if err := clientcmd.WriteToFile(*file, p.Kubeconfig()); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

// environment is what every program gets: nothing of the caller's, so that a
// plane is the same on every machine.
func (p *Plane) environment(extra ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.path("home"), "TMPDIR=" + p.path("tmp"),
	}, extra...)
}

// answersOK is an error unless a GET of the URL is answered with 200.
func answersOK(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask for readiness: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // only read from
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err != nil {
		return fmt.Errorf("read %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, response.Status, lastLines(string(body), 5))
	}
	return nil
}
