package text

import "strings"

// stopWords are words that say nothing about the subject of a question: 33 common English words,
// and 76 that phrase questions. To extend the list, take words that are frequent in questions and
// do not distinguish documents. Keep a new word only if no measured set gets worse.
var stopWords = func() map[string]bool {
	words := strings.Fields(`
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
what which who whom whose when where why how do does did doing can could should would may might must i me my we our you your he she his her
its am been being were has have had having so than too very just about from all any some each few more most other own same only both between
through during before after above below up down out off over under again further once here`)
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}()
