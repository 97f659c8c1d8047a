/**
 * Amounts of epsilon, as exact as they are written in decimals.
 *
 * @module
 */

/** Amounts are whole multiples of 10**-UNITS. */
const UNITS = 30;

/**
 * A number as it is written in decimals, in units of 10**-UNITS: sums of them are exact.
 *
 * @param {number} epsilon
 * @returns {bigint}
 */
export function amountOf(epsilon) {
  const [digits, power = "0"] = String(epsilon).split("e");
  const [whole, part = ""] = digits.split(".");
  const shift = UNITS + Number(power) - part.length;
  return shift >= 0 ? BigInt(whole + part) * 10n ** BigInt(shift) : BigInt(whole + part) / 10n ** BigInt(-shift);
}

/**
 * The amount as people read it, with all its decimals.
 *
 * @param {bigint} amount
 * @returns {string}
 */
export function amountText(amount) {
  const digits = amount.toString().padStart(UNITS + 1, "0");
  return `${digits.slice(0, -UNITS)}.${digits.slice(-UNITS)}`.replace(/\.?0+$/, "");
}
