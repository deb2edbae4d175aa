// SPDX-License-Identifier: Apache-2.0
/**
 * The memory in which the worker of a fuzz run puts each input before it runs it. So the input is known if the worker hangs or runs out of
 * memory.
 */

/** Number of inputs so far, and length of the current one. */
const headerWords = 2;
const largest = 4 * 1024 * 1024;

export function createSharedInput(): SharedArrayBuffer {
  return new SharedArrayBuffer(headerWords * 4 + largest);
}

export function writeInput(shared: SharedArrayBuffer, input: Buffer): void {
  const header = new Int32Array(shared, 0, headerWords);
  const kept = input.subarray(0, largest);
  new Uint8Array(shared, headerWords * 4).set(kept);
  header[1] = kept.length;
  Atomics.add(header, 0, 1);
}

/** Number of inputs so far. It does not change while one input runs. */
export function countInputs(shared: SharedArrayBuffer): number {
  return Atomics.load(new Int32Array(shared, 0, headerWords), 0);
}

export function readInput(shared: SharedArrayBuffer): Buffer {
  const length = Atomics.load(new Int32Array(shared, 0, headerWords), 1);
  return Buffer.from(new Uint8Array(shared, headerWords * 4, length));
}
