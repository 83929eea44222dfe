/*
 * Stands in for all of D3's scales where the charts look one up by its name: ours have numbers along one axis, and
 * numbers or named places along the other. The scales of times and colours would come along unused.
 */
// biome-ignore lint/performance/noBarrelFile: it is what it is for.
export { scaleBand, scaleLinear, scalePoint } from 'd3-scale';
