package search_test

import (
	"strings"
	"testing"
)

// Three small collections in other languages than English.
var (
	german = []string{
		"Urlaub", "# Urlaub\n\nJede Mitarbeiterin und jeder Mitarbeiter hat dreißig Urlaubstage im Jahr. Der Antrag wird bei der Teamleitung gestellt, spätestens zwei Wochen vorher.\n",
		"Reisekosten", "# Reisekosten\n\nDie Belege werden nach der Reise im Portal hochgeladen. Die Erstattung der Kosten dauert in der Regel zehn Tage.\n",
		"Zugang", "# Zugang\n\nDas Gebäude ist von sieben bis zwanzig Uhr geöffnet. Wer seine Karte verloren hat, meldet sich beim Empfang.\n",
	}
	spanish = []string{
		"Vacaciones", "# Vacaciones\n\nCada empleado tiene treinta días de vacaciones al año. La solicitud se presenta al responsable con dos semanas de antelación.\n",
		"Gastos", "# Gastos de viaje\n\nLos recibos se suben al portal después del viaje. El reembolso de los gastos tarda por lo general diez días.\n",
		"Acceso", "# Acceso\n\nEl edificio está abierto de siete a veinte horas. Quien ha perdido su tarjeta debe avisar a la recepción.\n",
	}
	japanese = []string{
		"休暇", "# 休暇\n\n社員は一年に三十日の休暇を取ることができます。申請は二週間前までに上司に提出してください。\n",
		"出張費", "# 出張費\n\n領収書は出張の後にポータルへ登録します。経費の精算には通常十日かかります。\n",
		"入館", "# 入館\n\n建物は七時から二十時まで開いています。カードを紛失した場合は受付に連絡してください。\n",
	}
)

func TestOtherLanguagesAreAnswered(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name       string
		collection []string
		question   string
		want       string // "" for nothing found
	}{
		{"German, other forms of the words", german, "Wie lange dauern Erstattungen für eine Reise?", "**Die Erstattung der Kosten dauert in der Regel zehn Tage.**"},
		{"German, a question of nouns", german, "Karten verlieren Empfang", "**Wer seine Karte verloren hat, meldet sich beim Empfang.**"},
		{"German, not there", german, "Welche Versicherung zahlt der Zahnarzt?", ""},
		{"Spanish, other forms of the words", spanish, "¿Cuánto tardan los reembolsos de un viaje?", "**El reembolso de los gastos tarda por lo general diez días.**"},
		{"Spanish, a question of nouns", spanish, "tarjetas perdidas recepción", "**Quien ha perdido su tarjeta debe avisar a la recepción.**"},
		{"Spanish, not there", spanish, "¿Qué seguro paga el dentista?", ""},
		{"Japanese", japanese, "経費の精算は何日かかりますか。", "**経費の精算には通常十日かかります。**"},
		{"Japanese, a question of nouns", japanese, "カード 紛失", "**カードを紛失した場合は受付に連絡してください。**"},
		{"Japanese, not there", japanese, "歯医者の保険料は誰が払うのですか", ""},
		{"all in one, German", append(append(append([]string{}, german...), spanish...), japanese...), "Wie viele Urlaubstage gibt es im Jahr?", "dreißig Urlaubstage im Jahr.**"},
		{"all in one, Spanish", append(append(append([]string{}, german...), spanish...), japanese...), "¿Cuántos días de vacaciones hay al año?", "treinta días de vacaciones al año.**"},
		{"all in one, Japanese", append(append(append([]string{}, german...), spanish...), japanese...), "休暇は一年に何日ありますか", "三十日の休暇を取ることができます**。"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.question, c.collection...)
			if a.Found != (c.want != "") || !strings.Contains(a.Markdown, c.want) {
				t.Errorf("found %v, want %q in\n%s", a.Found, c.want, a.Markdown)
			}
		})
	}
}
