// Package collectors runs the recipes of functions/securityevents/README.md, exactly as printed there, in the
// programs that they are for: Elastic's CEL evaluator, which Filebeat and Elastic Agent use, and Bento. It is a
// separate module, because these have hundreds of dependencies.
package collectors
