package state

import (
	"regexp"
	"strings"

	"github.com/moorpin/moorpin/pkg/drift/internal/words"
)

// Shortened is a text for a sentence, without values of Secrets.
func (s *Application) Shortened(said string) string { return words.Shortened(s.Hidden().quoted(said)) }

// MaxQuote bounds what is quoted of a message.
const MaxQuote = 320

// Quote shortens a message for evidence. Messages of kubectl and of the API server
// may repeat the manifest that they refused, Secrets among them: what follows the
// start of such a copy is left out. Values of Secrets go before the message is cut, as
// half of one is a secret still.
func (s *Application) Quote(message string) string {
	message = strings.TrimSpace(s.Hidden().quoted(message))
	for _, start := range []string{"Object: &", "map[string]", `{"apiVersion"`, "data:{", "stringData", `"data":`, "last-applied-configuration\":", "object=&"} {
		if i := strings.Index(message, start); i > 0 {
			message = strings.TrimRight(message[:i], " \t\n") + " ..."
		}
	}
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > MaxQuote {
		message = strings.ToValidUTF8(message[:MaxQuote], "") + "..."
	}
	return message
}

// Quote quotes a message about the resource; one about a Secret may hold its values.
func (r *Resource) Quote(message string) string {
	if r.IsSecret() {
		head, _, _ := strings.Cut(message, "\n")
		return secretValues.ReplaceAllString(r.Application.Quote(head), "(hidden)")
	}
	return r.Application.Quote(message)
}

// secretValues are the parts of a message that may be values.
var secretValues = regexp.MustCompile("\"[^\"]{0,400}\"?|`[^`]*`|'[^']*'|\\{.*")
