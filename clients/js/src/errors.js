/** All errors that this package throws on purpose: each names what was given, what is allowed and what to do. */

/** Base of all; `kind` is an error's name in every client, `hint` says what to do about it. */
export class DeniableError extends Error {
  kind = "DeniableError";

  /** @param {string} message @param {any} [options] */
  constructor(message, hint = "", options) {
    super(message, options);
    this.hint = hint;
  }

  get name() {
    return this.kind;
  }

  toString() {
    return `${this.kind}: ${this.message} ${this.hint}`.trimEnd();
  }
}

/** A parameter or a value is not one that is allowed. */
export class ParameterError extends DeniableError {
  kind = "ParameterError";
}

/** Bytes, a file or a document are not what they should be. */
export class FormatError extends DeniableError {
  kind = "FormatError";
}

/** A design leaks more than it promises, or cannot be sampled exactly. */
export class PrivacyError extends DeniableError {
  kind = "PrivacyError";
}

/** The system gave no randomness; nothing is reported then. */
export class EntropyError extends DeniableError {
  kind = "EntropyError";
}

/** Throws a `ParameterError` unless `ok`. @param {boolean} ok @param {string} name @param {unknown} got @param {string} need */
export function require(ok, name, got, need, hint = "") {
  if (!ok) throw new ParameterError(`${name} must be ${need}, got ${show(got)}.`, hint);
}

/** A value for a message, cut where it is long. @param {unknown} got */
export function show(got, limit = 80) {
  if (typeof got === "string") got = got.slice(0, limit);
  let text = "";
  try {
    text = JSON.stringify(got, (_, part) => (typeof part === "bigint" ? `${part}` : part)) ?? String(got);
  } catch {
    return `a value of type ${typeof got}`;
  }
  return text.length <= limit ? text : text.slice(0, limit - 3) + "...";
}
