// SPDX-License-Identifier: Apache-2.0
/**
 * corruptApicIsr does to a guest what a fault of QEMU 10.0 does: an interrupt of a processor stays in service, so that the
 * processor gets no other of its priority. It changes the emulated local APIC (struct APICCommonState) in the memory of QEMU.
 */
import type { Guest } from "@switchyard/vm-lab";
import { open, readdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Vector of the timer in Linux (asm/irq_vectors.h). */
export const timerVector = 0xec;
/** The timer's entry in the local vector table of the APIC: periodic (Intel SDM 3A). */
const timerEntry = (1 << 17) | timerVector;

/** Distances in bytes from the timer's entry in the local vector table, which follows isr[8], tmr[8] and irr[8] of 32 bits. */
const toBase = -120;
const toNumber = -116;
const toInService = -96;

/** Throws an Error if the APIC is not found: another QEMU may store it otherwise. */
export async function corruptApicIsr(guest: Guest, processor: number, vector: number): Promise<void> {
  const pid = await qemuOf(guest);
  await using memory = await open(`/proc/${pid}/mem`, "r+");
  for (const [from, to] of heapRanges(await readFile(`/proc/${pid}/maps`, "utf8"))) {
    const bytes = Buffer.alloc(to - from);
    await memory.read(bytes, 0, bytes.length, from);
    const at = findApic(bytes, processor);
    if (at === undefined) continue;
    const word = Buffer.alloc(4);
    const place = from + at + toInService + Math.floor(vector / 32) * 4;
    await memory.read(word, 0, 4, place);
    word.writeUInt32LE((word.readUInt32LE() | (1 << (vector % 32))) >>> 0);
    await memory.write(word, 0, 4, place);
    return;
  }
  throw new Error(`QEMU ${pid} has no APIC of processor ${processor} where QEMU 10.0 has it`);
}

/** Returns the offset of the timer's entry. */
function findApic(bytes: Buffer, processor: number): number | undefined {
  const entry = Buffer.alloc(4);
  entry.writeUInt32LE(timerEntry);
  for (let at = bytes.indexOf(entry); at >= 0; at = bytes.indexOf(entry, at + 1)) {
    if (at + toBase < 0) continue;
    const isApic = bytes.readUInt32LE(at + toBase) >>> 12 === 0xfee00;
    if (isApic && bytes.readUInt32LE(at + toNumber) === processor) return at;
  }
  return undefined;
}

function heapRanges(maps: string): readonly (readonly [number, number])[] {
  return [...maps.matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw.*\[heap\]$/gm)].map(([, from = "", to = ""]) => {
    return [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const;
  });
}

/** The console and the agent's socket of a guest are in one directory, and QEMU's arguments name the socket. */
async function qemuOf({ consoleLog }: Guest): Promise<number> {
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => ""); // ended meanwhile
    if (command.includes("qemu-system") && command.includes(`${dirname(consoleLog)}/`)) return Number(name);
  }
  throw new Error(`no QEMU serves ${dirname(consoleLog)}`);
}
