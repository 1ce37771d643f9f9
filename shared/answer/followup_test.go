package answer_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"docent/shared/answer"
	"docent/shared/apierr"
	"docent/shared/search"
)

// TestAFollowUpIsUnderstoodWithTheQuestionBeforeIt: also after two steps, and without its own words the index knows.
func TestAFollowUpIsUnderstoodWithTheQuestionBeforeIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	follow := func(previous, question string) string {
		t.Helper()
		id := uuid.NewString()
		if _, err := h.Ask(t.Context(), acme, ada, answer.Question{ID: id, Text: question, Previous: previous}); err != nil {
			t.Fatal(err)
		}
		h.deliver(w, 1)
		return id
	}
	first := follow("", known)
	second := follow(first, "And how fast?")
	third := follow(second, "Really?")
	for name, id := range map[string]string{"second": second, "third": third} {
		if a := h.answerOf(id); len(a.References) != 1 || !strings.Contains(a.Markdown, "within ten days") {
			t.Errorf("%s: %s", name, a.Markdown)
		}
	}
	between := uuid.NewString()
	q := answer.Question{ID: between, Text: "Really?", Previous: first, Context: []string{"And how fast?"}}
	if _, err := h.Ask(t.Context(), acme, ada, q); err != nil {
		t.Fatal(err)
	}
	h.deliver(w, 1)
	if a := h.answerOf(between); a.Context != known+"\nAnd how fast?" {
		t.Errorf("after a question that is not stored: %q", a.Context)
	}
	if a := h.answerOf(third); a.Previous != second || a.Question != "Really?" {
		t.Errorf("%+v", a)
	}
	if a := h.answerOf(follow("", "And how fast?")); len(a.References) != 0 {
		t.Errorf("without the question before it: %s", a.Markdown)
	}
	used := h.used()
	again := answer.Question{ID: second, Text: "And how fast?", Previous: first}
	if _, err := h.Ask(t.Context(), acme, ada, again); err != nil || h.used() != used {
		t.Errorf("asked again: %v, %d more", err, h.used()-used)
	}
	if _, err := h.Ask(t.Context(), acme, ada, q); err != nil || h.used() != used {
		t.Errorf("asked again after the same questions: %v, %d more", err, h.used()-used)
	}
	other := q
	for name, more := range map[string][]string{"another": {"And how slow?"}, "none": nil, "one more": {"And how fast?", "And how slow?"}} {
		other.Context = more
		if _, err := h.Ask(t.Context(), acme, ada, other); !apierr.IsCode(err, apierr.CodeAnswerConflict) {
			t.Errorf("the same id with %s between: %v", name, err)
		}
	}
	if err := h.Delete(t.Context(), acme, ada, first); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Ask(t.Context(), acme, ada, q); err != nil || h.used() != used {
		t.Errorf("asked again after the same questions, of which one was deleted: %v, %d more", err, h.used()-used)
	}
	other.Context = []string{"And how slow?"}
	if _, err := h.Ask(t.Context(), acme, ada, other); !apierr.IsCode(err, apierr.CodeInvalidRequest) {
		t.Errorf("the same id with another between, after a deletion: %v", err)
	}
	if _, err := h.Ask(t.Context(), acme, ada, again); err != nil || h.used() != used {
		t.Errorf("asked again after the question before it was deleted: %v, %d more", err, h.used()-used)
	}
	again.Previous = third
	if _, err := h.Ask(t.Context(), acme, ada, again); !apierr.IsCode(err, apierr.CodeAnswerConflict) {
		t.Errorf("the same id after another question: %v", err)
	}
	for name, c := range map[string]struct {
		asker    answer.Asker
		previous string
	}{"another user's": {bob, third}, "unknown": {ada, uuid.NewString()}, "deleted": {ada, first}, "no id": {ada, "x"}} {
		if _, err := h.Ask(t.Context(), acme, c.asker, answer.Question{ID: uuid.NewString(), Text: "And?", Previous: c.previous}); !apierr.IsCode(err, apierr.CodeInvalidRequest) || h.used() != used {
			t.Errorf("%s: %v, %d more", name, err, h.used()-used)
		}
	}
}

