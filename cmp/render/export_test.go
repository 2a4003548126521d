package render

// Detect is detect, for tests against Argo CD's own.
var Detect = detect

// WithoutStacks is withoutStacks.
var WithoutStacks = withoutStacks
