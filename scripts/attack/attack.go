package main

import (
	"context"
	"slices"
)

// maxBody is the largest body that the server accepts, in bytes.
const maxBody = 10 << 20

// attack is one way to make the server work hard.
type attack struct {
	name string // family/what
	want []int  // statuses that show that the request got as far as intended
	turn turn
}

// turn plays an attack once. It returns when the attack is over or ctx has ended.
type turn func(ctx context.Context, c *client)

// refusals are the statuses with which a server may refuse any attack: too slow, too large, too many, too busy.
var refusals = []int{408, 413, 429, 431, 503}

// wanted reports whether the attack may be answered with status. Any other status means that the attack is broken,
// for example by a wrong key, or that the server is.
func (a attack) wanted(status int) bool {
	return slices.Contains(a.want, status) || slices.Contains(refusals, status)
}

// sends returns the turn of an attack that sends what of returns and reads the reply.
func sends(of func(c *client) request) turn {
	return func(ctx context.Context, c *client) { c.do(ctx, of(c)) }
}
