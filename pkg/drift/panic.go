package drift

// PanicError says that a rule, or a library that it calls, panicked. That is a mistake
// of this package, whatever the snapshot holds. The error has no word of the panic
// itself, which may quote a Secret.
type PanicError struct {
	// Thrown is the type of the panic's value.
	Thrown string
	// Stack is where it happened, for a log. It shows no values.
	Stack []byte
}

// Error names the type of what was thrown.
func (e *PanicError) Error() string { return "classify: panic: " + e.Thrown }
