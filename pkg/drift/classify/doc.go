// Package classify says why an Argo CD Application is OutOfSync.
//
// [Classify] takes a snapshot and answers with a report; [PreviewRules] says what
// further ignore rules would do, and [PlanFor] how to get rid of what was left behind.
//
// The differences are Argo CD's own: its packages normalise and compare, by the
// strategy that the Application uses. What differs is then told apart by an ordered
// table of rules; the first that answers has the field, and a field that none
// answers for is unexplained, never left out.
//
// The package touches no network, disk, clock or log. Any JSON object may stand for a
// target or a live object. Values of Secrets never reach a report.
package classify
