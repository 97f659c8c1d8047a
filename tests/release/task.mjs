// Node, an empty project, the package from npm: take a task up, answer it, and send the report to a stand-in collector.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Ledger, Task } from "@deniable/client";

const got = [];
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (part) => (text += part));
  request.on("end", () => {
    got.push(...JSON.parse(text).reports);
    response.end(JSON.stringify({ results: [{ id: got[0].id, status: "accepted" }] }));
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}`;

const task = Task.load(readFileSync("task.json"));
const ledger = new Ledger("ledger.json", { clock: () => Date.parse("2026-11-20T12:00:00Z") });
const receipt = await ledger.answer(task, "yes", { url });
const { sent } = await ledger.flush();
console.log(JSON.stringify({ id: task.id, cost: receipt.cost, answered: receipt.answered, sent, got }));
server.close();
