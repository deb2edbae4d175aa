// SPDX-License-Identifier: Apache-2.0
import type { Guest } from "@switchyard/vm-lab";
import type { Narrator } from "@switchyard/test-cluster";

/** Runs a command in the guest, and prints the command and its output. */
export async function runInGuest(guest: Guest, narrator: Narrator, command: string): Promise<void> {
  narrator.line("in the VM", command);
  const { stdout, stderr } = await guest.exec(command, { timeoutMs: 120_000 });
  if (stdout + stderr !== "") narrator.output(stdout + stderr);
}
