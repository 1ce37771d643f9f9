// Package collectors runs the recipes of functions/securityevents/README.md, as
// they are printed there, in the programs they are written for: Elastic's CEL
// evaluator, which is that of Filebeat and of Elastic Agent, and Bento. It is a
// module of its own, because these bring hundreds of others.
package collectors
