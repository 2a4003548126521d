// Package drift holds the words in which it is said why an Argo CD Application is
// OutOfSync.
//
// A [Snapshot] holds an Application, what Git renders, what the API server returns and
// what else is known. The answer is a [Report]: for every field that Argo CD flags the
// [Mechanism] that made it differ, the evidence, who wrote it, what a sync would do now
// ([Sync]) and the narrowest [Fix]. Beside the flagged fields stand those that Argo CD
// cannot see, with "flagged": false. What no rule explains is [Unexplained], never left
// out, and values of Secrets never reach a report.
//
// Package classify finds the answer. The words themselves touch no network, disk, clock
// or log. [Parse] refuses what is no snapshot: {"application": {...}, "resources": [...]}
// is one, a list of resources alone is none.
package drift
