package manifest

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	kjson "sigs.k8s.io/json"
)

// DecodeTexts reads one JSON object from each text, on all cores. file names the
// source in origins, in which the document is the text's place, from 1. Unlike
// [Decode] it expands no Lists and sets no limits: it is for what a renderer in this
// process has written. Errors are [*Error].
func DecodeTexts(file string, texts []string) ([]Object, error) {
	objects := make([]Object, len(texts))
	err := onAllCores(len(texts), func(i int) error {
		origin := Origin{File: file, Document: i + 1, Line: 1}
		var content map[string]any
		err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(texts[i]), &content)
		if err == nil && content == nil {
			err = errors.New("is null, not an object")
		}
		if err != nil {
			return &Error{Origin: origin, Reason: "does not parse: " + err.Error()}
		}
		objects[i] = Object{Content: content, Origin: origin}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return objects, nil
}

// EncodeTexts writes each object as one line of JSON with sorted keys, on all cores.
func EncodeTexts(objects []Object) ([]string, error) {
	texts := make([]string, len(objects))
	err := onAllCores(len(objects), func(i int) error {
		text, err := objects[i].JSON()
		if err != nil {
			return fmt.Errorf("object %d: %w", i+1, err)
		}
		texts[i] = string(text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return texts, nil
}

// onAllCores calls work for every number below n, each core a run of them in order,
// and returns the error of the lowest number that has one.
func onAllCores(n int, work func(i int) error) error {
	cores := min(n, runtime.GOMAXPROCS(0))
	faults := make([]error, cores)
	var running sync.WaitGroup
	for core := range cores {
		running.Go(func() {
			for i := core * n / cores; i < (core+1)*n/cores; i++ {
				if faults[core] = work(i); faults[core] != nil {
					return
				}
			}
		})
	}
	running.Wait()
	for _, fault := range faults {
		if fault != nil {
			return fault
		}
	}
	return nil
}
