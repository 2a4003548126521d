package health

import "strings"

// Vocabulary returns the words of every sense, for the Lua. The words of a sense are
// in a fixed order.
func Vocabulary() map[Sense][]string {
	result := make(map[Sense][]string, len(vocabulary))
	for sense, words := range vocabulary {
		result[sense] = append([]string(nil), words...)
	}
	return result
}

// Classify takes a name such as "DeployFailed", "not-ready" or "RUNNING" apart into
// words and says what they mean together: the gravest word decides.
func Classify(name string) Class { return meaning(name).class }

// sense is what a whole name means.
type sense struct {
	class Class
	// running tells that a word such as "running" was among the words.
	running bool
	// last is the class of the last word that has one.
	last Class
	// denied tells that a word was denied: "NotReady".
	denied bool
	// warning tells that a word such as "warning" was among the words.
	warning bool
	// words are the words of the name.
	words []string
}

// nameBudget is how many different names that are not common, and how many messages, of
// an object are read; the others say nothing. It bounds the time of the Lua, which Argo CD stops
// after a second.
const nameBudget = 60

// openingWords is how many words of a message are read.
const openingWords = 3

// reader reads names and remembers what they mean.
type reader struct {
	known map[string]sense
	// read counts the names and messages that were taken apart.
	read int
}

// meaning reads a name, within the budget.
func (r *reader) meaning(name string) sense {
	known, ok := r.known[name]
	if ok || name == "" {
		return known
	}
	if _, free := common[name]; !free {
		if r.read == nameBudget {
			return known
		}
		r.read++
	}
	known = meaning(name)
	r.known[name] = known
	return known
}

// failing reports whether a message starts with a failure, within the budget.
func (r *reader) failing(message string) bool {
	if message == "" || r.read == nameBudget {
		return false
	}
	r.read++
	words := split(message)
	for _, word := range words[:min(openingWords, len(words))] {
		if senseOf(word) == Sense(Bad) {
			return true
		}
	}
	return false
}

// meaning reads a name.
func meaning(name string) sense {
	result := sense{words: split(name)}
	not := false
	for _, word := range result.words {
		class := NoClass
		switch found := senseOf(word); found {
		case SenseNot:
			not = true
			continue
		case SenseRunning:
			result.running = true
			class = deny(Good, Wait, not)
		case SenseNeeded:
			class = deny(Good, Bad, not)
		case Sense(Good):
			class = deny(Good, Wait, not)
		case SenseWarning:
			result.warning = true
		case SenseIgnored:
		default:
			// "NotFailed" and "NoErrors" say nothing.
			class = deny(Class(found), NoClass, not)
		}
		if class != NoClass {
			result.last, result.denied = class, not
		}
		result.class = max(result.class, class)
	}
	return result
}

// deny returns the class of a word, and the other one where the word is denied.
func deny(class, denied Class, not bool) Class {
	if not {
		return denied
	}
	return class
}

// senseOf looks a word up. What is unknown and ends in -ing is under way.
func senseOf(word string) Sense {
	if found, known := senses[word]; known {
		return found
	}
	if strings.HasSuffix(word, "ing") {
		return Sense(Wait)
	}
	return Sense(NoClass)
}

// split takes a name apart: at everything that is no letter, before a capital that
// follows a small letter, and before the last capital of several ("HTTPError"). The
// words are in small letters. Only printable ASCII is read, up to the first other
// byte: the Lua finds letters by comparing strings and knows no others.
func split(name string) []string {
	var words []string
	start, capitals := 0, 0
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = end
	}
	end := 0
	for ; end < len(name) && end < nameLimit && name[end] >= ' ' && name[end] <= '~'; end++ {
		switch letter := name[end]; {
		case letter >= 'A' && letter <= 'Z':
			if capitals == 0 {
				flush(end)
			}
			capitals++
		case letter >= 'a' && letter <= 'z':
			if capitals > 1 {
				flush(end - 1)
			}
			capitals = 0
		default:
			flush(end)
			start, capitals = end+1, 0
		}
	}
	flush(end)
	return words
}
