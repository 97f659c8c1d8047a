/** Errors of tasks and of the ledger that answers them. */
import { DeniableError } from "./errors.js";

/** A task is not open, has expired, or was answered in this window already. */
export class WindowError extends DeniableError {
  kind = "WindowError";
}

/** An answer would cost more than a budget has left. */
export class BudgetError extends DeniableError {
  kind = "BudgetError";
}

/** What a device spends cannot be written down or read; nothing is reported then. */
export class LedgerError extends DeniableError {
  kind = "LedgerError";
}
