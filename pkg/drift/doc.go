// Package drift says why an Argo CD Application is OutOfSync.
//
// [Classify] takes a [Snapshot], which holds an Application, what Git renders, what the
// API server returns and what else is known, and answers with a [Report]: for every
// field that Argo CD flags the [Mechanism] that made it differ, the evidence, who
// wrote it, what a sync would do now and the narrowest fix. Beside the flagged
// fields stand those that Argo CD cannot see, with "flagged": false.
//
// The differences are Argo CD's own: its packages normalise and compare, by the
// strategy that the Application uses. What differs is then told apart by an ordered
// table of rules; the first that answers has the field, and a field that none
// answers for is [Unexplained], never left out.
//
// The package touches no network, disk, clock or log. [Parse] refuses what is no
// snapshot; any JSON object may stand for a target or a live object. Values of
// Secrets never reach a report.
package drift
