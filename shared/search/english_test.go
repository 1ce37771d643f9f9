package search

import (
	"testing"

	"docent/shared/search/text"
)

func TestEnglishShare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		passage string
		want    float64
	}{
		"English":             {"The café of the town sells more coffee than all of the other shops in its neighbourhood together.", 1},
		"code":                {"def read_all(path):\n    return open(path).read()", 1},
		"German":              {"Der Fluss ist in der Mitte der Stadt und wird von einer alten Brücke überspannt.", foreignShare},
		"Romanian":            {"Orașul este cunoscut pentru grupurile mari de imigranți care au venit aici pentru munca din fabrici.", foreignShare},
		"Turkish":             {"Şehir, ülkenin en büyük limanı ve önemli bir ticaret merkezi olarak bilinir.", foreignShare},
		"Russian":             {"Город известен своим большим портом.", 0},
		"Japanese with a URL": {"この設定は https://example.com で説明されています。詳しくは管理者に問い合わせてください。", 0},
	} {
		if got := englishShare(text.PassageLanguage("", c.passage), c.passage); got != c.want {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}