// TestAFollowUpAboutAnotherThingIsNotAnsweredAgain: its own words count more than those it takes over.
func TestAFollowUpAboutAnotherThingIsNotAnsweredAgain(t *testing.T) {
	t.Parallel()
	find := searchIn(t, `# Limits

## Questions

A team may ask 500 questions a day.

## Collections

A team may have 50 collections.

## Travel

Employees file the form for travel expenses within 30 days of the return. The manager approves the form.

## Samples

Each of the pages has an example. One page has none.

## Meals

The daily allowance is 28 euros.

## Urlaub

Alle Angestellten haben 30 Tage Urlaub im Jahr.

## Homeoffice

Bis zu drei Tage in der Woche sind im Homeoffice möglich.

## 出張の交通費

社員は出張の交通費を30日以内に申請します。部長が交通費を承認します。

## 食費

食費は一日三千円までです。

## 出差的交通费

员工在30天内报销出差的交通费。经理批准交通费。

## 伙食费

伙食费每天最多一百元。
`)
	const questions, travel = "How many questions may a team ask per day?", "How do employees file travel expenses?"
	for _, c := range []struct{ before, question, want string }{
		{questions, "And how many collections?", "50 collections"},
		{questions, "But how many collections?", "50 collections"},
		{travel, "And meals?", "28 euros"},
		{"Wie viele Tage Urlaub haben alle Angestellten im Jahr?", "Und wie viele im Homeoffice?", "drei Tage"},
		{questions, "And how many minutes?", "500 questions"}, // no document has its own word
		{travel, "And the other one?", "The manager approves the form."},
		{travel, "Give me an example", "The manager approves the form."},
		{travel, "Who approves it?", "The manager approves the form."},
		{questions, "Sorry, I meant collections", "50 collections"},
		{travel, "I meant meals", "28 euros"},
		{travel, "Oops, meals", "28 euros"},
		{"Wie viele Tage Urlaub haben alle Angestellten im Jahr?", "Entschuldigung, ich meinte Homeoffice", "drei Tage"},
		{travel, "No, sorry! I meant meals.", "28 euros"},
		{"出張の交通費はいつまでに申請しますか？", "では、食費は？", "三千円"},
		{"出張の交通費はいつまでに申請しますか？", "では、誰が承認しますか？", "部長"},
		{"出差的交通费什么时候报销？", "那伙食费呢？", "一百元"},
		{"出差的交通费什么时候报销？", "那谁来批准呢？", "经理"},
	} {
		t.Run(c.question, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, _ := h.worker()
			w.Search = find
			id := uuid.NewString()
			if _, err := h.Ask(t.Context(), acme, ada, answer.Question{ID: id, Text: c.question, Context: []string{c.before}}); err != nil {
				t.Fatal(err)
			}
			h.deliver(w, 1)
			if got := h.answerOf(id).Markdown; !strings.Contains(got, c.want) {
				t.Errorf("want %q:\n%s", c.want, got)
			}
		})
	}
}

