/**
 * Names of values that several modules share. Nothing here runs.
 *
 * @typedef {[number, number]} Point x to the right, y downwards, in units of the page
 * @typedef {Point[]} Stroke
 * @typedef {[number, number, number, number]} Box x, y, width, height
 * @typedef {{path: Point[], radius: number}} Eraser
 * @typedef {{boxes: Box[], erasers: Eraser[]}} Region what was erased
 * @typedef {{strokes: Stroke[], region: Region}} Drawing
 * @typedef {{number: number, strokes: Stroke[], first_new: number, provisional: boolean}} Drawn a drawing of the model
 * @typedef {{centre: Point, box: Box, cluster: number | null, alike: {strokes: Stroke[], box: Box, cosine: number}[]}} Patch
 * @typedef {{patches: Patch[], links: [number, number, number][], cosines: number[][]}} Graph
 * @typedef {{name: string, distance: number, strokes: Stroke[]}} Found
 */
export {};
