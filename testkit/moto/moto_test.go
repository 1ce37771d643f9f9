package moto_test

import (
	"net/http"
	"testing"

	"docent/testkit/moto"
)

func TestStartGivesOneServerThatAnswers(t *testing.T) {
	t.Parallel()
	endpoint := moto.Start(t)
	if again := moto.Start(t); again != endpoint {
		t.Errorf("second start: %s, first %s", again, endpoint)
	}
	response, err := http.Get(endpoint + "/moto-api/data.json")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("status %d", response.StatusCode)
	}
}