// TestOnlyAFollowUpTakesOverWords checks what is searched for after other questions: a question that can be understood alone is not
// mixed with them, and one that cannot gets the words of the last that can.
func TestOnlyAFollowUpTakesOverWords(t *testing.T) {
	t.Parallel()
	const dentist = "Does an insurance cover the dentist?"
	for name, c := range map[string]struct {
		before   []string
		question string
		want     []string // the searches, in order
		found    bool
		model    string // the questions that the model is given with it
	}{
		"a first question":          {question: dentist, want: []string{dentist}},
		"another subject":           {before: []string{known}, question: dentist, want: []string{dentist}},
		"back to the first subject": {before: []string{known, dentist}, question: known, want: []string{known}, found: true},
		"a reference":               {before: []string{known}, question: "How long does it take?", want: []string{"How long does it take? travel expenses paid back"}, found: true, model: known},
		"a connective":              {before: []string{known}, question: "And how fast?", want: []string{"And how fast? travel expenses paid back"}, found: true, model: known},
		"few words":                 {before: []string{known}, question: "How fast?", want: []string{"How fast?", "How fast? travel expenses paid back"}, found: true, model: known},
		"after a follow-up":         {before: []string{dentist, known, "And how fast?"}, question: "Why is that?", want: []string{"Why is that? fast travel expenses paid back"}, found: true, model: known + "\nAnd how fast?"},
		"of the last subject":       {before: []string{known, dentist}, question: "What does it cost?", want: []string{"What does it cost? insurance cover dentist", "What does it cost?"}},
		"no question":               {before: []string{known}, question: "Thanks a lot.", want: []string{"Thanks a lot."}},
		"a reference within itself": {before: []string{known}, question: "Which insurance covers the dentist, and does it pay for glasses?", want: []string{"Which insurance covers the dentist, and does it pay for glasses?"}},
		"a correction in whole":     {before: []string{known}, question: "Sorry, I meant: which insurance of the company covers glasses and the dentist abroad?", want: []string{"which insurance of the company covers glasses and the dentist abroad?"}},
		"no correction":             {before: []string{known}, question: "Sorry is said how in Finnish business letters?", want: []string{"Sorry is said how in Finnish business letters?"}},
		"two questions": {question: known + " And how fast?", found: true,
			want: []string{known + " And how fast?", known, "And how fast? travel expenses paid back"}},
		"two questions, of which the second is short": {question: "When are travel expenses paid back and how fast?", found: true,
			want: []string{"When are travel expenses paid back and how fast?", "When are travel expenses paid back", "how fast? travel expenses paid back"}},
		"two questions about another one": {before: []string{known}, question: "How long does it take and who approves it?", found: true, model: known,
			want: []string{"How long does it take and who approves it? travel expenses paid back", "How long does it take travel expenses paid back", "who approves it? long take travel expenses paid back"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t)
			w, _ := h.worker()
			find, searched, model := w.Search, []string(nil), ""
			w.Search = func(ctx context.Context, team string, q search.Query) (search.Result, error) {
				searched = append(searched, q.Text)
				return find(ctx, team, q)
			}
			w.Compose = func(_ context.Context, question, before string, _ []search.Hit, _ func(answer.Composed)) (answer.Composed, error) {
				if question != c.question {
					t.Errorf("the model is asked %q", question)
				}
				model = before
				return answer.Composed{}, nil
			}
			id := uuid.NewString()
			if _, err := h.Ask(t.Context(), acme, ada, answer.Question{ID: id, Text: c.question, Context: c.before}); err != nil {
				t.Fatal(err)
			}
			h.deliver(w, 1)
			if !slices.Equal(searched, c.want) || model != c.model {
				t.Errorf("searched for %q, want %q; the model got %q", searched, c.want, model)
			}
			if a := h.answerOf(id); (len(a.References) > 0) != c.found {
				t.Errorf("%s", a.Markdown)
			}
		})
	}
}

