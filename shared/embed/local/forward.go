package local

import (
	"docent/shared/embed"
	"docent/shared/embed/local/internal/kernel"
)

// blockRows is how many tokens go through the wide middle of a layer at once, so that it stays in the cache.
const blockRows = kernel.Block

// scratch is what one forward pass writes. It holds up to rows tokens.
type scratch struct {
	rows     int
	tokens   []float32 // rows of width
	bytes    *kernel.Bytes
	heads    kernel.Blocks // queries, keys and values: blocks of two heads each
	keys     []float32     // of one head, in columns
	scores   []float32
	inverse  [kernel.Lines]float32 // of the sums of scores
	mixed    []float32             // rows of width
	sum      []float32             // rows of width: what is added to tokens
	middle   []float32
	midBytes *kernel.Bytes
}

// rowsFor returns how many rows the buffers have for a text of that many tokens.
func rowsFor(tokens int) int { return (tokens + blockRows - 1) / blockRows * blockRows }

func (m *model) newScratch(tokens int) *scratch {
	rows, inner := rowsFor(tokens), 0
	for i := range m.layers {
		inner = max(inner, m.layers[i].inner)
	}
	return &scratch{
		rows: rows, tokens: make([]float32, rows*m.width), bytes: kernel.NewBytes(rows, m.width),
		heads: kernel.Blocks{Numbers: make([]float32, rows*m.width*3), Block: rows * kernel.Panel, Row: kernel.Panel},
		keys:  make([]float32, kernel.Head*rows), scores: make([]float32, kernel.Lines*rows),
		mixed: make([]float32, rows*m.width), sum: make([]float32, rows*m.width),
		middle: make([]float32, blockRows*inner), midBytes: kernel.NewBytes(blockRows, inner),
	}
}

func up(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// pass is a forward pass over one text.
type pass struct {
	*model
	*scratch
	kernels *kernel.Set
	n       int // tokens
	tiles   int // n, rounded up to whole tiles
}

// vector returns the vector of a text's tokens, of which s holds enough.
func (m *model) vector(kernels *kernel.Set, s *scratch, ids []int32) embed.Vector {
	p := pass{model: m, scratch: s, kernels: kernels, n: len(ids), tiles: up(len(ids), kernels.Tile())}
	p.embed(ids)
	for i := range m.layers {
		p.attend(&m.layers[i])
		p.think(&m.layers[i])
	}
	return p.mean()
}

func (p *pass) row(numbers []float32, r int) []float32 { return numbers[r*p.width : (r+1)*p.width] }

func (p *pass) embed(ids []int32) {
	for r, id := range ids {
		row := p.row(p.tokens, r)
		for i, b := range p.words[int(id)*p.width:][:p.width] {
			row[i] = p.wordScale * float32(b)
		}
		p.kernels.AddNorm(row, p.row(p.positions, r), p.embedNorm.gain, p.embedNorm.bias)
	}
}

// attend adds to each token what it takes from the others.
func (p *pass) attend(l *layer) {
	p.quantize(p.tokens)
	p.kernels.Multiply(l.attend, p.bytes, p.tiles, p.heads)
	for head := range p.width / kernel.Head {
		p.attendHead(head)
	}
	p.quantize(p.mixed)
	p.kernels.Multiply(l.output, p.bytes, p.tiles, kernel.Blocks{Numbers: p.sum, Block: kernel.Panel, Row: p.width})
	p.add(l.outNorm)
}

func (p *pass) attendHead(head int) {
	const perBlock, row = kernel.Panel / kernel.Head, kernel.Panel
	at := head/perBlock*p.heads.Block + head%perBlock*kernel.Head
	part := p.width / kernel.Panel * p.heads.Block // from the queries to the keys, and from these to the values
	queries, keys, values := p.heads.Numbers[at:], p.heads.Numbers[at+part:], p.heads.Numbers[at+2*part:]
	stride := up(p.n, kernel.Lanes)
	p.kernels.Turn(p.keys, keys, p.n, row, stride)
	for r := 0; r < p.n; r += kernel.Lines {
		p.kernels.Scores(p.scores, queries[r*row:], p.keys, row, stride)
		p.kernels.Softmax(p.scores, p.n, stride, &p.inverse)
		p.kernels.Mix(p.mixed[r*p.width+head*kernel.Head:], p.scores, values, p.n, p.width, stride, row, &p.inverse)
	}
}

// think adds to each token what the wide middle of the layer makes of it.
func (p *pass) think(l *layer) {
	p.quantize(p.tokens)
	for r := 0; r < p.tiles; r += blockRows {
		rows := min(blockRows, p.tiles-r)
		block := kernel.Bytes{Width: p.width, Data: p.bytes.Data[r*p.width:], Scales: p.bytes.Scales[r:], Zeros: p.bytes.Zeros[r:]}
		p.kernels.Multiply(l.widen, &block, rows, kernel.Blocks{Numbers: p.middle, Block: kernel.Panel, Row: l.inner})
		p.midBytes.Width = l.inner
		for i := range rows {
			row := p.middle[i*l.inner : (i+1)*l.inner]
			p.kernels.Gelu(row)
			p.kernels.Quantize(p.midBytes, i, row)
		}
		p.kernels.Multiply(l.narrow, p.midBytes, rows, kernel.Blocks{Numbers: p.sum[r*p.width:], Block: kernel.Panel, Row: p.width})
	}
	p.add(l.layerNorm)
}

func (p *pass) quantize(rows []float32) {
	for r := range p.n {
		p.kernels.Quantize(p.bytes, r, p.row(rows, r))
	}
}

func (p *pass) add(n norm) {
	for r := range p.n {
		p.kernels.AddNorm(p.row(p.tokens, r), p.row(p.sum, r), n.gain, n.bias)
	}
}

// mean returns the direction of the mean of all tokens, or nil if it has none.
func (p *pass) mean() embed.Vector {
	v := make(embed.Vector, p.width)
	for r := range p.n {
		for i, x := range p.row(p.tokens, r) {
			v[i] += x
		}
	}
	if !embed.Normalize(v) {
		return nil
	}
	return v
}
