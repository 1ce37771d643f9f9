package text

import "strings"

// irregular maps irregular forms of English words to the regular one, which a stemmer cannot do.
// It is not used for code, where "found" and "find" are different names.
var irregular = func() map[string]string {
	set := map[string]string{}
	for forms := range strings.SplitSeq(irregularForms, ",") {
		f := strings.Fields(forms)
		for _, form := range f[1:] {
			set[form] = f[0]
		}
	}
	return set
}()

const irregularForms = `
begin began begun, break broke broken, bring brought, build built, buy bought, catch caught, choose chose chosen,
come came, draw drew drawn, drive drove driven, eat ate eaten, fall fell fallen, feel felt, fight fought,
find found, fly flew flown, forget forgot forgotten, get got gotten, give gave given, go went gone,
grow grew grown, hear heard, hide hid hidden, hold held, keep kept, know knew known, lead led, leave left,
lend lent, lose lost, make made, mean meant, meet met, pay paid, ride rode ridden, ring rang rung,
rise rose risen, run ran, say said, see saw seen, seek sought, sell sold, send sent, shake shook shaken,
shoot shot, sing sang sung, sink sank sunk, sit sat, sleep slept, speak spoke spoken, spend spent, stand stood,
steal stole stolen, strike struck, swear swore sworn, swim swam swum, take took taken, teach taught, tell told,
think thought, throw threw thrown, understand understood, wear wore worn, win won, write wrote written,
freeze froze frozen, bind bound, child children, man men, woman women, foot feet, tooth teeth, mouse mice,
person people, die dying, arise arose arisen, become became, overthrow overthrew overthrown,
withdraw withdrew withdrawn, undo undid undone, rebuild rebuilt, bear bore born`

// britishParts are parts of words with different British and American spellings.
var britishParts = strings.NewReplacer(
	"colour", "color", "favour", "favor", "behaviour", "behavior", "honour", "honor", "labour", "labor", "neighbour", "neighbor",
	"harbour", "harbor", "armour", "armor", "humour", "humor", "centre", "center", "theatre", "theater", "fibre", "fiber",
	"catalogue", "catalog", "dialogue", "dialog", "defence", "defense", "offence", "offense", "licence", "license",
	"travell", "travel", "modell", "model", "cancell", "cancel", "labell", "label", "signall", "signal",
	"aluminium", "aluminum", "grey", "gray", "isation", "ization", "yse", "yze", "ysing", "yzing")

// withS are words that end in -ise in American English too.
var withS = wordSet(`
advertise advise arise bruise compromise comprise concise cruise demise devise disguise enterprise excise exercise expertise
franchise improvise incise likewise merchandise noise otherwise paradise praise precise premise promise raise revise rise
supervise surprise televise treatise wise`)

// spelling returns an English word in lower case in American spelling.
func spelling(word string) string {
	if word == "programme" || word == "programmes" {
		return "program"
	}
	word = britishParts.Replace(word)
	for _, end := range [...]string{"ise", "ised", "ises", "ising"} {
		if root, ok := strings.CutSuffix(word, end); ok && len(root) >= 4 && !withS[root+"ise"] {
			return root + "iz" + end[2:]
		}
	}
	return word
}