// TestAFollowUpIsUnderstoodInOtherLanguages: a question that refers to another one is searched with its words first.
func TestAFollowUpIsUnderstoodInOtherLanguages(t *testing.T) {
	t.Parallel()
	const (
		german     = "Wie bekomme ich die Kosten einer Reise zurück?"
		french     = "Comment sont remboursés les frais de voyage dans la société ?"
		spanish    = "¿Cómo se pagan los gastos de un viaje en la empresa?"
		italian    = "Come sono rimborsate le spese di viaggio della ditta?"
		portuguese = "Como são pagas as despesas de uma viagem na empresa?"
		japanese   = "出張の経費はどのように精算されますか？"
		chinese    = "公司怎么报销出差的费用？"
		dutch      = "Hoe krijg ik de kosten van een reis terug van de zaak?"
	)
	for _, c := range []struct {
		before, question string
		refers           bool
	}{
		{german, "Give me an example.", true},
		{german, "Another example, please?", true},
		{german, "Can you explain that in more detail?", true},
		{german, "Show me an example of a form.", false},
		{known, "How do I create one?", true},
		{german, "Gib mir ein Beispiel.", true},
		{french, "Donne-moi un exemple", true},
		{spanish, "Dame otro ejemplo", true},
		{german, "Und wie lange dauert das?", true},
		{german, "Wie lange dauert das?", true},
		{german, "Wer genehmigt sie?", true},
		{german, "Was brauche ich dafür?", true},
		{german, "Muss dieser Antrag unterschrieben werden?", true},
		{german, "How long does it take?", true},
		{german, "Gibt es ein Formular für Anträge?", false},
		{german, "Können Sie das Formular für Anträge zeigen?", false},
		{german, "Wie funktioniert das Formular der Personalabteilung?", false},
		{french, "Et pour les clients ?", true},
		{french, "Combien de temps est-ce que cela prend ?", true},
		{french, "Où sont-ils payés ?", true},
		{french, "Est-ce que le formulaire demande une signature ?", false},
		{spanish, "¿Y cuánto tarda en llegar el dinero?", true},
		{spanish, "¿Quién aprueba eso en la oficina?", true},
		{spanish, "¿Dónde está el formulario de la oficina?", false},
		{italian, "E quanto tempo serve al pagamento?", true},
		{italian, "Chi approva queste richieste nella ditta?", true},
		{italian, "Dove si trova il modulo della ditta?", false},
		{portuguese, "E quanto tempo demora o pagamento?", true},
		{portuguese, "Quem aprova isso na empresa?", true},
		{portuguese, "O que é o formulário da empresa?", false},
		{japanese, "それはいつ支払われますか？", true},
		{japanese, "その期限は？", true},
		{japanese, "では、誰が承認しますか？", true},
		{japanese, "申請書はどこにありますか？", false},
		{japanese, "その他の申請書はありますか？", false},
		{japanese, "それでは、誰が承認しますか？", true},
		{japanese, "まとめて払えますか？", false},
		{japanese, "新しい出張の申請書を提出するためにそれぞれの部署で必要な手続きは何ですか？", false},
		{chinese, "它什么时候支付？", true},
		{chinese, "那谁来批准呢？", true},
		{chinese, "這個需要簽字嗎？", true},
		{chinese, "申请表在哪里下载？", false},
		{chinese, "还需要其他申请表吗？", false},
		{dutch, "En hoe lang duurt de betaling?", true},
		{dutch, "Hoe lang duurt dat?", true},
		{dutch, "Wie ondertekent het formulier van de zaak?", false},
	} {
		t.Run(c.question, func(t *testing.T) {
			t.Parallel()
			if got := answer.Searches(c.question, c.before)[0] != c.question; got != c.refers {
				t.Errorf("after %q: refers %v, want %v", c.before, got, c.refers)
			}
		})
	}
}

func TestFeedbackReplacesFeedback(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	id := h.ask(ada, known)
	rate := func(asker answer.Asker, f answer.Feedback) error { return h.Rate(t.Context(), acme, asker, id, f) }
	if err := rate(ada, answer.Feedback{Rating: answer.Up}); !apierr.IsCode(err, apierr.CodeAnswerConflict) || !strings.Contains(err.Error(), "no longer processing") {
		t.Errorf("before the answer: %v", err)
	}
	h.deliver(w, 1)
	before := h.answerOf(id)
	if err := rate(bob, answer.Feedback{Rating: answer.Up}); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("by another user: %v", err)
	}
	for _, f := range []answer.Feedback{{Rating: answer.Down, Comment: "Out of date."}, {Rating: answer.Up}} {
		if err := rate(ada, f); err != nil {
			t.Fatal(err)
		}
		f.At = h.clock.Now().UnixMilli()
		a := h.answerOf(id)
		if a.Feedback == nil || *a.Feedback != f || a.Markdown != before.Markdown || a.State != answer.Complete {
			t.Errorf("%+v, want %+v", a, f)
		}
	}
	if err := h.Delete(t.Context(), acme, ada, id); err != nil {
		t.Fatal(err)
	}
	if err := rate(ada, answer.Feedback{Rating: answer.Up}); !apierr.IsCode(err, apierr.CodeNotFound) {
		t.Errorf("of a deleted answer: %v", err)
	}
}

