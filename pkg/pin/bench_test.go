package pin_test

import (
	"runtime"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/moorpin/moorpin/e2e/crds"
	"github.com/moorpin/moorpin/pkg/manifest"
	"github.com/moorpin/moorpin/pkg/pin"
	"github.com/moorpin/moorpin/pkg/schema"
)

// externalSecret is what people write, without the fields that the API server adds.
const externalSecret = `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: database
  namespace: shop
  labels:
    app.kubernetes.io/name: shop
    app.kubernetes.io/part-of: shop
spec:
  refreshInterval: 1h
  secretStoreRef:
    name: vault
    kind: ClusterSecretStore
  target:
    name: database
    creationPolicy: Owner
  data:
  - secretKey: username
    remoteRef:
      key: shop/database
      property: username
  - secretKey: password
    remoteRef:
      key: shop/database
      property: password
`

// benchObjects returns one generated object for every kind version that has defaults,
// as YAML and decoded.
func benchObjects(b *testing.B) (kinds []kind, objects []manifest.Object, texts [][]byte) {
	b.Helper()
	all, err := realKinds()
	if err != nil {
		b.Fatal(err)
	}
	for n, kind := range all {
		root := kind.reference.schemas[kind.version]
		for i := range uint64(20) {
			content := newScribe(uint64(n)*1000+i).object(kind.group+"/"+kind.version, kind.name, root)
			if results, err := pin.All(b.Context(), []manifest.Object{{Content: content}}, pin.Options{Schemas: kind.set}); err != nil || len(results[0].Changes) == 0 {
				continue
			}
			object := manifest.Object{Content: content}
			text, err := manifest.Encode([]manifest.Object{object})
			if err != nil {
				b.Fatal(err)
			}
			kinds, objects, texts = append(kinds, kind), append(objects, object), append(texts, text)
			break
		}
	}
	if len(kinds) < 50 {
		b.Fatalf("only %d kinds with defaults", len(kinds))
	}
	return kinds, objects, texts
}

func externalSecretKind(b *testing.B) (kind, manifest.Object) {
	b.Helper()
	all, err := realKinds()
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range all {
		if kind.name == "ExternalSecret" && kind.version == "v1" {
			objects, err := manifest.Decode("bench", []byte(externalSecret), manifest.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			return kind, objects[0]
		}
	}
	b.Fatal("no CRD of ExternalSecret v1")
	return kind{}, manifest.Object{}
}

// batch is how many objects one call of pin.All takes, as in a render.
const batch = 100

func batchOf(object manifest.Object) []manifest.Object {
	objects := make([]manifest.Object, batch)
	for i := range objects {
		objects[i] = object
	}
	return objects
}

// BenchmarkExternalSecret compares, for one ExternalSecret with two keys: pinning;
// pinning what is pinned already; the library's own defaulting, which works in place, on
// a copy made outside of the clock and with that copy; and decoding its YAML.
func BenchmarkExternalSecret(b *testing.B) {
	kind, object := externalSecretKind(b)
	root := kind.reference.schemas[kind.version]
	b.Run("pin", func(b *testing.B) {
		objects := batchOf(object)
		b.ReportAllocs()
		for i := 0; i < b.N; i += batch {
			if _, err := pin.All(b.Context(), objects, pin.Options{Schemas: kind.set}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pin-pinned", func(b *testing.B) {
		results, err := pin.All(b.Context(), []manifest.Object{object}, pin.Options{Schemas: kind.set})
		if err != nil {
			b.Fatal(err)
		}
		objects := batchOf(results[0].Object)
		b.ReportAllocs()
		for i := 0; i < b.N; i += batch {
			if _, err := pin.All(b.Context(), objects, pin.Options{Schemas: kind.set}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library-in-place", func(b *testing.B) {
		b.ReportAllocs()
		copies := make([]map[string]any, 0, batch)
		for i := range b.N {
			if i%batch == 0 {
				b.StopTimer()
				copies = copies[:0]
				for range batch {
					copies = append(copies, apiruntime.DeepCopyJSON(object.Content))
				}
				b.StartTimer()
			}
			defaulting.Default(copies[i%batch], root)
		}
	})
	b.Run("library-with-copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			defaulting.Default(apiruntime.DeepCopyJSON(object.Content), root)
		}
	})
	b.Run("decode-yaml", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := manifest.Decode("bench", []byte(externalSecret), manifest.Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkAllKinds does the same for one object of every kind that has defaults: one
// operation is all of them.
func BenchmarkAllKinds(b *testing.B) {
	kinds, objects, texts := benchObjects(b)
	b.Run("pin", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, kind := range kinds {
				if _, err := pin.All(b.Context(), objects[i:i+1], pin.Options{Schemas: kind.set}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("library-with-copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, kind := range kinds {
				defaulting.Default(apiruntime.DeepCopyJSON(objects[i].Content), kind.reference.schemas[kind.version])
			}
		}
	})
	b.Run("decode-yaml", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, text := range texts {
				if _, err := manifest.Decode("bench", text, manifest.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkSchemaMemory reports the heap that the compiled schemas of all CRDs hold.
func BenchmarkSchemaMemory(b *testing.B) {
	all, err := crds.All(testContext())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		before := heap()
		definitions := make([]*schema.Definition, 0, len(all))
		for _, found := range all {
			definition, err := schema.Parse(b.Context(), found.Content, found.Name())
			if err != nil {
				b.Fatal(err)
			}
			definitions = append(definitions, definition)
		}
		set := schema.NewSet(definitions...)
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		b.ReportMetric(float64(set.Len()), "CRDs")
		runtime.KeepAlive(set)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
