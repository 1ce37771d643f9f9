package app_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"docent/shared/answer"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/filter"
	"docent/shared/httpapi"
	"docent/shared/quota"
	"docent/shared/webhook"
)

// TestTextsNameTheLimits finds the texts that a change of a limit has to change too.
func TestTextsNameTheLimits(t *testing.T) {
	t.Parallel()
	const (
		readme = "README.md"
		sample = "shared/app/sample/limits-and-quotas.md"
		hooks  = "shared/webhook/README.md"
		texts  = "shared/httpapi/openapitexts.go"
	)
	for name, c := range map[string]struct {
		limit  int
		phrase string // with # in place of the limit
		files  []string
	}{
		"answer.MaxQuestion":            {answer.MaxQuestion, "| Question | # characters |", []string{sample}},
		"collection.MaxPerTeam":         {collection.MaxPerTeam, "have # collections", []string{readme}},
		"collection.MaxPerTeam, API":    {collection.MaxPerTeam, `"createCollection": "A team has at most #.`, []string{texts}},
		"collection.MaxPerTeam, sample": {collection.MaxPerTeam, "| Collections of a team | # |", []string{sample}},
		"collection.MaxName":            {collection.MaxName, "| Name of a collection | # characters |", []string{sample}},
		"collection.MaxDescription":     {collection.MaxDescription, "| Description of a collection | # characters |", []string{sample}},
		"document.MaxTitle":             {document.MaxTitle, "| Title of a document | # characters |", []string{sample}},
		"document.MaxURI":               {document.MaxURI, "| URI of a document | # characters |", []string{sample}},
		"document.MaxUploads":           {document.MaxUploads, "A team has at most #\nsuch uploads", []string{readme}},
		"document.MaxUploadBytes in MB": {document.MaxUploadBytes >> 20, "up to # MB", []string{readme}},
		"filter.MaxConditions":          {filter.MaxConditions, "A filter has at most #\nconditions", []string{readme}},
		"filter.MaxKeys":                {filter.MaxKeys, "up to # names", []string{readme}},
		"httpapi.MaxBody in MB":         {httpapi.MaxBody >> 20, "A request may have # MB", []string{readme}},
		"quota.AnswersPerDay":           {quota.AnswersPerDay, "may ask # questions per day", []string{readme, sample}},
		"quota.CallsPerDay":             {quota.CallsPerDay, "# calls per Pacific day", []string{readme}},
		"quota.CallsPerDay, sample":     {quota.CallsPerDay, "may make # calls per day", []string{sample}},
		"webhook.MaxPerTeam":            {webhook.MaxPerTeam, "A team has at most # endpoints", []string{hooks}},
	} {
		for _, file := range c.files {
			text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(c.phrase, "#", thousands(c.limit), 1); !strings.Contains(string(text), want) {
				t.Errorf("%s is %d, but %s does not say %q: change the text, or the phrase in this test", name, c.limit, file, want)
			}
		}
	}
}

// thousands writes n, below a million, with a comma between thousands.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n/1000) + "," + strconv.Itoa(n%1000 + 1000)[1:]
}
