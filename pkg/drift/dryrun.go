package drift

// DryRun is what the API server answered when it was asked, without writing, what
// a sync of the object would do. One of the two fields is set.
type DryRun struct {
	// Result is the object as it would be after the sync.
	Result map[string]any `json:"result,omitempty"`
	// Error is the refusal, in the API server's words.
	Error string `json:"error,omitempty"`
}
