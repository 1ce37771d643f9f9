package docx

import "testing"

func TestNumbersInChineseCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n            int
		format, want string
	}{
		{3, "chineseCounting", "三"}, {10, "chineseCounting", "十"}, {12, "taiwaneseCounting", "十二"}, {20, "chineseCounting", "二十"}, {99, "chineseCounting", "九十九"},
		{105, "chineseCounting", "一〇五"}, {7, "chineseCountingThousand", "七"}, {13, "chineseCountingThousand", "十三"}, {100, "chineseCountingThousand", "一百"},
		{101, "chineseCountingThousand", "一百零一"}, {110, "chineseCountingThousand", "一百一十"}, {1001, "taiwaneseCountingThousand", "一千零一"},
		{1010, "chineseCountingThousand", "一千零一十"}, {2300, "chineseCountingThousand", "二千三百"}, {9999, "chineseCountingThousand", "九千九百九十九"},
		{11, "japaneseCounting", "十一"}, {100, "japaneseCounting", "百"}, {201, "japaneseCounting", "二百一"}, {1111, "japaneseCounting", "千百十一"},
		{10, "ideographDigital", "一〇"}, {4, "decimal", "4"}, {0, "chineseCounting", "0"}, {4, "koreanCounting", "4"},
	} {
		if got := numeral(c.n, c.format); got != c.want {
			t.Errorf("%d as %s is %s, want %s", c.n, c.format, got, c.want)
		}
	}
}
