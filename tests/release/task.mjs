// Node, an empty project, the package from npm: take a task up, answer it, look at what will be sent.
import { readFileSync } from "node:fs";
import { Ledger, Task } from "@deniable/client";

const task = Task.load(readFileSync("task.json"));
const ledger = new Ledger("ledger.json", { clock: () => Date.parse("2026-11-20T12:00:00Z") });
const receipt = await ledger.answer(task, "yes");
const book = await ledger.export();
console.log(JSON.stringify({ id: task.id, cost: receipt.cost, answered: receipt.answered, waits: JSON.stringify(book).length > 0 }));
