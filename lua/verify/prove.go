package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/moorpin/moorpin/pkg/health"
)

// draws is how many objects Prove draws at random, always the same ones.
const draws = 24

// Proof is what a check was proven on.
type Proof struct {
	// Cases counts the objects.
	Cases int
	// Codes counts the answers.
	Codes map[health.Code]int
	// Examples are the cases that tell people most, with the answers.
	Examples []Example
}

// Example is a case and its answer.
type Example struct {
	Name   string
	Object map[string]any
	Status health.Status
}

// DisproofError says on which object a check went wrong.
type DisproofError struct {
	// Case names the object, Object is it.
	Case   string
	Object map[string]any
	Reason error
	// Broken is true where nobody gave the object: it is one that was given, broken in
	// one place.
	Broken bool
}

// Error names the case and what went wrong.
func (d *DisproofError) Error() string { return fmt.Sprintf("case %q: %v", d.Case, d.Reason) }

// Unwrap gives what went wrong.
func (d *DisproofError) Unwrap() error { return d.Reason }

// ErrNeverHealthy is the reason against a check that would make every sync wait.
var ErrNeverHealthy = errors.New("no object is found Healthy, so every sync with waves would wait for ever")

// Prove runs a script on all cases of a check and on objects drawn around its rules,
// and returns a [*DisproofError] for the first that goes wrong. Any other error is that
// ctx has ended. The script runs compiled once; the cases marked [Case.Twice] are run in
// Argo CD's VM, too, which must say the same.
func Prove(ctx context.Context, check health.Check, script string) (Proof, error) {
	proof := Proof{Codes: map[health.Code]int{}}
	prover := prover{check: check, program: compile(Script{Text: script})}
	for _, one := range Cases(check) {
		status, err := prover.agree(ctx, one)
		if err != nil {
			return Proof{}, err
		}
		proof.Cases++
		proof.Codes[status.Code]++
		if one.Example {
			proof.Examples = append(proof.Examples, Example{Name: one.Name, Object: one.Object, Status: status})
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range draws {
		one := Case{Name: fmt.Sprintf("drawn %d", i+1), Object: Arbitrary(check, random.IntN)}
		status, err := prover.agree(ctx, one)
		if err != nil {
			return Proof{}, err
		}
		proof.Cases++
		proof.Codes[status.Code]++
	}
	if proof.Codes[health.Healthy] == 0 {
		return Proof{}, &DisproofError{Case: "satisfied", Object: content(check, false), Reason: ErrNeverHealthy}
	}
	return proof, nil
}

// prover holds a check against its script.
type prover struct {
	check   health.Check
	program program
}

// agree runs a case and compares the answer with the reference.
func (p prover) agree(ctx context.Context, one Case) (health.Status, error) {
	status, err := p.program.run(ctx, one.Object)
	if err == nil && one.Twice {
		var again health.Status
		if again, err = p.program.script.Run(ctx, one.Object); err == nil && again != status {
			err = fmt.Errorf("the script says %s, in Argo CD's VM %s", say(status), say(again))
		}
	}
	if err == nil {
		err = judge(p.check, one.Object, status)
	}
	if err == nil && one.Never != "" && status.Code == one.Never {
		err = fmt.Errorf("the answer is %s, which is wrong whatever else the object holds", status.Code)
	}
	if err == nil {
		return status, nil
	}
	if ctx.Err() != nil {
		return status, err
	}
	return status, &DisproofError{Case: one.Name, Object: one.Object, Reason: err}
}

// Compare runs a script in Argo CD's VM on one object, a live one perhaps, and refuses
// an answer that differs from the reference's.
func Compare(ctx context.Context, check health.Check, script string, object map[string]any) (health.Status, error) {
	status, err := Run(ctx, script, object)
	if err != nil {
		return status, err
	}
	return status, judge(check, object, status)
}

// judge refuses a status that is not the reference's.
func judge(check health.Check, object map[string]any, status health.Status) error {
	want := health.Evaluate(check, object)
	switch {
	case status.Message == "":
		return fmt.Errorf("the message of %s is empty", status.Code)
	case status != want:
		return fmt.Errorf("the script says %s, the rules say %s", say(status), say(want))
	}
	return nil
}

func say(status health.Status) string {
	text, err := json.Marshal(status.Message)
	if err != nil {
		return string(status.Code)
	}
	return string(status.Code) + " " + string(text)
}
