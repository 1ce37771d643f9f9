package scim

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"docent/shared/jsoninput"
	"docent/shared/memory"
	"docent/shared/scim/protocol"
)

// bulkOperation is one operation of a Bulk request (RFC 7644 section 3.7).
type bulkOperation struct {
	method, path, bulkID, version string
	data                          map[string]any
	fault                         error // why it cannot run

	needs  []int         // positions of the operations that must run before it
	refers []int         // those of them whose ids it names
	done   chan struct{} // closed when it has ended
	res    result
	err    error
	ran    bool
}

// bulkRun is a Bulk request in progress.
type bulkRun struct {
	s          *Service
	r          request
	operations []*bulkOperation
	byID       map[string]int
	limit      int // stops after this many errors; 0: never
}

// bulk runs the operations independently: one that fails undoes no other.
func bulk(s *Service, r request) (result, error) {
	if err := protocol.CheckMessage(r.body, protocol.BulkRequestURN); err != nil {
		return result{}, err
	}
	run, err := newBulkRun(s, r)
	if err != nil {
		return result{}, err
	}
	run.linkDependencies()
	run.breakCycles()
	order := run.order()
	if run.limit > 0 {
		run.runInOrder(order)
	} else {
		run.runInParallel(order)
	}
	replies := []any{}
	for _, o := range run.operations {
		if !o.ran {
			continue
		}
		replies = append(replies, run.reply(o))
	}
	return result{status: http.StatusOK, body: map[string]any{"schemas": []any{protocol.BulkResponseURN}, "Operations": replies}}, nil
}

func newBulkRun(s *Service, r request) (*bulkRun, error) {
	list, ok := protocol.MessageMember(r.body, "Operations").([]any)
	if !ok {
		return nil, protocol.Bad(protocol.InvalidSyntax, "The request body must have a list of Operations.")
	}
	if len(list) > maxBulkOperations {
		return nil, protocol.Refuse(http.StatusRequestEntityTooLarge, "", "A Bulk request may have at most %d operations; send fewer.", maxBulkOperations)
	}
	run := &bulkRun{s: s, r: r, byID: map[string]int{}}
	switch v := protocol.MessageMember(r.body, "failOnErrors").(type) {
	case nil:
	case json.Number:
		n, err := jsoninput.ParseInt(v.String())
		if err != nil || n < 0 {
			return nil, protocol.Bad(protocol.InvalidValue, "failOnErrors must be a non-negative integer.")
		}
		run.limit = clamped(n)
	default:
		return nil, protocol.Bad(protocol.InvalidValue, "failOnErrors must be a non-negative integer.")
	}
	for i, e := range list {
		object, ok := e.(map[string]any)
		if !ok {
			return nil, protocol.Bad(protocol.InvalidSyntax, "An operation must be an object.")
		}
		o := newBulkOperation(object)
		if o.bulkID != "" {
			if _, taken := run.byID[o.bulkID]; taken {
				o.fault = protocol.Bad(protocol.InvalidValue, "Another operation of the request has this bulkId.")
			} else {
				run.byID[o.bulkID] = i
			}
		}
		run.operations = append(run.operations, o)
	}
	return run, nil
}

func newBulkOperation(object map[string]any) *bulkOperation {
	o := &bulkOperation{done: make(chan struct{})}
	for name, to := range map[string]*string{"method": &o.method, "path": &o.path, "bulkId": &o.bulkID, "version": &o.version} {
		switch v := protocol.MessageMember(object, name).(type) {
		case nil:
		case string:
			if *to = v; name == "version" && strings.TrimSpace(v) == "" { // the client lost it, and believes that the change is protected
				o.fault = protocol.Bad(protocol.InvalidSyntax, "version is empty. Send the version that you read, or leave it out.")
			}
		default:
			o.fault = protocol.Bad(protocol.InvalidSyntax, "%s must be a string.", name)
		}
	}
	o.method = strings.ToUpper(o.method)
	o.data, _ = protocol.MessageMember(object, "data").(map[string]any)
	needsData := o.method == http.MethodPost || o.method == http.MethodPut || o.method == http.MethodPatch
	switch {
	case o.fault != nil:
	case o.method == "":
		o.fault = protocol.Bad(protocol.InvalidSyntax, "The operation needs a method: POST, PUT, PATCH or DELETE.")
	case needsData && o.data == nil:
		o.fault = protocol.Bad(protocol.InvalidSyntax, "The operation needs data, an object.")
	}
	return o
}

// run runs one operation after all that it needs.
func (b *bulkRun) run(o *bulkOperation) {
	o.ran = true
	if o.err = o.fault; o.err != nil {
		return
	}
	for _, i := range o.refers {
		if b.operations[i].err != nil || !b.operations[i].ran {
			o.err = protocol.Refuse(http.StatusConflict, "", "The operation of bulkId %q failed, and this one needs it.", protocol.Shorten(b.operations[i].bulkID))
			return
		}
	}
	ctx, end := memory.Part(b.r.ctx)
	defer end()
	r := request{ctx: ctx, teamID: b.r.teamID, method: o.method, only: conditions{match: o.version}, query: url.Values{}}
	id := func(name string) string {
		location := b.operations[b.byID[name]].res.location
		return location[strings.LastIndexByte(location, '/')+1:]
	}
	o.path = strings.Trim(eachReference(o.path, id), "/")
	r.segments = strings.Split(o.path, "/")
	r.body = withReferences(o.data, id)
	if o.method != http.MethodPatch || r.onUsers() {
		r.query.Set("attributes", "id") // the reply contains nothing else
	}
	route, ok := routeOf(r.segments)
	if users := len(r.segments) > 0 && (strings.EqualFold(r.segments[0], "Users") || strings.EqualFold(r.segments[0], "Groups")); !ok || !users {
		o.err = protocol.Refuse(http.StatusNotFound, "", "No resource exists at this path.")
		return
	}
	operation, ok := route[o.method]
	if !ok || o.method == http.MethodGet || strings.HasSuffix(strings.ToLower(o.path), ".search") {
		o.err = protocol.Refuse(http.StatusMethodNotAllowed, "", "The path does not support this method in Bulk.")
		return
	}
	o.res, o.err = operation(b.s, r)
	o.res.body = nil // reply does not need it
	if o.err == nil && o.method == http.MethodDelete {
		o.res.location = b.s.BaseURL + Prefix + "/" + o.path
	}
}

// reply returns the result of an operation for the client.
func (b *bulkRun) reply(o *bulkOperation) map[string]any {
	reply := map[string]any{"method": o.method}
	if o.bulkID != "" {
		reply["bulkId"] = o.bulkID
	}
	if o.err == nil {
		reply["status"], reply["location"] = strconv.Itoa(o.res.status), o.res.location
		if o.res.version != "" {
			reply["version"] = o.res.version
		}
		return reply
	}
	e := &protocol.Error{}
	if !errors.As(o.err, &e) {
		status, detail, _ := b.r.classify(b.r.ctx, o.err)
		e = &protocol.Error{Status: status, Detail: detail}
	} else if b.r.failed != nil {
		b.r.failed(b.r.ctx, e)
	}
	if o.method != http.MethodPost {
		reply["location"] = b.s.BaseURL + Prefix + "/" + strings.Trim(o.path, "/")
	}
	reply["status"], reply["response"] = strconv.Itoa(e.Status), e.Object()
	return reply
}
