// Program kernels writes the assembly of the packages that compute with vectors. `go generate` runs it there.
package main

import (
	"flag"
	"log"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	of := flag.String("of", "", "what to write: embed, vectors, or neon for the kernels of embed for arm64")
	neon := flag.String("neon", "", "file to write for arm64")
	flag.Parse()
	if *of == "neon" {
		if err := writeNeon(*neon); err != nil {
			log.Fatal(err)
		}
		return
	}
	ConstraintExpr("amd64")
	switch *of {
	case "embed":
		multiplyVNNI()
		multiplyAVX2()
		for _, w := range []width{wide, narrow} {
			bounds(w)
			quantize(w)
			gelu(w)
			addNorm(w)
			turn(w)
			scores(w)
			softmax(w)
			mix(w)
		}
	case "vectors":
		dot()
		hamming()
	default:
		log.Fatal("-of must be embed, neon or vectors")
	}
	Generate()
}