// TestUnansweredQuestionsAreGroupedByAlikeWording: what was found and not rated down is no gap.
func TestUnansweredQuestionsAreGroupedByAlikeWording(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, _ := h.worker()
	ask := func(asker answer.Asker, question string) string {
		id := h.ask(asker, question)
		h.deliver(w, 1)
		h.clock.Advance(time.Minute)
		return id
	}
	since := h.clock.Now()
	ask(bob, "Which gym does the company pay?")
	ask(ada, unknown)
	ask(ada, "Does an insurance cover the dentist?")
	ask(bob, "dentist insurance covered?")
	ask(ada, known)
	down := ask(ada, "When are expenses of travel paid?")
	if err := h.Rate(t.Context(), acme, ada, down, answer.Feedback{Rating: answer.Down, Comment: "Since May it is five days."}); err != nil {
		t.Fatal(err)
	}
	h.ask(ada, "What is for lunch?") // not answered yet
	gaps, all, err := h.Unanswered(t.Context(), acme, teamKey, since)
	if err != nil || !all || len(gaps) != 3 {
		t.Fatalf("%d gaps, all %t, %v", len(gaps), all, err)
	}
	if g := gaps[0]; g.NotFound != 3 || g.Count() != 3 || g.Question != "dentist insurance covered?" || len(g.IDs) != 3 {
		t.Errorf("%+v", g)
	}
	if g := gaps[1]; g.RatedDown != 1 || len(g.Comments) != 1 || g.IDs[0] != down {
		t.Errorf("%+v", g)
	}
	if g := gaps[2]; g.Question != "Which gym does the company pay?" {
		t.Errorf("%+v", g)
	}
	if own, _, err := h.Unanswered(t.Context(), acme, bob, since); err != nil || len(own) != 2 || own[0].Count()+own[1].Count() != 2 {
		t.Errorf("a user sees %d gaps, %v", len(own), err)
	}
	if later, _, err := h.Unanswered(t.Context(), acme, teamKey, h.clock.Now()); err != nil || len(later) != 0 {
		t.Errorf("%d gaps since now, %v", len(later), err)
	}
}

func TestOnlyTheBeginningOfALongQuestionIsItsWording(t *testing.T) {
	t.Parallel()
	begin := "Where is the handbook? " + strings.Repeat("é ", 500)
	var answers []answer.Answer
	for _, end := range []string{"", strings.Repeat("gateway timeouts of deployment jobs ", 100), strings.Repeat("x", 5000)} {
		answers = append(answers, answer.Answer{QuestionID: end, State: answer.Complete, Fields: answer.Fields{Question: begin + end}})
	}
	if gaps := answer.Gaps(answers...); len(gaps) != 1 || gaps[0].NotFound != 3 {
		t.Errorf("%d gaps", len(gaps))
	}
}

// BenchmarkGapsOfLongQuestions groups questions that are all long and different. To compare each with each took minutes.
func BenchmarkGapsOfLongQuestions(b *testing.B) {
	answers := make([]answer.Answer, 500)
	letters := strings.NewReplacer("0", "g", "1", "h", "2", "i", "3", "j", "4", "k", "5", "l", "6", "m", "7", "n", "8", "o", "9", "p")
	for i := range answers {
		var question strings.Builder
		for n := 0; question.Len() < answer.MaxQuestion-20; n++ {
			question.WriteString(letters.Replace(fmt.Sprintf("%x ", 7919*(1500*i+n)+13)))
		}
		answers[i] = answer.Answer{QuestionID: strconv.Itoa(i), State: answer.Complete, Fields: answer.Fields{Question: question.String()}}
	}
	for b.Loop() {
		if gaps := answer.Gaps(answers...); len(gaps) != len(answers) {
			b.Fatalf("%d gaps, want %d", len(gaps), len(answers))
		}
	}
}
