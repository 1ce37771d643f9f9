package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"docent/shared/quota"
	"docent/shared/scim/protocol"
	"docent/shared/source"
	"docent/shared/table"
	"docent/shared/team"
)

// request is the state of one request at the edge.
type request struct {
	id       string
	arrived  time.Time
	begun    time.Time     // like arrived, of the clock that the waits of a stream follow
	host     string        // that the client asked for, with its port
	quotas   []quota.State // reported in the reply's headers
	exceeded *quota.State  // the quota that it exceeded
	code     string        // of the error that is replied
	cause    error         // of a 5xx, for the log
	pattern  string        // of the path; empty when there is none
	route    string        // the operation's method and path pattern; empty when there is none
	bodyless bool          // the body was empty

	badCoding bool // the body's content coding is not gzip

	testing bool // it ends a test of single sign-on

	operation *protocol.Error // of the first wrong operation of a Bulk request
	tool      int             // the status of the refusal of an agent's call, whose reply has 200

	refused    error          // why a sign-in failed
	refusedWho team.Principal // who was refused before the request was theirs, if known

	who     team.Principal                                // whose request it is; empty without a key
	recheck func(context.Context) (team.Principal, error) // returns who as of now, or an error if they may no longer be answered; nil without a key
	counted *counting                                     // its usage; nil without a key
	cost    *table.Meter                                  // what it has used of the tables

	reply   *reply
	chat    bool          // of a client of OpenAI's API
	account *account      // pays for its memory
	sender  source.Sender // of a delivery
}

// addQuota reports s in the reply's headers. It replaces an earlier state of the same quota.
func (r *request) addQuota(s quota.State) {
	for i := range r.quotas {
		if r.quotas[i].Name == s.Name {
			r.quotas[i] = s
			return
		}
	}
	r.quotas = append(r.quotas, s)
}

type requestKey struct{}

// requestFrom returns the request of ctx; outside of one it is empty.
func requestFrom(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// requestIDOf returns the client's id for r, if a reply may repeat it, or a new one.
func requestIDOf(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); echoable.MatchString(id) {
		return id
	}
	return uuid.NewString()
}
