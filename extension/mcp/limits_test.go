package mcp_test

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/moorpin/moorpin/extension/mcp"
)

// TestWaitingCallsEnd: a call whose turn does not come ends in its time, though the one
// before it does not.
func TestWaitingCallsEnd(t *testing.T) {
	begun, finish := make(chan struct{}, 2), make(chan struct{})
	stuck := func(context.Context, string) iter.Seq2[map[string]any, error] {
		return func(func(map[string]any, error) bool) {
			begun <- struct{}{}
			<-finish
		}
	}
	server, err := mcp.New(mcp.Options{Reporter: &fake{}, Applications: stuck, Home: "argocd", Calls: 1, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	first, second := connect(t, server), connect(t, server)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _, _ = call(t, first, "list_drifting_applications", object{})
	}()
	<-begun
	answers := make(chan string, 1)
	go func() {
		_, text, _ := call(t, second, "explain_mechanism", object{"id": "manual-edit"})
		answers <- text
	}()
	select {
	case text := <-answers:
		if !strings.Contains(text, "too many") {
			t.Errorf("the second call has the answer %q", text)
		}
	case <-time.After(10 * time.Second):
		t.Error("the second call waits for ever")
	}
	close(finish)
	<-ended
}

// TestAPanicIsNotQuoted: its words may be a value, which the log does not get either.
func TestAPanicIsNotQuoted(t *testing.T) {
	var log bytes.Buffer
	server, err := mcp.New(mcp.Options{Reporter: &fake{breaks: true}, Applications: (&fake{}).applications, Home: "argocd", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if _, text, failed := call(t, connect(t, server), "explain_application", object{"name": "shop"}); !failed || strings.Contains(text, "hush") {
		t.Errorf("it answers %q", text)
	}
	if said := log.String(); strings.Contains(said, "hush") || !strings.Contains(said, "kind=string") {
		t.Errorf("the log says %s", said)
	}
}
