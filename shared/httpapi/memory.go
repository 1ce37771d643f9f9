package httpapi

import (
	"net"
	"net/http"
	"runtime"
	"time"

	"docent/shared/apierr"
	"docent/shared/memory"
)

// Pools bound the memory of requests in a process: for bodies, for replies, for the first
// parts of both, for senders without a key, and for handling requests, which wait their
// turn. Bodies and replies stay in memory while a slow client sends or reads. Memory is
// charged to the team, or to the address of a sender without a key.
const (
	freePart     = 64 << 10  // bytes of each body and reply that come from the small pool
	smallBytes   = 24 << 20  // first parts of bodies and replies
	bodyBytes    = 32 << 20  // of bodies, above their first parts
	replyBytes   = 64 << 20  // of replies, above their first parts
	keylessBytes = 16 << 20  // bodies of senders without a key
	workBytes    = 40 << 20  // while requests are handled
	freeWork     = 256 << 10 // of each request, not counted
	smallWork    = 4 << 20   // of each request without a turn among the large ones

	spareBytes     = 8 << 20 // of bodies, of replies and for handling each, for teams that hold at most smallBytesEach
	smallBytesEach = 1 << 20

	sparePlaces   = 64 // in addition to places(), for teams that hold fewer than placesEach
	placesEach    = 1  // so a quiet team does not wait, and shares the processors with few requests of busy ones
	writers       = 2  // large writes at a time
	keylessPlaces = 4  // requests of senders without a key that are handled at a time

	// teamShare: a team may hold at most this many times the free part of a pool, so a
	// single team gets at most four fifths of it.
	teamShare = 4

	patience = 10 * time.Second // how long a request waits for each of these
)

// Memory for handling a body: the text as received and decompressed, decoded twice (once
// for validation) and stored.
const (
	costPerByte  = 5
	costPerValue = 256
)

// Memory for a reply, per stored byte: it is read, encoded and copied into the reply.
// SCIM makes trees of it in between.
const (
	readCost = 3
	treeCost = 10
)

// places returns how many requests are handled at a time. They may all be of one team; a team
// without one gets a spare place. Requests that wait for the disk or another machine do not
// count, so one for each processor keeps it busy.
func places() int64 { return int64(max(runtime.NumCPU(), 2)) }

// shares are the pools of one handler.
type shares struct {
	small, bodies, replies, keyless *memory.Pool

	room, keylessRoom *memory.Room
}

// NewRoom returns what the requests with a key of one process share.
func NewRoom() *memory.Room {
	return &memory.Room{Places: memory.NewPool(places(), 0).WithSpare(sparePlaces, placesEach), Turns: memory.NewPool(int64(max(runtime.NumCPU()-1, 1)), 0),
		Writes: memory.NewPool(writers, 0), Bytes: memory.NewPool(workBytes, teamShare).WithSpare(spareBytes, smallBytesEach), Free: freeWork, Small: smallWork, Patience: patience}
}

func newShares(room *memory.Room) *shares {
	s := &shares{
		small: memory.NewPool(smallBytes, teamShare), bodies: memory.NewPool(bodyBytes, teamShare).WithSpare(spareBytes, smallBytesEach),
		replies: memory.NewPool(replyBytes, teamShare).WithSpare(spareBytes, smallBytesEach), keyless: memory.NewPool(keylessBytes, teamShare),
		room: room,
	}
	keyless := *s.room
	s.keylessRoom = &keyless
	s.keylessRoom.Places = memory.NewPool(keylessPlaces, 1)
	return s
}

// busy returns the error for a request that found no room in time.
func busy() *apierr.Error {
	return apierr.New(apierr.Unavailable, apierr.CodeUnavailable, "Too many large requests are in progress. Try again.")
}

// account is the owner that the memory of a request is charged to.
type account struct {
	*shares
	owner   string
	keyless bool
}

func (s *shares) teamAccount(teamID string) *account { return &account{s, teamID, false} }

// addressAccount returns the account of the address that sent r, for a sender without a
// key. An IPv6 address counts by its network, because a client has a whole one.
func (s *shares) addressAccount(r *http.Request) *account {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		host = ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return &account{s, "address " + host, true}
}

// large returns an empty lease for a body above its first part.
func (a *account) large() *memory.Lease {
	if a.keyless {
		return a.shares.keyless.Lease(a.owner)
	}
	return a.bodies.Lease(a.owner)
}

// first returns an empty lease for the first part of a body or a reply.
func (a *account) first() *memory.Lease {
	if a.keyless {
		return a.shares.keyless.Lease(a.owner)
	}
	return a.small.Lease(a.owner)
}

func (a *account) work() *memory.Work {
	if a.keyless {
		return a.keylessRoom.Work(a.owner)
	}
	return a.room.Work(a.owner)
}
