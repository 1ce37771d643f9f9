package page

// Bound is bound.
var Bound = bound
