/** What a project in TypeScript does with the package; checked in strict mode, its declarations too. */
import { Device, FormatError, Ledger, ReplayWords, Task, explain } from "@deniable/client";
import { deviceFor } from "@deniable/client/load";

export async function answered(bytes: Uint8Array, id: string, value: string): Promise<number> {
  const task = Task.load(bytes, { expect: id });
  const ledger = new Ledger("answers", { collector: 2, places: 1 });
  const question = await ledger.question(task);
  const receipt = await ledger.take(task, { url: "http://127.0.0.1:1" });
  await ledger.answer(task, value);
  const days: number = task.days;
  const texts: readonly string[] = task.questions.map((each) => each.text);
  return days + texts.length + receipt.cost + question.text.length;
}

export async function reported(design: Record<string, unknown>): Promise<Uint8Array> {
  const device = await deviceFor(design, { harmless: ["none"] });
  const text: string = `${explain(design)}`;
  try {
    return new Device(design, { standIn: text }).report(1, { words: new ReplayWords([0n]) });
  } catch (error) {
    if (error instanceof FormatError) return device.report(1);
    throw error;
  }
}
