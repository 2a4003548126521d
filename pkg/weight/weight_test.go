package weight_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/moorpin/moorpin/pkg/weight"
)

// listOf is a document with n times the item in a list.
func listOf(item string, n int) string {
	return `{"items":[` + item + strings.Repeat(","+item, n-1) + `]}`
}

// TestJSONIsWhatDecodingTakes holds the estimate to what the heap says, for documents
// that somebody would send to take as much as can be.
func TestJSONIsWhatDecodingTakes(t *testing.T) {
	var flat strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&flat, `,"k%d":{}`, i)
	}
	object := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"web","labels":{"app":"x","tier":"y"},"managedFields":[{"manager":"kubectl","fieldsV1":{"f:data":{".":{},"f:a":{}}}}]},"data":{"a":"some text","b":"more of it"}}`
	for name, document := range map[string]string{
		"empty objects":          listOf("{}", 100_000),
		"objects of one":         listOf(`{"a":1}`, 100_000),
		"objects below one":      listOf(strings.Repeat(`{"a":`, 100)+"1"+strings.Repeat("}", 100), 1000),
		"objects with spaces":    listOf("{ }", 100_000),
		"numbers":                listOf("1", 200_000),
		"lists":                  listOf("[]", 100_000),
		"lists of one":           listOf("[1]", 100_000),
		"strings":                listOf(`"x"`, 200_000),
		"a long string":          listOf(`"`+strings.Repeat("x", 4<<20)+`"`, 1),
		"brackets in strings":    listOf(`"{[{[\"{,,,,"`, 100_000),
		"one object of many":     `{"a":0` + flat.String() + "}",
		"objects of Kubernetes":  listOf(object, 5000),
		"objects inside strings": listOf(`"`+strings.ReplaceAll(object, `"`, `\"`)+`"`, 5000),
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			var decoded map[string]any
			if err := kjson.Unmarshal([]byte(document), &decoded); err != nil {
				t.Fatal(err)
			}
			took, estimated := heap()-before, weight.JSON([]byte(document))
			runtime.KeepAlive(decoded)
			if estimated < took || estimated > 4*took+1<<20 {
				t.Errorf("%d bytes of JSON take %d, estimated %d", len(document), took, estimated)
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc)
}

func TestAllowance(t *testing.T) {
	budget := weight.NewBudget(100)
	one, other := budget.Allow("one", 60), budget.Allow("other", 60)
	if err := errors.Join(one.Take(40), one.Take(20)); err != nil {
		t.Fatal(err)
	}
	if _, ok := errors.AsType[*weight.TooLargeError](one.Take(1)); !ok {
		t.Error("one takes more than it may")
	}
	if _, ok := errors.AsType[*weight.FullError](other.Take(41)); !ok {
		t.Error("both take more than there is")
	}
	if err := other.Take(40); err != nil {
		t.Errorf("what is left cannot be taken: %v", err)
	}
	one.Release()
	one.Release()
	if got := budget.Taken(); got != 40 {
		t.Errorf("%d bytes are taken after one has given back, want 40", got)
	}
	if err := one.Take(1); err == nil || budget.Taken() != 40 {
		t.Errorf("who came late took from the others: %v", err)
	}
	other.Forget()
	if err := other.Take(60); err != nil || budget.Taken() != 60 {
		t.Errorf("begun anew, it has not all that it may take: %v", err)
	}
	other.Release()
	if got := budget.Taken(); got != 0 {
		t.Errorf("%d bytes are taken in the end", got)
	}
}

// TestBudgetAtOnce: what many hold at once never exceeds the limit, and comes back.
func TestBudgetAtOnce(t *testing.T) {
	const limit, each, takers = 50, 7, 100
	budget := weight.NewBudget(limit)
	var held, most, refused atomic.Int64
	var running sync.WaitGroup
	for range takers {
		running.Go(func() {
			for range 100 {
				if budget.Take(each) != nil {
					refused.Add(1)
					continue
				}
				if now := held.Add(each); now > most.Load() {
					most.Store(now)
				}
				runtime.Gosched() // while it is held
				held.Add(-each)
				budget.Give(each)
			}
		})
	}
	running.Wait()
	if most.Load() > limit || most.Load() == 0 || refused.Load() == 0 {
		t.Errorf("at most %d were held of %d, and %d were refused", most.Load(), limit, refused.Load())
	}
	if got := budget.Taken(); got != 0 {
		t.Errorf("%d bytes are taken in the end", got)
	}
	for range limit / each {
		if err := budget.Take(each); err != nil {
			t.Fatalf("what is left cannot be taken: %v", err)
		}
	}
	if _, ok := errors.AsType[*weight.FullError](budget.Take(each)); !ok {
		t.Error("more is taken than there is")
	}
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"a":[{"b":"}\\\""}]}`, "[[[", "\"", `{"a":1,}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if got := weight.JSON(document); got < int64(len(document)) {
			t.Errorf("%q weighs %d, less than its bytes", document, got)
		}
	})
}
