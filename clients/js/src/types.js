/** Types that modules share. Only the checker of types reads this file: no module loads it. */

/** @import { Ratio } from "./exact.js" */
/** @import { Explanation } from "./explain.js" */

/** @typedef {{bits: number, word(): bigint}} Words where random words come from; `bits` is their size */
/** @typedef {[number, number]} Span a half-open range of answers' numbers */

/**
 * How values are read: `index` gives the number of a value's answer, or throws a `ParameterError`. In an interval `border`
 * says where the numbers of an answer begin, for one answer more than there are where the last end, and `span` which answers
 * a pair of borders has.
 * @typedef {{
 *   answers: number, index: (value: unknown) => any, labels?: string[], missing?: string, other?: string,
 *   options?: string[], border?: (i: number) => number, span?: (pair: unknown) => Span,
 * }} Domain
 */

/** @typedef {"again" | "arc" | "attach" | "circle" | "coin" | "flip" | "g" | "grid" | "j" | "k" | "keep" | "keys" | "length" | "m" | "marks"} Few */
/** @typedef {"level_bottom" | "level_top" | "options" | "other" | "outputs" | "own" | "plain" | "prime" | "q" | "reach" | "ring" | "size" | "ticks" | "zero"} More */
/** @typedef {Record<"least" | "most" | "places" | "values", bigint[]> & Record<"neighbours" | "rows" | "weights", bigint[][]>} Tables */
/** @typedef {Record<Few | More | "shift" | "slope" | "tie", bigint> & Tables} Wholes */
/** @typedef {"chances" | "codes" | "flips" | "keeps" | "sensitive" | "shares" | "shape" | "shifts" | "sizes" | "starts" | "told" | "widths"} Several */
/** @typedef {Record<Several, bigint[]> & Record<"data" | "level" | "parts", any[]>} Lists */
/** @typedef {Wholes & Lists & Record<"base" | "bit" | "first" | "second" | "window", any> & {budgets: number[][]}} Parts a kernel's fields */

/** @typedef {Record<string, any>} Shapes kinds of kernels that may stand somewhere, with the shapes of their fields */
/** @typedef {{kernel: Shapes, params: Record<string, string>}} Form kernels, and how parameters are checked; `?`: optional */

/**
 * How a parameter is checked, with the words of its rule: what it must be, empty if it is that.
 * @typedef {(value: any, words: string[], kernel: any, design: any) => string} Check
 */

/** @typedef {(steps: number) => void} Charge is told how many steps come next, and may refuse */

/**
 * A design that has the shape that it should have: nothing more is known of its numbers. One that is made of others has them as
 * `parts`, is `proved` by proving these, and is `agreed` to if each of them is.
 * @typedef {{
 *   name: string, epsilon: number, domain: Domain, params: Record<string, any>, kernel: any,
 *   parts?: any[], agreed?: (check: (part: Design, harmless: any) => void, harmless: any) => void,
 *   proved?: (prove: (part: Design, charge?: Charge) => Proved, charge?: Charge) => Proved,
 * }} Design
 */

/** @typedef {Design & {ratio: Ratio}} Proved a design that keeps its promises, and so do its parts; with its exact ratio */

/**
 * How designs are read that are made of others, and split into these: `PrivacyError` if one promises more than `most`, or a part
 * more than the whole.
 * @typedef {{read: (given: any) => Design, split: (given: any, most?: number) => {parts: any[], shares: number[]}}} Composed
 */

/** @typedef {{words?: Words, coin?: bigint | number, level?: number}} Drawing how a report is drawn */
/** @typedef {number | [number, number][] | any[]} Answer the number of an answer, pairs (key, steps), or one of these for each part */
/** @typedef {{harmless?: Iterable<unknown> | null, standIn?: unknown}} Options of a device */
/** @typedef {{explanation: (design: Proved) => Explanation, ofParts: (design: Proved, parts: Explanation[]) => Explanation}} Told */

/**
 * What is known of characters: what is wrong with a text, what it looks like, how messages show it, and which of its characters
 * have no place where they stand.
 * @typedef {{
 *   fault: (text: string, prose?: boolean) => string, skeleton: (text: string) => string, shown: (text: string) => string,
 *   strays?: (line: string) => boolean[],
 * }} Alphabet
 */

export {};
