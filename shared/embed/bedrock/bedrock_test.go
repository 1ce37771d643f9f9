package bedrock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"docent/shared/embed"
	"docent/shared/embed/bedrock"
	"docent/shared/embed/embedtest"
)

func runtime(s *embedtest.Server) *bedrockruntime.Client {
	return bedrockruntime.NewFromConfig(aws.Config{Region: "eu-central-1", BaseEndpoint: aws.String(s.Bedrock()),
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		Retryer: func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 3, time.Millisecond })
		}})
}

// open returns an engine of the default size on a server that makes vectors of any size.
func open(t *testing.T) (*bedrock.Engine, *embedtest.Server) {
	t.Helper()
	s := embedtest.Serve(t, embedtest.New(embed.Model{Name: "words", Size: 1024}))
	e, err := bedrock.New(runtime(s), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	return e, s
}

func TestContract(t *testing.T) {
	t.Parallel()
	e, _ := open(t)
	embedtest.Run(t, e)
}

func TestModels(t *testing.T) {
	t.Parallel()
	s := embedtest.Serve(t, embedtest.New(embed.Model{Name: "words", Size: 1024}))
	for _, c := range []struct {
		id   string
		size int
		want embed.Model // without a name: an error
	}{
		{"", 0, embed.Model{Name: "bedrock:amazon.titan-embed-text-v2:0", Size: 512}},
		{"", 256, embed.Model{Name: "bedrock:amazon.titan-embed-text-v2:0", Size: 256}},
		{"arn:aws:bedrock:eu-central-1:1:provisioned-model/x", 1024, embed.Model{Name: "bedrock:arn:aws:bedrock:eu-central-1:1:provisioned-model/x", Size: 1024}},
		{"", 384, embed.Model{}},
		{"", -1, embed.Model{}},
	} {
		e, err := bedrock.New(runtime(s), c.id, c.size)
		if (err == nil) != (c.want.Name != "") || err == nil && e.Model() != c.want {
			t.Errorf("%q of size %d: %v", c.id, c.size, err)
		}
		if err != nil {
			continue
		}
		if got, err := e.Embed(t.Context(), []string{"text"}, embed.Question); err != nil || len(got[0]) != c.want.Size {
			t.Errorf("%q of size %d: %v", c.id, c.size, err)
		}
	}
}

// errTemporary is any error that is none of embed's.
var errTemporary = errors.New("temporary")

func TestServersThatMisbehave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		does  []embedtest.Behaviour
		asked int // with one text
		want  error
	}{
		{"fine", []embedtest.Behaviour{embedtest.Embeds}, 1, nil},
		{"throttled, then fine", []embedtest.Behaviour{embedtest.Throttles, embedtest.Embeds}, 2, nil},
		{"throttled", []embedtest.Behaviour{embedtest.Throttles}, 3, errTemporary},
		{"broken", []embedtest.Behaviour{embedtest.Fails}, 3, errTemporary},
		{"forbidden", []embedtest.Behaviour{embedtest.Forbids}, 1, embed.ErrModel},
		{"refused", []embedtest.Behaviour{embedtest.Refuses}, 1, embed.ErrModel},
		{"no JSON", []embedtest.Behaviour{embedtest.Babbles}, 1, errTemporary},
		{"no vector", []embedtest.Behaviour{embedtest.Omits}, 1, embed.ErrModel},
		{"a vector of another size", []embedtest.Behaviour{embedtest.Shortens}, 1, embed.ErrModel},
		{"no numbers", []embedtest.Behaviour{embedtest.Nulls}, 1, errTemporary},
		{"zeros", []embedtest.Behaviour{embedtest.Zeros}, 1, errTemporary},
		{"a number out of range", []embedtest.Behaviour{embedtest.Overflows}, 1, errTemporary},
		{"an endless reply", []embedtest.Behaviour{embedtest.NeverEnds}, 0, errTemporary},
		{"a reply cut off", []embedtest.Behaviour{embedtest.CutsOff}, 0, errTemporary},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, s := open(t)
			for _, texts := range [][]string{{"One text."}, {"Some", "more", "texts", "than", "are", "sent", "at", "a", "time", "."}} {
				s.Now(c.does...)
				got, err := e.Embed(t.Context(), texts, embed.Passage)
				switch known := errors.Is(err, embed.ErrInvalid) || errors.Is(err, embed.ErrModel); {
				case c.want == nil && (err != nil || len(got) != len(texts)), c.want != nil && (err == nil || got != nil),
					errors.Is(c.want, errTemporary) && known, c.want != nil && !errors.Is(c.want, errTemporary) && !errors.Is(err, c.want):
					t.Errorf("%d texts: %d vectors, error %v, want %v", len(texts), len(got), err, c.want)
				case err != nil && (strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "canceled")):
					t.Errorf("%d texts: error %v", len(texts), err)
				}
				if asked, _ := s.Asked(); len(texts) == 1 && c.asked > 0 && asked != c.asked {
					t.Errorf("asked %d times, want %d", asked, c.asked)
				}
			}
		})
	}
}

func TestServerThatHangs(t *testing.T) {
	t.Parallel()
	e, s := open(t)
	s.Now(embedtest.Hangs)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second/10)
	defer cancel()
	if _, err := e.Embed(ctx, []string{"text", "more"}, embed.Passage); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
