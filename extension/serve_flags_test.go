package extension

import (
	"testing"

	"github.com/moorpin/moorpin/extension/api"
)

func TestRateFlag(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         api.Rate
		wrong        bool
	}{
		"alone":     {reason: "ten seconds' worth may come at once", text: "50", want: api.Rate{PerSecond: 50, Burst: 500}},
		"slow":      {reason: "one has to be allowed at once", text: "0.01", want: api.Rate{PerSecond: 0.01, Burst: 1}},
		"burst":     {reason: "it is given", text: "50:7", want: api.Rate{PerSecond: 50, Burst: 7}},
		"none":      {reason: "0 is no limit, which is negative to the API", text: "0", want: api.Rate{PerSecond: -1}},
		"huge":      {reason: "no number overflows", text: "1e300", want: api.Rate{PerSecond: 1e300, Burst: 1<<31 - 1}},
		"negative":  {reason: "it is a mistake", text: "-1", wrong: true},
		"no number": {reason: "it is a mistake", text: "NaN", wrong: true},
		"infinite":  {reason: "0 says so", text: "Inf", wrong: true},
		"no burst":  {reason: "nothing would ever be allowed", text: "5:0", wrong: true},
		"empty":     {reason: "it is a mistake", text: "", wrong: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var flag rateFlag
			err := flag.Set(test.text)
			if (err != nil) != test.wrong || err == nil && flag.rate() != test.want {
				t.Errorf("%s: want %v, have %v, %v", test.reason, test.want, flag.rate(), err)
			}
		})
	}
}
